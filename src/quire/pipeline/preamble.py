"""What precedes the definitions of a file of code: a licence, a docstring, imports."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quire.core.comments import COMMENT
from quire.core.types import Chunk

_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|#\s*include\b|use\s|using\s|package\s|require\b"
    r"|(?:const|let|var)\s.*=\s*require\(|if\s+(?:\w+\.)?TYPE_CHECKING\s*:|__future__"
    r"|__all__\b|(['\"])use [a-z]++\1[ \t]*+;?[ \t]*+$|export\s*+[*{]"
    r"|(?:module\.|exports\s*+=\s*+module\.)?exports(?:\.[\w$]++)?\s*+="
    r"\s*+(?:require\([^)]*+\)(?:\.[\w$]++)*+|[\w$]++(?:\.[\w$]++)*+)\s*+;?\s*+$)"
)
"""A line that is an import or a name to export, or a directive such as 'use strict'."""
_ATTRIBUTE = re.compile(r"\s*#\[.*\]\s*$")
"""An attribute of Rust on one line, which an import below it may have."""
_FILE_COMMENT = re.compile(
    r"\s*(?:#!(?!\[)|//!|/\*!)|.*(?:copyright|licensed under|spdx-|all rights reserved)",
    re.IGNORECASE,
)
"""A comment that is about a file, even directly above a definition."""
_DOCSTRING = re.compile(r"\s*[rRuU]?(\"\"\"|''').*?\1[ \t]*;?", re.DOTALL)
_OPEN, _CLOSE = re.compile(r"[(\[{]"), re.compile(r"[)\]}]")


def is_preamble(chunk: Chunk) -> bool:
    """Tell whether a chunk of code holds nothing but imports and names to export.

    So does one with a licence above them; a docstring, and a comment further down, say something.
    """
    lines = chunk.text.split("\n")
    number = _skip_imports(lines)[1] if chunk.start else _skip_imports(lines)[0]
    return not any(line.strip() for line in lines[number:])


def find_docstring(chunk: Chunk) -> tuple[str, int] | None:
    """Return the docstring at the top of a file, without a licence above it, and its line."""
    doc = _DOCSTRING.match(_blank_comments(chunk.text)) if chunk.start == 0 else None
    if doc is None:
        return None
    above = len(doc[0]) - len(doc[0].lstrip())
    line = chunk.lines[0] + chunk.text.count("\n", 0, above) if chunk.lines[0] else 0
    return doc[0].strip(), line


def without_preamble(chunk: Chunk) -> tuple[str, int]:
    """Return a chunk's text without licence, docstring and imports at its top, and its line.

    A comment belongs to what follows it, unless that are imports. At the top of a file it does if
    it stands directly above it, and is not about the file.
    """
    text, at = chunk.text, 0
    if chunk.start == 0 and (doc := _DOCSTRING.match(_blank_comments(text))):
        at = doc.end()
    lines = text[at:].split("\n")
    number, after = _skip_imports(lines)
    if number < len(lines):
        has_imports = any(_IMPORT.match(line) for line in lines[:after])
        number = after if chunk.start or at or has_imports else _own_comments(lines, number)
    rest = "\n".join(lines[number:]).strip("\n")
    first = chunk.lines[0] + text.count("\n", 0, at) + number if chunk.lines[0] else 0
    return rest, first if rest else chunk.lines[0]


def _skip_imports(lines: Sequence[str]) -> tuple[int, int]:
    """Return how many first lines are comments and imports, and where the last import ends."""
    number = after = 0
    while number < len(lines):
        line = lines[number]
        is_import = _is_import(lines, number)
        if line.strip() and not COMMENT.match(line) and not is_import:
            break
        depth = _depth(line) if is_import else 0
        while depth > 0 and number + 1 < len(lines):
            number += 1
            depth += _depth(lines[number])
        number += 1
        if is_import or (not line.strip() and after == number - 1):
            after = number
    return number, after


def _is_import(lines: Sequence[str], number: int) -> bool:
    """Tell whether a line begins an import, or is an attribute of one."""
    while number + 1 < len(lines) and _ATTRIBUTE.match(lines[number]):
        number += 1
    return _IMPORT.match(lines[number]) is not None


def _own_comments(lines: Sequence[str], number: int) -> int:
    """Return where the comments begin that stand directly above a line and belong to it."""
    start = number
    while start and COMMENT.match(lines[start - 1]):
        start -= 1
    return number if any(map(_FILE_COMMENT.match, lines[start:number])) else start


def _blank_comments(text: str) -> str:
    """Replace comments at the top of a text by blanks, so that offsets stay."""
    position = 0
    for line in text.split("\n"):
        if line.strip() and not COMMENT.match(line):
            break
        position += len(line) + 1
    return re.sub(r"[^\n]", " ", text[:position]) + text[position:]


def _depth(line: str) -> int:
    return len(_OPEN.findall(line)) - len(_CLOSE.findall(line))
