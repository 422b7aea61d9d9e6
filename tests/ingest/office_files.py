"""Documents of office programs, books and mails, as small as they can be."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
CORE = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
DC = "http://purl.org/dc/elements/1.1/"
ODF = "urn:oasis:names:tc:opendocument:xmlns"


def pack(files: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def docx(paragraphs: Sequence[tuple[str, str]], *, title: str = "", body: str = "") -> bytes:
    """Make a document of paragraphs, each with the id of its style (empty: none)."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/></w:style>'
        for level in (1, 2)
    )
    text = "".join(
        f"<w:p><w:pPr>{f'<w:pStyle w:val={style!r}/>' if style else ''}</w:pPr>"
        f"<w:r><w:t>{escape(content)}</w:t></w:r></w:p>"
        for style, content in paragraphs
    )
    return pack(
        {
            "[Content_Types].xml": f'<Types xmlns="{TYPES}"/>',
            "_rels/.rels": f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{DOCUMENT}" '
            'Target="word/document.xml"/></Relationships>',
            "docProps/core.xml": f'<c:coreProperties xmlns:c="{CORE}" xmlns:dc="{DC}">'
            f"<dc:title>{escape(title)}</dc:title></c:coreProperties>",
            "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
            "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{text}{body}</w:body></w:document>',
        }
    )


def pptx(slides: Sequence[tuple[str, str, str]]) -> bytes:
    """Make slides, each of a title, a text and notes."""
    import pptx as library

    show = library.Presentation()
    for title, text, notes in slides:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    out = io.BytesIO()
    show.save(out)
    return out.getvalue()


def xlsx(sheets: Mapping[str, Sequence[Sequence[object]]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def odf(content: str, *, kind: str = "text", title: str = "") -> bytes:
    spaces = " ".join(
        f'xmlns:{name}="{ODF}:{long}:1.0"'
        for name, long in (
            ("office", "office"),
            ("text", "text"),
            ("table", "table"),
            ("draw", "drawing"),
        )
    )
    return pack(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {spaces}><office:body><office:{kind}>{content}"
            f"</office:{kind}></office:body></office:document-content>",
            "meta.xml": f'<office:document-meta {spaces} xmlns:dc="{DC}"><dc:title>{title}</dc:title>'
            "</office:document-meta>",
        }
    )


def epub(pages: Sequence[str], *, title: str) -> bytes:
    """Make a book whose pages stand in the archive in another order than they are read."""
    opf = "http://www.idpf.org/2007/opf"
    items = "".join(f'<item id="p{n}" href="text/p%20{n}.xhtml"/>' for n in range(len(pages)))
    spine = "".join(f'<itemref idref="p{n}"/>' for n in range(len(pages)))
    return pack(
        {
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="book/package.opf"/></rootfiles></container>',
            "book/package.opf": f'<package xmlns="{opf}" xmlns:dc="{DC}"><metadata><dc:title>{title}'
            f"</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{
                f"book/text/p {n}.xhtml": f"<html><head><title>x</title></head><body>{page}</body></html>"
                for n, page in reversed(list(enumerate(pages)))
            },
        }
    )
