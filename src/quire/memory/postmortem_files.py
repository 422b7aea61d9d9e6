"""Reading the pages of a folder of post-mortems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from quire.core.types import Document, IngestSettings, Skipped
from quire.ingest import prose_splitter, read, walk
from quire.ingest.front_matter import parse_fields, parse_timestamp
from quire.memory.postmortems import Page

EXTENSIONS = (".md", ".markdown")
CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
"""Code, which is not running text."""
HEADING = re.compile(r"^[ ]{0,3}#{1,6}(?:[ \t].*)?$", re.MULTILINE)
HEADING_LINES = re.compile(r"\A[^\n]*\n?(?:[ ]{0,3}(?:=+|-+)[ \t]*(?:\n|\Z))?")
"""The lines of a section's heading."""
LIST_MARK = re.compile(r"^[ \t]*(?:[-*+>]|\d{1,3}[.)])[ \t]+", re.MULTILINE)


def read_pages(folder: Path, settings: IngestSettings) -> Iterator[tuple[str, Page | Skipped]]:
    """Yield the pages of a folder in the order of their paths; other files with a reason."""
    for file in walk(folder, ("",), settings):
        if isinstance(file, Skipped):
            yield file.path, file
        elif not file.path.lower().endswith(EXTENSIONS):
            yield file.path, Skipped(file.path, "not Markdown, so not a post-mortem")
        else:
            content = read(file, settings)
            yield file.path, content if isinstance(content, Skipped) else to_page(content[0])


def to_page(document: Document) -> Page:
    """Turn a parsed Markdown document into a page."""
    text = "".join(chunk.text for chunk in document.chunks)
    fields, end = parse_fields(text)
    path, title = document.record.path, document.record.title
    name = path.rpartition("/")[2]  # the reader's title of a page without one
    times = {key: parse_timestamp(values[0]) for key, values in fields.items() if values}
    return Page(
        path=path,
        title="" if title == name else title,
        fields=fields,
        sections=tuple(_sections(document, text, title)),
        sentences=tuple(_sentences(text[end:])),
        moments={key: time for key, time in times.items() if time is not None},
    )


def _sections(document: Document, text: str, title: str) -> Iterator[tuple[str, str]]:
    """Yield each section with its text; the one under the title is the whole page, not a part."""
    data = text.encode()
    for entity in document.outline.entities if document.outline else ():
        whole = entity.name == title and entity.end == len(data)
        if entity.kind == "section" and not whole:
            yield (
                entity.name,
                HEADING_LINES.sub("", data[entity.start : entity.end].decode(), 1).strip(),
            )


def _sentences(text: str) -> Iterator[str]:
    prose = HEADING.sub("\n", CODE_BLOCK.sub("\n", text))
    for start, end in prose_splitter.iter_paragraphs(prose, 0, len(prose)):
        line = " ".join(LIST_MARK.sub("", prose[start:end]).split())
        for first, last in prose_splitter.iter_sentences(line, 0, len(line)):
            if line[first:last].strip():
                yield line[first:last].strip()
