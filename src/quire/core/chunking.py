"""Chunks of texts that people write: memories, experiences, blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from quire.core import hashing
from quire.core.types import Chunk, Record
from quire.errors import InputError

Cut = Callable[[str], Sequence[str]]
"""Splits a long text into pieces that, joined, are the text again."""

TITLE_LENGTH = 80
MAX_LENGTH = 65_536
"""Number of characters that a text may have."""


def make_chunks(
    record: Record, parts: Iterable[tuple[str, str]], cut: Cut, title: str = ""
) -> tuple[Chunk, ...]:
    """Return the chunks of a record, made from texts that each have a kind."""
    chunks: list[Chunk] = []
    offset = 0
    for kind, text in parts:
        for piece in cut(text):
            length = len(piece.encode("utf-8", "surrogatepass"))
            chunks.append(
                Chunk(
                    id=hashing.chunk_id(record.id, len(chunks), piece),
                    record_id=record.id,
                    kind=kind,
                    path=record.path,
                    title=title,
                    sequence=len(chunks),
                    start=offset,
                    end=offset + length,
                    lines=(0, 0),
                    text=piece,
                )
            )
            offset += length
    return tuple(chunks)


def first_words(text: str) -> str:
    """Return the beginning of a text on one line, to be shown in a list."""
    line = " ".join(text.split())
    if len(line) <= TITLE_LENGTH:
        return line
    return line[: TITLE_LENGTH - 1].rpartition(" ")[0].rstrip() + "…"


def require_text(field: str, text: str) -> str:
    """Return a text without surrounding white space; refuse one that is empty or too long."""
    text = text.strip()
    if not text:
        raise InputError("must not be empty", field=field, value=text)
    return check_length(field, text)


def check_length(field: str, text: str) -> str:
    """Return a text; refuse one that is too long."""
    if len(text) > MAX_LENGTH:
        raise InputError(
            f"must have at most {MAX_LENGTH} characters, not {len(text)}",
            field=field,
            hint="write it to a file and index that",
        )
    return text
