"""Names of sources, as a person would say them.

A file is named by its path, and a block that was imported by its file and line. A commit, a memory,
an experience, a value or any other block is stored under a path that is made of ids: a reader is
told what it is instead. Receipts keep the path, JSON has both.
"""

from __future__ import annotations

import re

from quire.core.types import BLOCK_PREFIX, Candidate, Record, format_time
from quire.core.types.blocks import PAGES
from quire.core.types.records import LINE, shown_file
from quire.rendering.escape import escape_name

VIRTUAL_PATHS = (".git/", ".quire/")
"""Prefixes of the paths of records that are not files of the project: commits, memories."""
MAX_NAME_LENGTH = 60
SHORT_SHA = 7
_VIRTUAL_NAME = re.compile(
    r"commit(?= [0-9a-f]{7})|(?:memory|value)(?= \()|(?:experience|page|db|db row)(?=: )"
    r"|[a-z ]+(?= block\b)"
)
"""The beginning of a name of something that is not a file."""


def is_virtual(path: str) -> bool:
    """Tell whether a path names a record that is not a file of the project."""
    return path.startswith(VIRTUAL_PATHS)


def source_name(candidate: Candidate) -> str:
    """Return the name of the document that a candidate is a part of.

    It says what the document is, and is not escaped: `docs/guide.md`, `experience: Walrus import
    fails`, `commit 2881d93, David Lord, 2020-05-12 14:03`, `memory (decision), 2026-01-05`.
    """
    chunk, record = candidate.chunk, candidate.record
    if not is_virtual(chunk.path):
        return chunk.path
    kind = (chunk.kind if record is None else record.kind).partition(".")[0]
    if kind == "commit":
        return _commit_name(chunk.path, record)
    if kind == "memory" and record is not None:
        category = record.attrs.get("category", "fact")
        return ", ".join(filter(None, (f"memory ({category})", day_of(record))))
    if kind == "value" and record is not None:
        size = record.attrs.get("size", 0)
        return f"value ({record.attrs.get('axis', 'full')}) from {size} experiences"
    if chunk.kind.startswith(BLOCK_PREFIX):
        return _block_name(candidate)
    title = "" if record is None else record.title
    return f"{kind}: {title or first_words(chunk.title or chunk.text)}"


def imported_from(record: Record | None, *, with_line: bool = True) -> str:
    """Return the file that a block was imported from, with its line; empty if it was not."""
    if record is None or not record.kind.startswith(BLOCK_PREFIX):
        return ""
    file, line = shown_file(record.attrs), record.attrs.get(LINE, 0)
    return f"{file}:{line}" if file and line and with_line else file


def shown_name(candidate: Candidate, brackets: str = "") -> str:
    """Return the name of a candidate's document, escaped: no file passes for what is none."""
    name = source_name(candidate)
    is_file = not is_virtual(candidate.chunk.path) or bool(imported_from(candidate.record))
    looks_virtual = _VIRTUAL_NAME.match(name) if is_file else None
    return escape_name(name, brackets, () if looks_virtual is None else (looks_virtual.end(),))


def day_of(record: Record) -> str:
    """Return the day on which a record was made or changed; empty if it is unknown."""
    return (format_time(record.modified) or "").partition("T")[0]


def minute_of(record: Record) -> str:
    """Return the day and the minute likewise, in UTC."""
    return (format_time(record.modified) or "")[: len("2020-05-12T14:03")].replace("T", " ")


def first_words(text: str) -> str:
    """Return the beginning of a text on one line, to be a name."""
    words = " ".join(text.split())
    if len(words) <= MAX_NAME_LENGTH:
        return words
    return words[: MAX_NAME_LENGTH - 1].rpartition(" ")[0].rstrip() + "…"


def _commit_name(path: str, record: Record | None) -> str:
    sha = path.rpartition("/")[2]
    author = "" if record is None else record.author or ""
    minute = "" if record is None else minute_of(record)
    return ", ".join(filter(None, (f"commit {sha[:SHORT_SHA]}", author, minute)))


def _block_name(candidate: Candidate) -> str:
    chunk = candidate.chunk
    file = imported_from(candidate.record)
    if file:
        return file
    kind = chunk.kind.removeprefix(BLOCK_PREFIX)
    name = kind.replace("_", " ")
    if kind in PAGES:
        return f"{name}: {first_words(chunk.text.partition(chr(10))[0])}"
    return f"{name} block on {chunk.title}" if chunk.title else f"{name} block"
