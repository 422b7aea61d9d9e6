"""Helpers that read a text without writing it to disk."""

from __future__ import annotations

from quire.core.types import Chunk, Document, Entity, IngestSettings, Outline
from quire.ingest.read import build_document

SMALL = IngestSettings(whole=120, paragraph=120, target=80, join=80, code_max=160)


def read_text(path: str, text: str, settings: IngestSettings = SMALL) -> Document:
    return build_document(path, text.encode(), settings)


def read_chunks(path: str, text: str, settings: IngestSettings = SMALL) -> tuple[Chunk, ...]:
    return read_text(path, text, settings).chunks


def read_titles(path: str, text: str, settings: IngestSettings = SMALL) -> list[str]:
    return [chunk.title for chunk in read_chunks(path, text, settings)]


def read_entity_names(
    path: str, text: str, settings: IngestSettings = SMALL
) -> list[tuple[str, str]]:
    """Return kind and name of every entity below the root."""
    return [(entity.kind, entity.name) for entity in read_entities(path, text, settings)[1:]]


def read_entities(path: str, text: str, settings: IngestSettings = SMALL) -> tuple[Entity, ...]:
    outline = read_text(path, text, settings).outline
    assert outline is not None
    return outline.entities


def check_outline(document: Document) -> None:
    """Assert every invariant of an outline."""
    assert document.outline is not None
    root, *others = document.outline.entities
    length = sum(len(chunk.text.encode()) for chunk in document.chunks)
    assert (root.start, root.end, root.parent) == (0, length, None)
    previous = root
    for index, entity in enumerate(others, 1):
        assert entity.parent is not None
        assert entity.parent < index
        parent = document.outline.entities[entity.parent]
        assert parent.start <= entity.start < entity.end <= parent.end
        assert previous.start <= entity.start
        assert entity.name
        assert entity.qualified
        assert "\n" not in entity.name + entity.qualified
        assert entity.lines[0] <= entity.lines[1]
        previous = entity


def get_outline(document: Document) -> Outline:
    assert document.outline is not None, "every file has an outline"
    return document.outline
