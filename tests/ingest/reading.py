"""Read a text without a disk, for the tests of this package."""

from __future__ import annotations

from quire.core.types import Chunk, Document, Entity, IngestSettings, Outline
from quire.ingest.read import document_of

SMALL = IngestSettings(whole=120, paragraph=120, target=80, join=80, code_max=160)


def read_text(path: str, text: str, settings: IngestSettings = SMALL) -> Document:
    return document_of(path, text.encode(), settings)


def chunks(path: str, text: str, settings: IngestSettings = SMALL) -> tuple[Chunk, ...]:
    return read_text(path, text, settings).chunks


def titles(path: str, text: str, settings: IngestSettings = SMALL) -> list[str]:
    return [chunk.title for chunk in chunks(path, text, settings)]


def parts(path: str, text: str, settings: IngestSettings = SMALL) -> list[tuple[str, str]]:
    """Give kind and name of every entity below the whole."""
    return [(entity.kind, entity.name) for entity in entities(path, text, settings)[1:]]


def entities(path: str, text: str, settings: IngestSettings = SMALL) -> tuple[Entity, ...]:
    outline = read_text(path, text, settings).outline
    assert outline is not None
    return outline.entities


def check_outline(document: Document) -> None:
    """Hold an outline against all that it promises of its entities."""
    assert document.outline is not None
    whole, *others = document.outline.entities
    length = sum(len(chunk.text.encode()) for chunk in document.chunks)
    assert (whole.start, whole.end, whole.parent) == (0, length, None)
    before = whole
    for place, entity in enumerate(others, 1):
        assert entity.parent is not None
        assert entity.parent < place
        around = document.outline.entities[entity.parent]
        assert around.start <= entity.start < entity.end <= around.end
        assert before.start <= entity.start
        assert entity.name
        assert entity.qualified
        assert "\n" not in entity.name + entity.qualified
        assert entity.lines[0] <= entity.lines[1]
        before = entity


def outlined(document: Document) -> Outline:
    assert document.outline is not None, "every file has an outline"
    return document.outline
