"""What is in a plain text?"""

from __future__ import annotations

from quire.ingest import outline, prose
from quire.ingest.lines import cut_lines
from quire.ingest.pieces import Piece, Reading, Source
from quire.values import IngestSettings


def read(source: Source, settings: IngestSettings) -> Reading:
    """Cut a plain text between its paragraphs."""
    text = source.text
    blocks = [outline.Block(start) for start, _ in prose.paragraphs(text, 0, len(text))]
    return Reading(text, tuple(outline.cut(text, blocks, settings)))


def read_lines(source: Source, settings: IngestSettings) -> Reading:
    """Cut a file of data or settings at the ends of its lines."""
    text = source.text
    if len(text) <= settings.whole:
        return Reading(text, (Piece(0, len(text)),))
    spans = cut_lines(text, 0, len(text), settings.target)
    return Reading(text, tuple(Piece(*span) for span in spans))
