"""What has not changed is not read again, also after a kill; what is gone is removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem

from quire.indexing import document_content
from quire.indexing.sources import bucket, folder
from quire.indexing.sync import MARKS
from quire.ingest.read import read_bytes as real_read_bytes
from tests.conftest import Tree

WORDS_ONLY = '[embed]\nprovider = "none"\n'
CHILD = """
import sys
import quire
from quire.indexing import put_documents

put_documents.BATCH_DOCUMENTS = 10
with quire.open(sys.argv[1]) as q:
    q.documents.sync(report=lambda progress: print(progress.done, flush=True))
    print("done", flush=True)
"""


def configure(tree: Tree, kind: str, outside: Path, more: str = "") -> None:
    location = f"file://{outside}" if kind == "bucket" else str(outside)
    path = 'path = "s/{id}"\n' if kind == "jsonl" else ""
    tree.write(
        "quire.toml",
        f'{WORDS_ONLY}[sources.s]\ntype = "{kind}"\nlocation = "{location}"\n{path}{more}',
    )
    tree.trust()


def write(place: Path, text: str, at: int) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    os.utime(place, (at, at))


def sync(tree: Tree, **options: Any) -> tuple[int, int, int, int]:
    with tree.open() as opened:
        done = opened.documents.sync(**options)["s"]
        assert done.complete
        return done.added, done.changed, done.unchanged, done.removed


def texts(tree: Tree) -> dict[str, str]:
    with tree.open() as opened:
        records = opened.documents.list(put_only=True)
        return {each.path: opened.documents.get(each.path).text for each in records}


@pytest.fixture(params=["folder", "bucket"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read, in order."""
    names: list[str] = []
    download, read = LocalFileSystem.cat_file, real_read_bytes

    def cat_file(self: LocalFileSystem, path: str, *args: Any, **options: Any) -> bytes:
        names.append(Path(path).name)
        data: bytes = download(self, path, *args, **options)
        return data

    def read_bytes(entry: Any, most: int) -> bytes:
        names.append(Path(entry.path).name)
        return read(entry, most)

    monkeypatch.setattr(LocalFileSystem, "cat_file", cat_file)
    monkeypatch.setattr(folder, "read_bytes", read_bytes)
    return names


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the documents that are built, in order."""
    paths: list[str] = []
    build = document_content.build

    def note(new: Any, *args: Any, **options: Any) -> Any:
        paths.append(new.path)
        return build(new, *args, **options)

    monkeypatch.setattr(document_content, "build", note)
    return paths


def test_only_what_changed_is_read(tree: Tree, tmp_path: Path, kind: str, reads: list[str]) -> None:
    outside = tmp_path / "outside"
    for number in range(4):
        write(outside / f"{number}.md", f"The pilot {number}.\n", 1000)
    configure(tree, kind, outside)
    assert sync(tree) == (4, 0, 0, 0)
    reads.clear()
    assert sync(tree) == (0, 0, 4, 0)
    assert reads == []
    write(outside / "1.md", "The dredge 1.\n", 2000)  # of the same size
    (outside / "2.md").unlink()
    assert sync(tree) == (0, 1, 2, 1)
    assert reads == ["1.md"]
    assert texts(tree)["s/1.md"] == "The dredge 1.\n"
    assert sync(tree, full=True) == (0, 0, 3, 0)
    assert reads == ["1.md", "0.md", "1.md", "3.md"]
    reads.clear()
    assert sync(tree) == (0, 0, 3, 0)
    assert reads == []


def test_an_older_file_in_the_place_of_a_new_one_is_read(
    tree: Tree, tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "outside" / "a.md"
    write(place, "The pilot.\n", 1000)
    configure(tree, kind, place.parent)
    assert sync(tree) == (1, 0, 0, 0)
    place.write_text("The dredger is late.\n")  # just now: it may change again in the same moment
    assert sync(tree) == (0, 1, 0, 0)
    write(place, "The pilot.\n", 1000)
    assert sync(tree) == (0, 1, 0, 0)
    assert texts(tree) == {"s/a.md": "The pilot.\n"}


def test_what_is_read_in_another_way_is_read_again(
    tree: Tree, tmp_path: Path, kind: str, reads: list[str]
) -> None:
    write(tmp_path / "outside" / "a.md", "The pilot.\n", 1000)
    configure(tree, kind, tmp_path / "outside")
    assert sync(tree) == (1, 0, 0, 0)
    for more in ('share = ["ana"]\n', "[ingest]\nwhole = 100\n"):
        reads.clear()
        configure(tree, kind, tmp_path / "outside", more)
        sync(tree)
        assert reads == ["a.md"]


def test_what_was_deleted_here_comes_back(tree: Tree, tmp_path: Path, kind: str) -> None:
    write(tmp_path / "outside" / "a.md", "The pilot.\n", 1000)
    write(tmp_path / "outside" / "b.md", "The dredger.\n", 1000)
    configure(tree, kind, tmp_path / "outside")
    sync(tree)
    with tree.open() as opened:
        opened.documents.delete("s/a.md")
    assert sync(tree) == (1, 0, 1, 0)
    with tree.open() as opened:
        opened.documents.drop_source("s")
        assert opened.store.stamps(under=MARKS) == {}
    assert sync(tree) == (2, 0, 0, 0)


def test_an_index_leaves_the_marks_alone(tree: Tree, tmp_path: Path, reads: list[str]) -> None:
    write(tmp_path / "outside" / "a.md", "The pilot.\n", 1000)
    configure(tree, "folder", tmp_path / "outside")
    tree.write("own.md", "The harbour.\n")
    sync(tree)
    reads.clear()
    with tree.open() as opened:
        assert opened.index().removed == 0
        assert opened.documents.stale() == {"new": 0, "changed": 0, "gone": 0}
        assert not opened.doctor()
    assert sync(tree) == (0, 0, 1, 0)
    assert reads == []


def test_two_lines_of_one_path(tree: Tree, tmp_path: Path) -> None:
    place = tmp_path / "all.jsonl"
    lines = [json.dumps({"id": 1, "content": text}) for text in ("The pilot.", "The dredger.")]
    write(place, "\n".join(lines), 1000)
    configure(tree, "jsonl", place)
    for _ in range(3):
        sync(tree)
        assert texts(tree) == {"s/1": "The dredger."}
    write(place, lines[0], 2000)
    sync(tree)
    assert texts(tree) == {"s/1": "The pilot."}


def test_lines_that_are_the_same_are_not_put_again(
    tree: Tree, tmp_path: Path, built: list[str]
) -> None:
    place = tmp_path / "all.jsonl"
    lines = [json.dumps({"id": n, "content": f"The pilot {n}."}) for n in range(5)]
    write(place, "\n".join(lines), 1000)
    configure(tree, "jsonl", place)
    assert sync(tree) == (5, 0, 0, 0)
    built.clear()
    lines[3] = json.dumps({"id": 3, "content": "The dredger."})
    write(place, "\n".join([*lines[1:], ""]), 2000)
    assert sync(tree) == (0, 1, 3, 1)
    assert built == ["s/3"]


def test_a_tag_counts_and_no_time_is_no_mark() -> None:
    mark = bucket._mark
    assert mark({"size": 3, "ETag": '"a"', "LastModified": 5}) != mark({"size": 3, "ETag": '"b"'})
    assert mark({"size": 3, "mtime": 5}) == "3 mtime 5"
    for facts in ({"size": 3}, {"size": 3, "mtime": 9e12}, {"size": 3, "mtime": "soon"}):
        assert mark(facts) == ""


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Path]:
    outside = tmp_path / "outside"
    for number in range(60):
        write(outside / f"{number:02}.md", f"The pilot {number}.\n", 1000 + number)
    yield outside
    fsspec.filesystem("file").clear_instance_cache()


@pytest.mark.parametrize("kind", ["folder", "bucket", "jsonl"])
def test_a_run_that_is_killed_goes_on(
    tree: Tree, files: Path, tmp_path: Path, kind: str, built: list[str]
) -> None:
    place = files
    if kind == "jsonl":
        place = tmp_path / "all.jsonl"
        rows = [{"id": each.name, "content": each.read_text()} for each in sorted(files.iterdir())]
        write(place, "".join(f"{json.dumps(row)}\n" for row in rows), 1000)
    configure(tree, kind, place)
    command = [sys.executable, "-c", CHILD, str(tree.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line == "30\n":
                child.kill()
                break
        assert "done" not in child.stdout.read()
    added, changed, unchanged, removed = sync(tree)
    assert len(built) <= 30, "what was written is not read again"
    assert (added + unchanged, changed, removed) == (60, 0, 0)
    with tree.open() as opened:
        root = opened.roots().content
        opened.documents.drop_source("s")
    assert sync(tree) == (60, 0, 0, 0)
    with tree.open() as opened:
        assert opened.roots().content == root
        assert not opened.doctor()
