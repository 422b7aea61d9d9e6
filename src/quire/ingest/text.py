"""What is in a plain text?"""

from __future__ import annotations

import re

from quire.core.types import IngestSettings
from quire.ingest import heading_splitter, prose_splitter, sections
from quire.ingest.line_splitter import split_lines
from quire.ingest.types import (
    ChunkSpan,
    ParsedFile,
    SourceFile,
    collapse_whitespace,
    merge_blank_spans,
)

ITEM = r"[ \t]*(?:[-*+•|]|\d{1,3}[.)])[ \t]"
LISTED = re.compile(rf"{ITEM}[^\n]*\n(?:[^\n]*\n)*?{ITEM}")
"""A list or a table: a line that begins like an item of one, and another."""


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Cut a plain text between its paragraphs."""
    text = source.text
    spans = list(prose_splitter.paragraphs(text, 0, len(text)))
    blocks = [
        heading_splitter.TextBlock(
            start, line_based=len(spans) > 1 and bool(LISTED.match(text, start, end))
        )
        for start, end in spans
    ]
    described = sections.about(source.path, text, blocks, collapse_whitespace)
    return ParsedFile(
        text,
        tuple(heading_splitter.split(text, blocks, settings)),
        summary=described.summary,
        entities=described.entities,
    )


def split_plain_text(text: str, settings: IngestSettings) -> list[str]:
    """Cut a text that stands in no file as a plain text is cut; joined, they are the text again."""
    reading = read(SourceFile(text, b"", ""), settings)
    pieces = merge_blank_spans(text, reading.spans)
    return [text[piece.start : piece.end] for piece in pieces]


def read_lines(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Cut a file of data or settings at the ends of its lines."""
    text = source.text
    if len(text) <= settings.whole:
        return ParsedFile(text, (ChunkSpan(0, len(text)),))
    spans = split_lines(text, 0, len(text), settings.target)
    return ParsedFile(text, tuple(ChunkSpan(*span) for span in spans))
