"""Reader for documents of office programs, books and mails.

A child process converts them to HTML (`office_html`), and the reader of HTML does the rest. There
are no line numbers.
"""

from __future__ import annotations

from dataclasses import replace

from quire.core.types import MISSING_EXTRA, IngestSettings
from quire.ingest import html, reader_process, reader_worker
from quire.ingest.decode import clean_text
from quire.ingest.types import ParsedFile, SourceFile, UnreadableFile, clean_title

FORMATS = {
    **{name: name for name in ("docx", "pptx", "xlsx", "epub", "email")},
    **dict.fromkeys(("odt", "odp", "ods"), "odf"),
}
"""The converter of each language of the table of formats."""


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Convert a document to HTML and read that."""
    page, title = _convert(source, settings)
    parsed = html.read(SourceFile(page, b"", "html", source.path), settings)
    if not parsed.text.strip():
        raise UnreadableFile(f"{source.language} without text")
    return replace(parsed, title=title or parsed.title, line_map=())


def _convert(source: SourceFile, settings: IngestSettings) -> tuple[str, str]:
    parts: list[str] = []
    title = failure = ""
    total = 0
    with reader_process.PROCESS.extract(FORMATS[source.language], source.data) as frames:
        for kind, text in frames:
            if kind == reader_worker.PAGE:
                parts.append(clean_text(text))
                total += len(text)
            elif kind == reader_worker.TITLE:
                title = clean_title(clean_text(text))
            elif kind == reader_worker.MISSING:
                failure = f"{MISSING_EXTRA} to read it: pip install 'quire-context[office]'"
            else:
                failure = f"{source.language} that cannot be read: {text}"
            if total > settings.max_bytes:
                raise UnreadableFile(
                    f"text over the limit of {settings.max_bytes} ([ingest] max_bytes)"
                )
    if failure:
        raise UnreadableFile(failure)
    return "".join(parts), title
