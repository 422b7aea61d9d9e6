"""Convert documents of office programs, books and mails to HTML, inside of `reader_worker`.

All of these formats go through one reader then, the one for HTML: headings, paragraphs, lists and
tables are what they have in common. Pictures, styles and scripts are left out. This module imports
nothing of this package, so that the child process starts fast.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from html import escape
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote

# Whatever these parsers do to hostile input, they do it to a process with limits; and expat bounds
# how far entities expand.
from xml.etree import ElementTree as ET  # nosec B405

MAX_UNPACKED = 512 << 20
MAX_MEMBERS = 20_000
TITLE_TAG = "{http://purl.org/dc/elements/1.1/}title"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
MAX_REPEATED = 100
"""How often a cell or row that says `repeat me` is repeated: empty ones say it a million times."""
OLE_HEADER = bytes.fromhex("d0cf11e0a1b11ae1")
BODY_START = re.compile(r"<body\b[^>]{0,1000}+>", re.IGNORECASE)
MAIL_START = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\n]*\n(?=[A-Za-z-]{1,100}:)")
QUOTED_START = re.compile(rb"^>(?=>*From )", re.MULTILINE)
"""What programs put before a line of a mail that would begin the next one."""
MAX_PARTS = 1000


class NotReadableError(Exception):
    """The document cannot be read; the message says why."""


def convert(kind: str, data: bytes) -> tuple[str, Iterator[str]]:
    """Return the title of a document, and the parts of its text as HTML.

    Raises:
        NotReadableError: It is encrypted, broken, or of another format.
    """
    if kind == "email":
        return "", _convert_mails(data)
    if data.startswith(OLE_HEADER):
        raise NotReadableError("encrypted, or of an old format: save it again to have it read")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
        raise NotReadableError(str(error)) from error
    members = archive.infolist()
    if len(members) > MAX_MEMBERS or sum(item.file_size for item in members) > MAX_UNPACKED:
        raise NotReadableError(f"unpacked it is larger than {MAX_UNPACKED >> 20} MiB")
    if any(item.flag_bits & 1 for item in members):
        raise NotReadableError("encrypted: save it without a password to have it read")
    return _find_title(archive, kind), CONVERTERS[kind](data, archive)


# --- documents, slides, tables -------------------------------------------------------------------


def _convert_docx(data: bytes, _: zipfile.ZipFile) -> Iterator[str]:
    import mammoth

    styles = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
    result = mammoth.convert_to_html(
        io.BytesIO(data), style_map=styles, convert_image=lambda _: [], id_prefix=""
    )
    yield result.value


def _convert_pptx(data: bytes, _: zipfile.ZipFile) -> Iterator[str]:
    import pptx

    for number, slide in enumerate(pptx.Presentation(io.BytesIO(data)).slides, 1):
        title = slide.shapes.title
        heading = " ".join(title.text_frame.text.split()) if title is not None else ""
        yield f"<h2>{escape(f'Slide {number}: {heading}' if heading else f'Slide {number}')}</h2>"
        for shape in _walk_shapes(slide.shapes):
            if title is not None and shape.shape_id == title.shape_id:
                continue
            if shape.has_text_frame:
                yield from _paragraphs(paragraph.text for paragraph in shape.text_frame.paragraphs)
            if getattr(shape, "has_table", False):
                rows = ([cell.text for cell in row.cells] for row in shape.table.rows)
                yield _table(rows)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield from _paragraphs(slide.notes_slide.notes_text_frame.text.splitlines())


def _walk_shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        yield shape
        if hasattr(shape, "shapes"):
            yield from _walk_shapes(shape.shapes)


def _convert_xlsx(data: bytes, _: zipfile.ZipFile) -> Iterator[str]:
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # a file may claim any number of columns
        yield f"<h2>{escape(sheet.title)}</h2>"
        yield _table([_show(value) for value in row] for row in sheet.iter_rows(values_only=True))
    book.close()


def _show(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime | date | time):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


# --- OpenDocument --------------------------------------------------------------------------------


def _convert_odf(_: bytes, archive: zipfile.ZipFile) -> Iterator[str]:
    root = _parse(archive, "content.xml")
    is_sheet = next(root.iter(f"{OFFICE}spreadsheet"), None) is not None
    slide = 0
    skipped: set[int] = set()
    for element in root.iter():
        if id(element) in skipped:
            continue
        if element.tag == f"{DRAW}page":
            slide += 1
            yield f"<h2>Slide {slide}</h2>"
        elif element.tag == f"{TABLE}table":
            skipped.update(map(id, element.iter()))
            if is_sheet:
                yield f"<h2>{escape(element.get(f'{TABLE}name', ''))}</h2>"
            yield _table(_rows(element))
        elif element.tag == f"{TEXT}h":
            skipped.update(map(id, element.iter()))
            level = element.get(f"{TEXT}outline-level", "1")
            tag = f"h{level}" if level in tuple("123456") else "h6"
            yield f"<{tag}>{escape(_text_of(element))}</{tag}>"
        elif element.tag == f"{TEXT}p":
            skipped.update(map(id, element.iter()))
            yield from _paragraphs([_text_of(element)])


def _rows(table: ET.Element) -> Iterator[list[str]]:
    for row in table.iter(f"{TABLE}table-row"):
        cells: list[str] = []
        for cell in row.iter():
            if cell.tag not in {f"{TABLE}table-cell", f"{TABLE}covered-table-cell"}:
                continue
            text = "\n".join(_text_of(part) for part in cell.iter(f"{TEXT}p"))
            cells += [text] * _repeated(cell, "columns")
        yield from [cells] * (_repeated(row, "rows") if any(cells) else 1)


def _repeated(element: ET.Element, what: str) -> int:
    number = element.get(f"{TABLE}number-{what}-repeated", "1")
    return min(int(number), MAX_REPEATED) if number.isascii() and number.isdigit() else 1


def _text_of(element: ET.Element) -> str:
    parts = [element.text or ""]
    for child in element:
        if child.tag in {f"{TEXT}tab", f"{TEXT}s", f"{TEXT}line-break"}:
            parts.append(" ")
        elif child.tag != f"{TEXT}note":
            parts.append(_text_of(child))
        parts.append(child.tail or "")
    return "".join(parts)


# --- books ---------------------------------------------------------------------------------------


def _convert_epub(_: bytes, archive: zipfile.ZipFile) -> Iterator[str]:
    place = _package_place(archive)
    package = _parse(archive, place)
    items = {
        item.get("id"): unquote(item.get("href", ""))
        for item in package.iter("{http://www.idpf.org/2007/opf}item")
    }
    names = set(archive.namelist())
    for reference in package.iter("{http://www.idpf.org/2007/opf}itemref"):
        name = normpath(join(dirname(place), items.get(reference.get("idref"), "")))
        if name in names:
            page = archive.read(name).decode("utf-8", "replace")
            yield _body_of(page)


def _package_place(archive: zipfile.ZipFile) -> str:
    for file in _parse(archive, "META-INF/container.xml").iter():
        if file.tag.endswith("}rootfile"):
            return file.get("full-path", "")
    raise NotReadableError("it names no package of its pages")


# --- mails ---------------------------------------------------------------------------------------


def _convert_mails(data: bytes) -> Iterator[str]:
    starts = [match.span() for match in MAIL_START.finditer(data)]
    if not starts or starts[0][0]:
        yield from _convert_mail(message_from_bytes(data))
        return
    ends = [start for start, _ in starts[1:]] + [len(data)]
    for (_, start), end in zip(starts, ends, strict=True):
        yield from _convert_mail(message_from_bytes(QUOTED_START.sub(b"", data[start:end])))


def _convert_mail(mail: Message) -> Iterator[str]:
    if not mail.keys():
        raise NotReadableError("it has no header")
    yield f"<h2>{escape(_header(mail, 'subject') or 'Mail without a subject')}</h2>"
    lines = [
        f"{name}: {value}"
        for name in ("From", "To", "Cc", "Date")
        if (value := _header(mail, name))
    ]
    yield f"<p>{'<br>'.join(map(escape, lines))}</p>"
    parts = [part for _, part in zip(range(MAX_PARTS), mail.walk(), strict=False)]
    texts = [part for part in parts if _is_text(part, "text/plain")]
    for part in texts or [part for part in parts if _is_text(part, "text/html")]:
        body = _body(part)
        if part.get_content_type() == "text/html":
            yield _body_of(body)
        else:
            yield from _paragraphs(re.split(r"\n{2,}", body.replace("\r\n", "\n")))
    files = [name for part in parts if (name := part.get_filename())]
    if files:
        yield f"<p>Attached: {escape(', '.join(files))}</p>"


def _is_text(part: Message, kind: str) -> bool:
    return part.get_content_type() == kind and part.get_content_disposition() != "attachment"


def _header(mail: Message, name: str) -> str:
    value = mail.get(name)
    if value is None:
        return ""
    try:
        text = str(make_header(decode_header(str(value))))
    except (LookupError, ValueError):
        text = str(value)
    return " ".join(text.split())


def _body(part: Message) -> str:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return ""
    try:
        return content.decode(part.get_content_charset() or "utf-8", "replace")
    except LookupError:
        return content.decode("utf-8", "replace")


# --- common --------------------------------------------------------------------------------------


def _body_of(page: str) -> str:
    """Return what stands in the body of a page; all of it if there is none."""
    start = BODY_START.search(page)
    if start is None:
        return page
    end = max(page.rfind("</body>", start.end()), page.rfind("</BODY>", start.end()))
    return page[start.end() : end] if end >= 0 else page[start.end() :]


def _find_title(archive: zipfile.ZipFile, kind: str) -> str:
    try:
        if kind == "epub":
            place = _package_place(archive)
        else:
            place = "meta.xml" if kind == "odf" else "docProps/core.xml"
        root = _parse(archive, place)
    except NotReadableError:
        return ""
    found = next(root.iter(TITLE_TAG), None)
    return (found.text or "") if found is not None else ""


def _parse(archive: zipfile.ZipFile, name: str) -> ET.Element:
    try:
        return ET.fromstring(archive.read(name))  # nosec B314  # noqa: S314  # see above
    except (KeyError, ET.ParseError, zipfile.BadZipFile, ValueError) as error:
        raise NotReadableError(f"{name}: {error}") from error


def _paragraphs(texts: Any) -> Iterator[str]:
    for text in texts:
        if text.strip():
            yield f"<p>{'<br>'.join(map(escape, text.strip().splitlines()))}</p>"


def _table(rows: Any) -> str:
    lines = []
    for row in rows:
        while row and not row[-1].strip():
            row.pop()
        if row:
            lines.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>")
    return f"<table>{''.join(lines)}</table>" if lines else ""


CONVERTERS: dict[str, Callable[[bytes, zipfile.ZipFile], Iterator[str]]] = {
    "docx": _convert_docx,
    "pptx": _convert_pptx,
    "xlsx": _convert_xlsx,
    "odf": _convert_odf,
    "epub": _convert_epub,
}
