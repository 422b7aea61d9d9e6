"""Documents of office programs, books, mails and notebooks are read as what they say."""

from __future__ import annotations

import json
from datetime import date
from email.message import EmailMessage

import pytest

from quire.core.types import Document, IngestSettings
from quire.ingest import reader_process
from quire.ingest.read import build_document
from quire.ingest.types import UnreadableFile

from . import office_files
from .reading import check_outline

SETTINGS = IngestSettings()
BOMB = "<!DOCTYPE b [" + "".join(
    f'<!ENTITY l{n} "{("&l" + str(n - 1) + ";") * 10 if n else "lol"}">' for n in range(12)
)


def read(path: str, data: bytes) -> tuple[Document, str]:
    document = build_document(path, data, SETTINGS)
    check_outline(document)
    return document, "".join(chunk.text for chunk in document.chunks)


def section_names(document: Document) -> list[str]:
    assert document.outline is not None
    return [entity.name for entity in document.outline.entities[1:]]


def test_a_word_document() -> None:
    table = (
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Port</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>8080</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    )
    data = office_files.docx(
        [("Heading1", "Retention"), ("", "Logs are kept for 30 days."), ("Heading2", "Ports")],
        title="Operations & limits",
        body=table,
    )
    document, text = read("ops.docx", data)
    assert document.record.title == "Operations & limits"
    assert "Logs are kept for 30 days." in text
    assert "Port" in text
    assert "8080" in text
    assert section_names(document) == ["Retention", "Ports"]
    assert all(chunk.lines == (0, 0) for chunk in document.chunks)


def test_slides() -> None:
    data = office_files.pptx(
        [("Plan", "Ship in May", "Say that May is a risk"), ("", "No title here", "")]
    )
    document, text = read("plan.pptx", data)
    assert section_names(document) == ["Slide 1: Plan", "Slide 2"]
    for line in ("Ship in May", "Say that May is a risk", "No title here"):
        assert line in text


def test_a_table_of_numbers_and_dates() -> None:
    rows: list[list[object]] = [
        ["name", "price", "since"],
        ["bolt", 2.5, date(2026, 5, 1)],
        ["nut", 3.0, None],
        [None],
    ]
    document, text = read("prices.xlsx", office_files.xlsx({"Prices": rows, "Empty": []}))
    assert "bolt | 2.5 | 2026-05-01" in text
    assert "nut | 3\n" in text
    assert "Prices" in section_names(document)


def test_open_documents() -> None:
    text_document, text = read(
        "a.odt",
        office_files.odf(
            '<text:h text:outline-level="1">Backups</text:h><text:p>Every<text:s/>night.</text:p>',
            title="Runbook",
        ),
    )
    assert text_document.record.title == "Runbook"
    assert section_names(text_document) == ["Backups"]
    assert "Every night." in text
    cells = "<table:table-cell><text:p>a</text:p></table:table-cell>"
    row = f'<table:table-row table:number-rows-repeated="1000000">{cells}</table:table-row>'
    sheet, text = read(
        "b.ods",
        office_files.odf(f'<table:table table:name="Q1">{row}</table:table>', kind="spreadsheet"),
    )
    assert section_names(sheet) == ["Q1"]
    assert text.count("a") == 100
    _, text = read(
        "c.odp",
        office_files.odf(
            "<draw:page><draw:frame><text:p>One</text:p></draw:frame></draw:page>",
            kind="presentation",
        ),
    )
    assert text.split() == ["Slide", "1", "One"]


def test_a_book_in_its_order() -> None:
    pages = ["<h1>One</h1><p>It began.</p><script>x</script>", "<h1>Two</h1><p>It ended.</p>"]
    document, text = read("book.epub", office_files.epub(pages, title="A book"))
    assert document.record.title == "A book"
    assert text.index("It began.") < text.index("It ended.")
    assert "script" not in text
    assert section_names(document) == ["One", "Two"]


def mail(subject: str, body: str, *, html: str = "", file: str = "") -> EmailMessage:
    made = EmailMessage()
    made["Subject"], made["From"], made["To"] = subject, "Ann <ann@example.org>", "bob@example.org"
    made["Date"] = "Mon, 04 May 2026 10:00:00 +0000"
    if body:
        made.set_content(body)
    if html:
        made.add_alternative(html, subtype="html")
    if file:
        made.add_attachment(b"12", maintype="application", subtype="octet-stream", filename=file)
    return made


def test_mails() -> None:
    first = mail("Übergabe", "The key is\nat the desk.\n\nBye", html="<p>no</p>", file="plan.pdf")
    _, text = read("a.eml", first.as_bytes())
    assert text.startswith(
        "Übergabe\n\nFrom: Ann <ann@example.org>\nTo: bob@example.org\nDate: Mon"
    )
    assert "The key is\nat the desk.\n\nBye" in text
    assert "Attached: plan.pdf" in text
    assert "no" not in text.split()
    box = b"".join(
        b"From x@y Mon May  4 10:00:00 2026\n" + one.as_bytes() + b"\n"
        for one in (first, mail("Re", "", html="<html><body><p>Fine.</p></body></html>"))
    )
    document, text = read("a.mbox", box)
    assert section_names(document) == ["Übergabe", "Re"]
    assert "Fine." in text


def test_lines_that_a_mailbox_quotes_are_as_they_were_written() -> None:
    said = mail("Gate", "It opens.\n\nFrom nine on.\n>From ten on.\n> quoted\n").as_bytes()
    quoted = said.replace(b"\n>From", b"\n>>From").replace(b"\nFrom nine", b"\n>From nine")
    _, text = read("a.mbox", b"From x@y Mon May  4 10:00:00 2026\n" + quoted)
    assert "\n\nFrom nine on.\n>From ten on.\n> quoted" in text


def test_a_notebook_has_no_pictures() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Churn\n", "\n", "Who leaves?"]},
        {
            "cell_type": "code",
            "source": "print('```')\nx = 1",
            "outputs": [
                {"output_type": "stream", "text": ["```\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBOR" * 99, "text/plain": "<Figure>"}},
                {"output_type": "error", "traceback": ["\x1b[31mValueError\x1b[0m: bad"]},
            ],
        },
    ]  # fmt: skip
    document, text = read("churn.ipynb", json.dumps({"cells": cells, "metadata": {}}).encode())
    assert document.record.title == "Churn"
    assert "print('```')\nx = 1" in text
    assert "ValueError: bad" in text
    assert "<Figure>" in text
    assert "iVBOR" not in text
    build_document("odd.ipynb", b'{"cells": [1, {"source": 2, "cell_type": "code"}]}', SETTINGS)


def test_a_notebook_of_an_older_version() -> None:
    picture = {"output_type": "display_data", "png": "iVBOR" * 99, "text": ["<Figure>"]}
    cells = [
        {"cell_type": "markdown", "source": "# Tides"},
        {"cell_type": "code", "input": ["low = 5"], "outputs": [picture, 3]},
    ]
    data = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}, 1, {"cells": 2}]})
    document, text = read("old.ipynb", data.encode())
    assert document.record.title == "Tides"
    assert "low = 5" in text
    assert "<Figure>" in text
    assert "iVBOR" not in text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ('{"cells": 3}', "it has no cells"),
        ("[1]", "it has no cells"),
        ("[" * 200_000, "it is not JSON"),
        ('{\n<<<<<<< ours\n"cells": [{"png": "iVBOR"}]}', "it is not JSON, line 2"),
    ],
    ids=["no cells", "a list", "deep", "a conflict"],
)
def test_a_damaged_notebook_is_skipped(data: str, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        build_document("a.ipynb", data.encode(), SETTINGS)


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.docx", b"PK\x03\x04 no archive", "docx that cannot be read"),
        ("a.docx", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "encrypted, or of an old format"),
        ("a.xlsx", office_files.pack({"x": "y"}), "xlsx that cannot be read"),
        ("a.pptx", office_files.pack({"x": "y"}), "pptx that cannot be read"),
        ("a.odt", office_files.pack({"x": "y"}), "odt that cannot be read: content.xml"),
        ("a.epub", office_files.pack({"x": "y"}), "epub that cannot be read: META-INF"),
        ("a.eml", b"", "email that cannot be read: it has no header"),
        ("a.odt", office_files.odf(""), "odt without text"),
        (
            "a.odt",
            office_files.pack({"content.xml": f"{BOMB}]><a>&l11;</a>"}),
            "odt that cannot be read: content.xml",
        ),
        (
            "a.odt",
            office_files.pack({"content.xml": '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'}),
            "odt that cannot be read: content.xml",
        ),
        (
            "a.docx",
            office_files.pack({"word/document.xml": b" " * (513 << 20)}),
            "unpacked it is larger than 512 MiB",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_cannot_be_read_is_skipped_with_the_reason(
    path: str, data: bytes, reason: str
) -> None:
    with pytest.raises(UnreadableFile) as raised:
        build_document(path, data, SETTINGS)
    assert reason in str(raised.value)
    assert build_document("ok.odt", office_files.odf("<text:p>fine</text:p>"), SETTINGS).chunks


def test_text_over_the_limit_is_not_read() -> None:
    data = office_files.odf("<text:p>many words of it</text:p>" * 50)
    with pytest.raises(UnreadableFile, match=r"text over the limit of 300 \(\[ingest\] max_bytes"):
        build_document("a.odt", data, IngestSettings(max_bytes=300))


def test_without_the_extra_the_reason_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("shadow")
    (folder / "mammoth.py").write_text("raise ImportError('gone')\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    reader_process.close_readers()
    try:
        with pytest.raises(UnreadableFile, match=r"pip install 'quire-context\[office\]'"):
            build_document("a.docx", office_files.docx([("", "text")]), SETTINGS)
    finally:
        reader_process.close_readers()
