"""Prose: what of a text its name says already, and which texts are prose at all."""

from __future__ import annotations

import re

from quire.core.headings import without_id
from quire.core.types import BLOCK_PREFIX, Candidate, category_of
from quire.core.types.blocks import PAGES
from quire.rendering.fenced import NOTEBOOK
from quire.rendering.names import is_virtual

DATA_LANGUAGES = frozenset(
    ("csv", "diff", "gherkin", "ignore", "ini", "json", "log", "toml", "xml", "yaml")
)
"""The languages of documents whose lines mean something: they are shown as code is."""
NAMELESS_KINDS = ("memory", "value")
"""Kinds of records without a name: what they are called are their first words."""
_WORD = re.compile(r"\w+")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1*[ \t]*")
_DIRECTIVE = re.compile(r"\s*\Z|\.\. |[ \t]+:")
"""A line that may stand above the title of a reStructuredText file."""


def is_prose(candidate: Candidate) -> bool:
    """Tell whether a candidate is a text that people write, and not code or data."""
    record = candidate.record
    language = "" if record is None else str(record.attrs.get("language", ""))
    is_code = "code" in {category_of(candidate), candidate.chunk.kind.removeprefix(BLOCK_PREFIX)}
    return not (candidate.language or is_code or language in {NOTEBOOK, *DATA_LANGUAGES})


def has_own_name(candidate: Candidate) -> bool:
    """Tell whether the name of a candidate is more than the first words of its text."""
    if not is_virtual(candidate.chunk.path):
        return True
    kind = candidate.chunk.kind
    if kind.startswith(BLOCK_PREFIX):
        return kind.removeprefix(BLOCK_PREFIX) in PAGES
    return kind.partition(".")[0] not in NAMELESS_KINDS


def without_title(text: str, title: str) -> str:
    """Return a text without the heading at its top, if that is its title."""
    lines = text.split("\n")
    at = next((n for n, line in enumerate(lines) if not _DIRECTIVE.match(line)), 0)
    words = _WORD.findall(without_id(lines[at]))
    if not words or words != _WORD.findall(title):
        return text
    end = at + 1
    is_underlined = end < len(lines) and _UNDERLINE.fullmatch(lines[end]) is not None
    if at and not is_underlined:
        return text
    above = "\n".join(lines[:at]).rstrip("\n")
    below = "\n".join(lines[end + is_underlined :]).lstrip("\n")
    return f"{above}\n\n{below}" if above else below
