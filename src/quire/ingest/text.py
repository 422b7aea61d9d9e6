"""Readers for plain text, and for data and settings files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

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
LIST_OR_TABLE = re.compile(rf"{ITEM}[^\n]*\n(?:[^\n]*\n)*?{ITEM}")
"""Two lines that begin like list items or table rows."""


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Split plain text between its paragraphs."""
    text = source.text
    spans = list(prose_splitter.iter_paragraphs(text, 0, len(text)))
    blocks = [
        heading_splitter.TextBlock(
            start, line_based=len(spans) > 1 and bool(LIST_OR_TABLE.match(text, start, end))
        )
        for start, end in spans
    ]
    structure = sections.analyze(source.path, text, blocks, collapse_whitespace)
    return ParsedFile(
        text,
        tuple(heading_splitter.split(text, blocks, settings)),
        summary=structure.summary,
        entities=structure.entities,
    )


def split_plain_text(text: str, settings: IngestSettings) -> list[str]:
    """Split a text that is not from a file; the parts concatenate to the text."""
    parsed = read(SourceFile(text, b"", ""), settings)
    spans = merge_blank_spans(text, parsed.spans)
    return [text[span.start : span.end] for span in spans]


def read_lines(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Split a data or settings file between its lines."""
    text = source.text
    if len(text) <= settings.whole:
        return ParsedFile(text, (ChunkSpan(0, len(text)),))
    spans = split_lines(text, 0, len(text), settings.target)
    return ParsedFile(text, tuple(ChunkSpan(*span) for span in spans))


def split_extracted_lines(
    lines: Sequence[tuple[str, int]], settings: IngestSettings, title: str = ""
) -> ParsedFile:
    """Split lines that were taken out of a file, each with the number that it has there."""
    text = "".join(f"{line}\n" for line, _ in lines)
    line_map = []
    at = 0
    for line, number in lines:
        line_map.append((at, number))
        at += len(line) + 1
    parsed = read_lines(SourceFile(text, b"", ""), settings)
    return replace(parsed, title=title, line_map=tuple(line_map))
