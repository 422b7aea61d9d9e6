"""What does a block say to someone who reads it alone?

A task shows whether it is done, and what has properties (when it is due, whose it is) states them
below its text: so they are found by words and by meaning, and read where they belong.
"""

from __future__ import annotations

from quire.core import chunking
from quire.core.types.blocks import PAGES, Block, Property

STATED = (*PAGES, "todo", "kanban_card")
"""The types whose properties are part of what they say; those of others tell how they look."""
DONE = "done"


def around(block: Block) -> tuple[str, str]:
    """Give what is said before a block's text, and behind it."""
    before = ""
    if block.type == "todo":
        before = "[x] " if block.properties.get(DONE) is True else "[ ] "
    if block.type not in STATED:
        return before, ""
    stated = [
        f"{_name(key)}: {_value(value)}"
        for key, value in sorted(block.properties.items())
        if not (key == DONE and before) and value not in ("", ())
    ]
    gap = "\n" if stated and (before or block.text) else ""
    return before, gap + "\n".join(stated)


def title(block: Block) -> str:
    """Give the title of a page; of anything else its first words."""
    if block.type in PAGES:
        return " ".join(block.text.split())
    return chunking.first_words(block.text)


def _name(key: str) -> str:
    spaced = key.replace("_", " ")
    return spaced[:1].upper() + spaced[1:]


def _value(value: Property) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
