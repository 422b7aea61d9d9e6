"""Reader for SVG pictures: their words, not their shapes.

A logo is hundreds of kilobytes of coordinates. What can be searched for and read is its title, its
description and its labels; each becomes a line. A picture without words is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from quire.core.types import IngestSettings
from quire.ingest.text import split_extracted_lines
from quire.ingest.types import ParsedFile, SourceFile, UnreadableFile, collapse_whitespace

_ELEMENTS = ("title", "desc", "text", "foreignobject")
_OPENING = re.compile(
    rf"<!--.*?(?:-->|\Z)|<(?:[\w-]{{1,40}}:)?({'|'.join(_ELEMENTS)})\b[^<>]*+(?<!/)>",
    re.DOTALL | re.IGNORECASE,
)
"""A comment, or the opening of an element that holds words, with or without a namespace."""
_CLOSING = {
    name: re.compile(rf"</(?:[\w-]{{1,40}}:)?{name}\b", re.IGNORECASE) for name in _ELEMENTS
}
_KERNED = re.compile(
    r"</?tspan\b(?![^<>]*\sdy=)(?![^<>]*\sy=[\"'](?!0[\"']))[^<>]*>", re.IGNORECASE
)
"""A span on the same line as the one before it: programs place the letters of a word one by one."""
_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|<!\[CDATA\[|\]\]>|<[^<>]*+>", re.DOTALL)
NO_WORDS = "a picture without words: it has no title, desc or text element"


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Extract the title, the description and the labels of a picture, each as a line."""
    lines: list[tuple[str, int]] = []
    title = ""
    line, counted = 1, 0
    for start, element, words in _elements(source.text):
        line += source.text.count("\n", counted, start)
        counted = start
        if element == "title" and not title:
            title = words
        if not lines or lines[-1][0] != words:
            lines.append((words, line))
    if not lines:
        raise UnreadableFile(NO_WORDS)
    return split_extracted_lines(lines, settings, title)


def _elements(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield where an element with words begins, what it is and its words."""
    unclosed: set[str] = set()
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        at = opening.end()
        name = (opening[1] or "").lower()
        if not name or name in unclosed:
            continue
        closing = _CLOSING[name].search(text, at)
        if closing is None:
            # Nothing says where its words end; and no later one is closed either.
            unclosed.add(name)
            continue
        inner = _KERNED.sub("", text[at : closing.start()])
        words = collapse_whitespace(unescape(_MARKUP.sub(" ", inner)))
        at = closing.end()
        if words:
            yield opening.start(), name, words
