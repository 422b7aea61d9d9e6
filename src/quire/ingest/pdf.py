"""Reader for PDF documents.

Text is extracted page by page, in a child process. The heading of a page is its number; there are
no line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec

from quire.core.types import MISSING_EXTRA, IngestSettings
from quire.ingest import heading_splitter, prose_splitter, reader_process, reader_worker
from quire.ingest.decode import clean_text
from quire.ingest.types import ParsedFile, SourceFile, UnreadableFile, clean_title

# PDFium writes U+FFFE (older versions U+0002) for a hyphen together with the line end.
HYPHENATED = re.compile(r"(?<=[^\W\d_])(?:[-\u00ad]\n|[\ufffe\x02]\n?)([^\W\d_])")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Extract the text of a PDF document and split it by pages."""
    if find_spec("pypdfium2") is None:
        raise UnreadableFile(f"{MISSING_EXTRA} to read PDF: pip install 'quire-context[docs]'")
    pages, title = _extract_pages(source.data, settings)
    if not any(pages):
        raise UnreadableFile("PDF without text (scanned?)")
    return build_reading(pages, title, settings)


def build_reading(pages: Sequence[str], title: str, settings: IngestSettings) -> ParsedFile:
    """Build the reading of a document from the text of its pages."""
    text, blocks = _join_pages(pages)
    return ParsedFile(
        text, tuple(heading_splitter.split(text, blocks, settings)), title=title, line_map=()
    )


def _extract_pages(data: bytes, settings: IngestSettings) -> tuple[list[str], str]:
    """Return the text of each page, and the title."""
    pages: list[str] = []
    title = failure = ""
    total = 0
    with reader_process.PROCESS.extract(reader_worker.PDF, data) as frames:
        for kind, text in frames:
            if kind == reader_worker.PAGE:
                pages.append(_clean_page(text))
                total += len(pages[-1])
            elif kind == reader_worker.TITLE:
                title = clean_title(text)
            else:
                opened = kind != reader_worker.NOT_OPENED
                failure = f"broken PDF: {text}" if opened else _explain(text)
            if total > settings.max_bytes:
                raise UnreadableFile(
                    f"PDF with text over the limit of {settings.max_bytes} ([ingest] max_bytes)"
                )
    if failure:
        raise UnreadableFile(failure)
    return pages, title


def _clean_page(text: str) -> str:
    text = clean_text(text)
    # Before a capital letter the hyphen belongs to the word: `Anglo-Saxon`.
    text = HYPHENATED.sub(lambda match: match[1] if match[1].islower() else f"-{match[1]}", text)
    return text.replace("\ufffe", "-").replace("\x02", "-").strip()


def _join_pages(pages: Sequence[str]) -> tuple[str, list[heading_splitter.TextBlock]]:
    parts = []
    blocks = []
    at = 0
    for number, page in enumerate(pages, 1):
        if page:
            part = f"{page}\n\n"
            blocks.append(heading_splitter.TextBlock(at, 1, f"Page {number}"))
            blocks += [
                heading_splitter.TextBlock(at + start)
                for start, _ in prose_splitter.iter_paragraphs(part, 0, len(part))
            ]
            parts.append(part)
            at += len(part)
    return "".join(parts), blocks


def _explain(message: str) -> str:
    if "password" in message.lower():
        return "encrypted PDF: save it without a password to have it read"
    return f"broken PDF: {message}"
