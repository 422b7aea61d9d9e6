"""The record, the chunks and the promises that hold for every file."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from quire.core import hashing
from quire.core.types import Document, FileEntry, IngestSettings, Skipped
from quire.ingest import compute_digest, compute_record_id, read, walk
from quire.ingest.decode import NotText
from quire.ingest.formats import BINARY_SUFFIXES, FORMAT_TABLE
from quire.ingest.read import build_document
from quire.ingest.types import UnreadableFile

from .reading import SMALL, read_text

ENDINGS = [*sorted({endings.split()[0] for _, _, endings in FORMAT_TABLE}), ".unknown", ""]
TEXT_ENDINGS = [".md", ".rst", ".txt", ".json", ".py", ".js", ".go", ".rs", ".java", ".c", ".rb", ".sh", ".sql", ".css", ""]  # fmt: skip
SIZES = st.builds(
    IngestSettings, whole=st.integers(0, 60), target=st.integers(0, 60), code_max=st.integers(0, 60)
)

LINES = st.sampled_from(
    [
        "# Heading", "## Sub", "Title", "=====", "-----", "- item", "  - nested", "1. one", "```", "    code",
        "| a | b |", "|---|---|", "> quote", "---", "key: value", "def f():", "    return 1", "class A:", "@deco(",
        ")", "{", "}", "  }", '"""', "'''", "/*", "*/", "// c", "#if X", "func main() {", "", "", " ", "\t", "A sentence. Another one!",
        "漢字。仮名", "e\u0301\u0301 \U0001f468\u200d\U0001f469", "::", ".. note::", "[ref]: x.md", "[a](b.md)", "<div>", "x" * 90,
        "word " * 25, "\x0b\x0c", "\u2028", "\x85", "template <class T>", "public void m() {", "CREATE TABLE t (", "end",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(LINES, max_size=25).map("\n".join),
    st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=200),
)


def stat_file(path: Path, name: str | None = None) -> FileEntry:
    status = path.stat()
    return FileEntry(name or path.name, str(path), status.st_size, status.st_mtime_ns)


def write_file(folder: Path, name: str, content: str | bytes) -> FileEntry:
    place = folder / name
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return stat_file(place)


def check(document: Document, text: str) -> None:
    """Hold a document against all that a chunk promises."""
    chunks = document.chunks
    assert "".join(chunk.text for chunk in chunks) == text
    data = text.encode()
    assert [chunk.sequence for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert data[chunk.start : chunk.end].decode() == chunk.text
        assert chunk.id == hashing.chunk_id(document.record.id, chunk.sequence, chunk.text)
        assert (chunk.record_id, chunk.kind) == (document.record.id, document.record.kind)
        first = data[: chunk.start].count(b"\n") + 1
        assert chunk.lines == (first, first + chunk.text[:-1].count("\n"))
        assert chunk.text.strip() or len(chunks) == 1
        assert "\n" not in chunk.title


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, st.sampled_from(TEXT_ENDINGS), SIZES)
@example("\n\n \n", ".md", SMALL)
@example("", ".py", SMALL)
def test_chunks_are_the_text(text: str, ending: str, sizes: IngestSettings) -> None:
    path = f"folder/name{ending}"
    try:
        document = build_document(path, text.encode(), sizes)
    except NotText:
        return
    check(document, text.removeprefix("\ufeff"))
    assert document.record.id == compute_record_id(path)
    assert document == build_document(path, text.encode(), sizes)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(LINES, min_size=3, max_size=25),
    st.data(),
    st.sampled_from([".md", ".py", ".txt", ".rst"]),
)
def test_chunks_are_the_text_after_any_edit(
    lines: list[str], data: st.DataObject, ending: str
) -> None:
    text = "\n".join(lines)
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    edited = text[:start] + data.draw(st.text("a \n#`'\"{-", max_size=20)) + text[end:]
    check(read_text(f"a{ending}", edited), edited)


@settings(max_examples=150, deadline=None)
@given(TEXTS, SIZES)
def test_chunks_of_a_page_are_its_text(text: str, sizes: IngestSettings) -> None:
    page = f"<title>t</title><h1>{text}</h1><p>{text}<ul><li>{text}<pre>{text}</pre>{text}"
    try:
        document = build_document("a.html", page.encode(), sizes)
    except (NotText, UnreadableFile):
        return
    at = 0
    for chunk in document.chunks:
        assert (chunk.start, chunk.end - chunk.start) == (at, len(chunk.text.encode()))
        assert 1 <= chunk.lines[0] <= chunk.lines[1] <= page.count("\n") + 1
        at = chunk.end


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.one_of(
        st.binary(max_size=300),
        TEXTS.map(str.encode),
        TEXTS.map(lambda text: text.encode("utf-16")),
        st.binary(max_size=100).map(lambda data: b"%PDF-1.4\n" + data),
        st.text("<>/abdivpult \"'=&;#x!-\n", max_size=200).map(str.encode),
    ),
    st.sampled_from(ENDINGS),
    SIZES,
)
def test_any_bytes_under_any_name_are_read_or_refused(
    data: bytes, ending: str, sizes: IngestSettings
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = read(write_file(Path(folder), f"name{ending}", data), sizes)
    if isinstance(result, Skipped):
        assert result.path == f"name{ending}"
        assert result.reason
    else:
        document, digest = result
        assert digest == hashing.digest_bytes(data).hex()
        assert document.record.path == f"name{ending}"
        for text in (
            document.record.title,
            *(chunk.title + chunk.text for chunk in document.chunks),
        ):
            text.encode()


def test_what_a_record_says(tmp_path: Path) -> None:
    text = "# The title\n\nText.\n"
    result = read(write_file(tmp_path, "page.md", text))
    assert not isinstance(result, Skipped)
    document, digest = result
    record = document.record
    assert record.id == hashing.record_id("document", "page.md")
    assert (record.kind, record.path, record.title) == ("document", "page.md", "The title")
    assert (record.modified, record.author, record.acl, record.parent) == (None, None, None, None)
    assert record.attrs == {"language": "markdown", "role": "documentation"}
    assert (
        digest
        == hashing.digest_bytes(text.encode()).hex()
        == compute_digest(stat_file(tmp_path / "page.md"))
    )
    (chunk,) = document.chunks
    assert (chunk.start, chunk.end, chunk.lines, chunk.title) == (0, 19, (1, 3), "The title")


def test_line_ends_and_marks_are_the_readers_business(tmp_path: Path) -> None:
    raw = b"\xef\xbb\xbffirst\r\nsecond\rthird"
    result = read(write_file(tmp_path, "a.txt", raw))
    assert not isinstance(result, Skipped)
    assert result[0].chunks[0].text == "first\nsecond\nthird"
    assert result[1] == hashing.digest_bytes(raw).hex()


def test_an_empty_file_is_a_record_without_chunks(tmp_path: Path) -> None:
    for name in ("empty.py", "empty.md", "empty.txt", "empty.html", "empty.json"):
        result = read(write_file(tmp_path, name, b""))
        assert not isinstance(result, Skipped)
        assert (result[0].record.title, result[0].chunks) == (name, ())


def test_white_space_alone_is_one_chunk() -> None:
    for ending in TEXT_ENDINGS:
        (chunk,) = read_text(f"a{ending}", "\n \n" * 400).chunks
        assert chunk.text == "\n \n" * 400


def test_binary_files_are_refused_by_ending_or_content(tmp_path: Path) -> None:
    by_ending = read(FileEntry("a/b.PNG", "does-not-even-exist", 1, 1))
    assert by_ending == Skipped("a/b.PNG", "binary, by its extension")
    assert ".png" in BINARY_SUFFIXES
    by_content = read(write_file(tmp_path, "data.txt", b"\x00\x01\x02"))
    assert by_content == Skipped("data.txt", "binary: it holds zero bytes")


def test_a_file_that_vanished(tmp_path: Path) -> None:
    file = write_file(tmp_path, "a.txt", "x")
    (tmp_path / "a.txt").unlink()
    assert read(file) == Skipped("a.txt", "vanished before it could be read")
    assert compute_digest(file) == Skipped("a.txt", "vanished before it could be read")


def test_a_file_that_became_something_else_neither_blocks_nor_is_followed(tmp_path: Path) -> None:
    file = write_file(tmp_path, "a.txt", "x")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "a.txt").unlink()
    os.mkfifo(tmp_path / "a.txt")
    assert read(file) == Skipped("a.txt", "not a regular file any more")
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt").symlink_to("secret")
    assert isinstance(read(file), Skipped)
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt").mkdir()
    assert isinstance(read(file), Skipped)


def test_a_file_that_grew_beyond_the_limit(tmp_path: Path) -> None:
    file = write_file(tmp_path, "a.txt", "x")
    (tmp_path / "a.txt").write_text("x" * 11)
    limited = IngestSettings(max_bytes=10)
    assert read(file, limited) == Skipped(
        "a.txt", "11 bytes, over the limit of 10 ([ingest] max_bytes)"
    )


@pytest.mark.parametrize("change", ["first and more", "other", ""])
def test_a_file_that_changes_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    file = write_file(tmp_path, "a.txt", "first")
    fstat = os.fstat
    reads: list[int] = []

    def meddling(descriptor: int) -> os.stat_result:
        status = fstat(descriptor)
        if status.st_ino == Path(file.location).stat().st_ino and not reads:
            reads.append(descriptor)
            Path(file.location).write_text(change)
            os.utime(file.location, ns=(1, 1))
        return status

    monkeypatch.setattr(os, "fstat", meddling)
    assert read(file) == Skipped("a.txt", "changed while it was being read; index it again")
    assert reads


def test_a_title_and_author_from_anywhere_are_one_line() -> None:
    text = "---\ntitle: " + "long " * 100 + "\n---\nx"
    title = read_text("a.md", text).record.title
    assert len(title) <= 120
    assert title.endswith("…")


def test_reading_in_threads_gives_the_same(tmp_path: Path) -> None:
    texts = {
        f"{number}.md": f"# Title {number}\n\n" + "Words are here. " * 300 for number in range(8)
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = [file for file in walk(tmp_path) if isinstance(file, FileEntry)]
    alone = [read(file) for file in files]
    together: list[object] = [None] * len(files)

    def work(at: int) -> None:
        together[at] = read(files[at])

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(files))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone
