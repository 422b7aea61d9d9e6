"""Which pages does a folder of post-mortems hold?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from quire.core.types import Document, IngestSettings, Skipped
from quire.ingest import prose_splitter, read, walk
from quire.ingest.front_matter import parse_fields, parse_timestamp
from quire.memory.postmortems import Page

ENDINGS = (".md", ".markdown")
SHOWN = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
"""Code, which is no running text."""
HEADING = re.compile(r"^[ ]{0,3}#{1,6}(?:[ \t].*)?$", re.MULTILINE)
HEAD = re.compile(r"\A[^\n]*\n?(?:[ ]{0,3}(?:=+|-+)[ \t]*(?:\n|\Z))?")
"""The lines of a section's heading."""
MARK = re.compile(r"^[ \t]*(?:[-*+>]|\d{1,3}[.)])[ \t]+", re.MULTILINE)


def pages(folder: Path, settings: IngestSettings) -> Iterator[tuple[str, Page | Skipped]]:
    """Read all pages of a folder in the order of their paths; what is none comes with a reason."""
    for found in walk(folder, ("",), settings):
        if isinstance(found, Skipped):
            yield found.path, found
        elif not found.path.lower().endswith(ENDINGS):
            yield found.path, Skipped(found.path, "no Markdown, so no post-mortem")
        else:
            met = read(found, settings)
            yield found.path, met if isinstance(met, Skipped) else page(met[0])


def page(document: Document) -> Page:
    """Make a page of what the reader of Markdown found."""
    text = "".join(chunk.text for chunk in document.chunks)
    fields, end = parse_fields(text)
    path, title = document.record.path, document.record.title
    name = path.rpartition("/")[2]  # which stands for a title where there is none
    moments = {key: parse_timestamp(values[0]) for key, values in fields.items() if values}
    return Page(
        path=path,
        title="" if title == name else title,
        fields=fields,
        sections=tuple(_sections(document, text, title)),
        sentences=tuple(_sentences(text[end:])),
        moments={key: moment for key, moment in moments.items() if moment is not None},
    )


def _sections(document: Document, text: str, title: str) -> Iterator[tuple[str, str]]:
    """Give each section with its text; the one under the title is the whole page, and no part."""
    data = text.encode()
    for entity in document.outline.entities if document.outline else ():
        whole = entity.name == title and entity.end == len(data)
        if entity.kind == "section" and not whole:
            yield entity.name, HEAD.sub("", data[entity.start : entity.end].decode(), 1).strip()


def _sentences(text: str) -> Iterator[str]:
    said = HEADING.sub("\n", SHOWN.sub("\n", text))
    for start, end in prose_splitter.iter_paragraphs(said, 0, len(said)):
        line = " ".join(MARK.sub("", said[start:end]).split())
        for first, last in prose_splitter.iter_sentences(line, 0, len(line)):
            if line[first:last].strip():
                yield line[first:last].strip()
