"""A PDF document can end its reader and nothing else: memory and time are bounded."""

from __future__ import annotations

import threading
import time
import zlib

import pytest

from quire.core.types import IngestSettings
from quire.ingest import close_readers, pdf, reader_process, reader_worker
from quire.ingest.read import build_document
from quire.ingest.types import UnreadableFile
from tests.ingest.test_pdf import pdf as make_pdf

SETTINGS = IngestSettings()
MEGABYTE = 1_000_000


def bomb(unit: bytes, megabytes: int) -> bytes:
    """Make a document of one page whose content is a unit, repeated and packed twice."""
    packer = zlib.compressobj(9)
    block = unit * (MEGABYTE // len(unit))
    packed = b"".join(packer.compress(block) for _ in range(megabytes)) + packer.flush()
    packed = zlib.compress(packed, 9)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
        b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream"
        % (len(packed), packed),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 3 0 R >>",
    ]
    out = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\n"
    return out + end % (size, table, size) + b"startxref\n%d\n%%%%EOF\n" % len(out)


@pytest.fixture(autouse=True)
def fresh_process() -> None:
    close_readers()


def test_a_document_that_asks_for_gigabytes_is_skipped_by_name() -> None:
    data = bomb(b"q ", 100)
    assert len(data) < 10_000
    with pytest.raises(UnreadableFile, match="cannot be read within 1024 MiB of memory"):
        build_document("a.pdf", data, SETTINGS)
    assert build_document("b.pdf", make_pdf(["still read"]), SETTINGS).chunks[0].text.strip()


def test_a_document_that_takes_too_long_is_skipped_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader_process, "MAX_SECONDS", 0.2)
    with pytest.raises(UnreadableFile, match=r"cannot be read within 0\.2 seconds"):
        build_document("a.pdf", bomb(b"(a)Tj ", 400), SETTINGS)


def test_the_memory_of_the_process_that_indexes_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader_process, "MAX_MEMORY", 400 << 20)
    assert len(b"x" * (500 << 20)) == 500 << 20, "this process has had more than that"
    for number in range(3):
        text = build_document("a.pdf", make_pdf([f"page {number}"]), SETTINGS).chunks[0].text
        assert text.strip() == f"page {number}"
        time.sleep(2 * reader_worker.CHECK_INTERVAL)


def test_one_child_serves_many_documents_and_is_stopped() -> None:
    children = set()
    for number in range(5):
        pdf._extract_pages(make_pdf([f"page {number}"]), SETTINGS)
        assert reader_process.PROCESS._child is not None
        children.add(reader_process.PROCESS._child.pid)
    assert len(children) == 1
    child = reader_process.PROCESS._child
    close_readers()
    assert child is not None
    assert child.poll() is not None
    assert reader_process.PROCESS._child is None


def test_documents_of_several_threads_are_not_mixed_up() -> None:
    texts: dict[int, list[str]] = {}

    def read(number: int) -> None:
        data = make_pdf([f"document {number}"], [f"second {number}"])
        texts[number] = [pdf._extract_pages(data, SETTINGS)[0][0] for _ in range(5)]

    threads = [threading.Thread(target=read, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {number: [f"document {number}"] * 5 for number in range(6)}


def test_a_broken_document_does_not_end_the_child() -> None:
    pdf._extract_pages(make_pdf(["text"]), SETTINGS)
    child = reader_process.PROCESS._child
    with pytest.raises(UnreadableFile, match="broken PDF"):
        build_document("a.pdf", b"%PDF-1.4\nthis is none", SETTINGS)
    assert reader_process.PROCESS._child is child
