"""Reader for PDF documents.

Text is extracted page by page. The heading of a page is its number; there are no line numbers.
"""

from __future__ import annotations

import re
from threading import Lock
from typing import Any

from quire.core.types import MISSING_EXTRA, IngestSettings
from quire.ingest import heading_splitter, prose_splitter
from quire.ingest.decode import clean_text
from quire.ingest.types import ParsedFile, SourceFile, UnreadableFile, clean_title

# PDFium writes U+FFFE (older versions U+0002) for a hyphen together with the line end.
HYPHENATED = re.compile(r"(?<=[^\W\d_])(?:[-\u00ad]\n|[\ufffe\x02]\n?)([^\W\d_])")
PDFIUM_LOCK = Lock()
"""PDFium is not thread-safe."""


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Extract the text of a PDF document and split it by pages."""
    try:
        import pypdfium2
    except ImportError as error:
        reason = f"{MISSING_EXTRA} to read PDF: pip install 'quire-context[docs]'"
        raise UnreadableFile(reason) from error
    with PDFIUM_LOCK:
        try:
            document = pypdfium2.PdfDocument(source.data)
        except pypdfium2.PdfiumError as error:
            raise UnreadableFile(_explain(str(error))) from error
        try:
            pages = _extract_pages(document, settings)
            title = clean_title(document.get_metadata_value("Title") or "")
        except pypdfium2.PdfiumError as error:
            raise UnreadableFile(f"broken PDF: {error}") from error
        finally:
            document.close()
    if not any(pages):
        raise UnreadableFile("PDF without text (scanned?)")
    text, blocks = _join_pages(pages)
    return ParsedFile(
        text, tuple(heading_splitter.split(text, blocks, settings)), title=title, line_map=()
    )


def _extract_pages(document: Any, settings: IngestSettings) -> list[str]:
    pages = []
    total = 0
    for index in range(len(document)):
        page = document[index]
        content = page.get_textpage()
        pages.append(_clean_page(content.get_text_range()))
        content.close()
        page.close()
        total += len(pages[-1])
        if total > settings.max_bytes:
            raise UnreadableFile(
                f"PDF with text over the limit of {settings.max_bytes} ([ingest] max_bytes)"
            )
    return pages


def _clean_page(text: str) -> str:
    text = clean_text(text)
    # Before a capital letter the hyphen belongs to the word: `Anglo-Saxon`.
    text = HYPHENATED.sub(lambda match: match[1] if match[1].islower() else f"-{match[1]}", text)
    return text.replace("\ufffe", "-").replace("\x02", "-").strip()


def _join_pages(pages: list[str]) -> tuple[str, list[heading_splitter.TextBlock]]:
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
