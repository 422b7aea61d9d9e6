"""The text of a block as it is searched and shown.

A task shows whether it is done, and blocks with properties (a due date, an assignee) list them
below their text: so properties are searchable, and are read where they belong.
"""

from __future__ import annotations

from quire.core import chunking
from quire.core.types.blocks import PAGES, Block, Property

TYPES_WITH_PROPERTIES = (*PAGES, "todo", "kanban_card")
"""The types whose properties are part of their text; those of other types are about layout."""
DONE = "done"


def affixes(block: Block) -> tuple[str, str]:
    """Return what precedes and what follows a block's text."""
    before = ""
    if block.type == "todo":
        before = "[x] " if block.properties.get(DONE) is True else "[ ] "
    if block.type not in TYPES_WITH_PROPERTIES:
        return before, ""
    lines = [
        f"{_label(key)}: {_format(value)}"
        for key, value in sorted(block.properties.items())
        if not (key == DONE and before) and value not in ("", ())
    ]
    gap = "\n" if lines and (before or block.text) else ""
    return before, gap + "\n".join(lines)


def title_of(block: Block) -> str:
    """Return the title of a page; of another block its first words."""
    if block.type in PAGES:
        return " ".join(block.text.split())
    return chunking.first_words(block.text)


def _label(key: str) -> str:
    spaced = key.replace("_", " ")
    return spaced[:1].upper() + spaced[1:]


def _format(value: Property) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
