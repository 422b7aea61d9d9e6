from __future__ import annotations

import hashlib
import sys

import pytest

from quire.core.types import Document, IngestSettings
from quire.ingest.read import build_document
from quire.ingest.types import UnreadableFile

from .reading import SMALL

PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def pdf(*pages: list[str], title: str = "", encrypt: bool = False) -> bytes:
    """Build a minimal PDF, one list of text lines per page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for lines in pages:
        operators = " T* ".join(f"({line}) Tj" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 50 750 Td {operators} ET" if lines else ""
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        kids.append(len(objects) + 1)
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
            f" /Contents {len(objects)} 0 R >>"
        )
    objects[1] = (
        f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>"
    )
    trailer = "/Root 1 0 R"
    if title:
        objects.append(f"<< /Title ({title}) >>")
        trailer += f" /Info {len(objects)} 0 R"
    if encrypt:
        owner, user = standard_security(b"secret")
        objects.append(
            f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{owner.hex()}> /U <{user.hex()}> >>"
        )
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<{PAD[:16].hex()}> <{PAD[:16].hex()}>]"
    out = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} {trailer} >>\n"
    return out + end.encode() + f"startxref\n{len(out)}\n%%EOF\n".encode()


def standard_security(password: bytes) -> tuple[bytes, bytes]:
    padded = (password + PAD)[:32]
    owner = rc4(hashlib.md5(padded).digest()[:5], padded)
    key = hashlib.md5(padded + owner + b"\xfc\xff\xff\xff" + PAD[:16]).digest()[:5]
    return owner, rc4(key, PAD)


def rc4(key: bytes, data: bytes) -> bytes:
    box = list(range(256))
    j = 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)


def read_pdf(data: bytes, settings: IngestSettings = SMALL) -> Document:
    return build_document("paper.pdf", data, settings)


def test_pages_are_headings_without_line_numbers() -> None:
    sentence = "This page speaks about a subject of its own."
    data = pdf([f"{sentence} One.", sentence], [f"{sentence} Two.", sentence], title="A paper")
    document = read_pdf(data)
    assert document.record.title == "A paper"
    assert document.record.kind == "document"
    assert {chunk.title for chunk in document.chunks} == {"Page 1", "Page 2"}
    assert {chunk.lines for chunk in document.chunks} == {(0, 0)}
    text = "".join(chunk.text for chunk in document.chunks)
    assert "its own. One.\nThis page" in text
    assert document.chunks[-1].end == len(text.encode())


def test_words_hyphenated_at_a_line_end_are_joined() -> None:
    (chunk,) = read_pdf(
        pdf(["An exam-", "ple with a well-known", "word, Anglo-", "Saxon, 3-", "4 numbers"])
    ).chunks
    assert (
        " ".join(chunk.text.split())
        == "An example with a well-known word, Anglo-Saxon, 3- 4 numbers"
    )
    assert chunk.title == "Page 1"


def test_without_a_title_the_file_name_is_used() -> None:
    assert read_pdf(pdf(["text"])).record.title == "paper.pdf"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf([]), r"without text \(scanned\?\)"),
        (pdf(["secret"], encrypt=True), "encrypted PDF: save it without a password"),
        (b"%PDF-1.4\nthis is none", "broken PDF"),
        (b"", "broken PDF"),
        (pdf(["text"])[:200], "broken PDF"),
    ],
    ids=["scanned", "encrypted", "none", "empty", "cut"],
)
def test_a_pdf_that_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        read_pdf(data)


def test_a_pdf_with_too_much_text_is_refused() -> None:
    with pytest.raises(UnreadableFile, match=r"over the limit of 50 \(\[ingest\] max_bytes\)"):
        read_pdf(pdf(["word " * 20]), IngestSettings(max_bytes=50))


def test_without_the_extra_the_reason_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(UnreadableFile, match=r"pip install 'quire-context\[docs\]'"):
        read_pdf(pdf(["text"]))


def test_a_secret_inside_a_pdf_is_found() -> None:
    data = pdf(["The key is", "AKIAIOSFODNN7QXMPLE5"])
    document = read_pdf(data)
    assert "AKIAIOSFODNN7QXMPLE5" not in repr(document)
    assert "The key is" in repr(document)
    assert "[redacted: an AWS access key]" in repr(document)
