"""What is in a plain text?"""

from __future__ import annotations

from quire.ingest import outline, prose, sections
from quire.ingest.lines import cut_lines
from quire.ingest.pieces import Piece, Reading, Source, one_line
from quire.values import IngestSettings


def read(source: Source, settings: IngestSettings) -> Reading:
    """Cut a plain text between its paragraphs."""
    text = source.text
    blocks = [outline.Block(start) for start, _ in prose.paragraphs(text, 0, len(text))]
    described = sections.about(source.path, text, blocks, one_line)
    return Reading(
        text,
        tuple(outline.cut(text, blocks, settings)),
        summary=described.summary,
        parts=described.parts,
    )


def read_lines(source: Source, settings: IngestSettings) -> Reading:
    """Cut a file of data or settings at the ends of its lines."""
    text = source.text
    if len(text) <= settings.whole:
        return Reading(text, (Piece(0, len(text)),))
    spans = cut_lines(text, 0, len(text), settings.target)
    return Reading(text, tuple(Piece(*span) for span in spans))
