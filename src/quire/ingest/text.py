"""What is in a plain text?"""

from __future__ import annotations

import re

from quire.core.types import IngestSettings
from quire.ingest import heading_splitter, prose_splitter, sections
from quire.ingest.line_splitter import cut_lines
from quire.ingest.types import Piece, Reading, Source, one_line, without_blank_pieces

ITEM = r"[ \t]*(?:[-*+•|]|\d{1,3}[.)])[ \t]"
LISTED = re.compile(rf"{ITEM}[^\n]*\n(?:[^\n]*\n)*?{ITEM}")
"""A list or a table: a line that begins like an item of one, and another."""


def read(source: Source, settings: IngestSettings) -> Reading:
    """Cut a plain text between its paragraphs."""
    text = source.text
    spans = list(prose_splitter.paragraphs(text, 0, len(text)))
    blocks = [
        heading_splitter.Block(
            start, by_lines=len(spans) > 1 and bool(LISTED.match(text, start, end))
        )
        for start, end in spans
    ]
    described = sections.about(source.path, text, blocks, one_line)
    return Reading(
        text,
        tuple(heading_splitter.cut(text, blocks, settings)),
        summary=described.summary,
        parts=described.parts,
    )


def cut(text: str, settings: IngestSettings) -> list[str]:
    """Cut a text that stands in no file as a plain text is cut; joined, they are the text again."""
    reading = read(Source(text, b"", ""), settings)
    pieces = without_blank_pieces(text, reading.pieces)
    return [text[piece.start : piece.end] for piece in pieces]


def read_lines(source: Source, settings: IngestSettings) -> Reading:
    """Cut a file of data or settings at the ends of its lines."""
    text = source.text
    if len(text) <= settings.whole:
        return Reading(text, (Piece(0, len(text)),))
    spans = cut_lines(text, 0, len(text), settings.target)
    return Reading(text, tuple(Piece(*span) for span in spans))
