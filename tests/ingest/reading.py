"""How do the tests of this room read a text without a disk?"""

from __future__ import annotations

from quire.ingest.read import document_of
from quire.values import Chunk, Document, IngestSettings

SMALL = IngestSettings(whole=120, target=80, code_max=160)


def read_text(path: str, text: str, settings: IngestSettings = SMALL) -> Document:
    return document_of(path, text.encode(), settings)


def chunks(path: str, text: str, settings: IngestSettings = SMALL) -> tuple[Chunk, ...]:
    return read_text(path, text, settings).chunks


def titles(path: str, text: str, settings: IngestSettings = SMALL) -> list[str]:
    return [chunk.title for chunk in chunks(path, text, settings)]
