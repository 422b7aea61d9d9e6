"""How does what someone said become chunks?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from quire.core import hashing
from quire.core.types import Chunk, Record
from quire.errors import InputError

Cut = Callable[[str], Sequence[str]]
"""Cuts a long text into pieces which, joined, are the text again."""

TITLE_LENGTH = 80
LONGEST = 65_536


def chunks(
    record: Record, parts: Iterable[tuple[str, str]], cut: Cut, title: str = ""
) -> tuple[Chunk, ...]:
    """Make the chunks of a record from texts, each with the kind of its chunks."""
    made: list[Chunk] = []
    offset = 0
    for kind, text in parts:
        for piece in cut(text):
            length = len(piece.encode("utf-8", "surrogatepass"))
            made.append(
                Chunk(
                    id=hashing.chunk_id(record.id, len(made), piece),
                    record_id=record.id,
                    kind=kind,
                    path=record.path,
                    title=title,
                    sequence=len(made),
                    start=offset,
                    end=offset + length,
                    lines=(0, 0),
                    text=piece,
                )
            )
            offset += length
    return tuple(made)


def first_words(text: str) -> str:
    """Give the beginning of a text on one line, for a list of many."""
    line = " ".join(text.split())
    if len(line) <= TITLE_LENGTH:
        return line
    return line[: TITLE_LENGTH - 1].rpartition(" ")[0].rstrip() + "…"


def said(what: str, text: str) -> str:
    """Take a text without the white space around it; refuse none at all, and a whole book."""
    text = text.strip()
    if not text:
        raise InputError(f"the {what} is empty: say something")
    return bounded(what, text)


def bounded(what: str, text: str) -> str:
    """Take a text, if it is not as long as a book."""
    if len(text) > LONGEST:
        raise InputError(
            f"the {what} has {len(text)} characters, more than {LONGEST}: "
            "write it to a file and index that"
        )
    return text
