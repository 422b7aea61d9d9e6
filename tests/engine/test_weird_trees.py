"""Every file is either in the store or listed with a reason, whatever it is."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quire import IndexResult, ingest
from quire.core.types import FileEntry, IngestSettings
from quire.indexing import files

if TYPE_CHECKING:
    from tests.conftest import Tree


def skipped(result: IndexResult) -> dict[str, str]:
    return {one.path: one.reason for one in result.skipped}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xef\xbb\xbfna\xc3\xafve sailor\n", "naïve sailor\n"),
        ("naïve sailor\n".encode("utf-16"), "naïve sailor\n"),
        (b"\xfe\xff" + "naïve sailor\n".encode("utf-16-be"), "naïve sailor\n"),
        ("naïve sailor\n".encode("latin-1"), "naïve sailor\n"),
        (b"naive sailor\r\nsecond line\r\n", "naive sailor\nsecond line\n"),
        (b"naive sailor", "naive sailor"),
    ],
    ids=["UTF-8 with mark", "UTF-16 LE", "UTF-16 BE", "Latin-1", "CRLF", "no line end"],
)
def test_a_file_of_any_encoding_is_found_by_its_words(
    tree: Tree, content: bytes, text: str
) -> None:
    tree.write("note.txt", content)

    assert tree.index().skipped == ()
    assert tree.texts() == {"note.txt": text}
    assert tree.found("naive sailor") == ["note.txt"]


def test_the_encoding_of_a_file_takes_no_part_in_its_content(tree: Tree) -> None:
    roots = set()
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "latin-1"):
        tree.write("note.txt", "Ein schöner Übergang über die Brücke.\n".encode(encoding))
        tree.index()
        roots.add(tree.content_root())
    assert len(roots) == 1


def test_an_empty_file_and_one_of_blanks_are_kept_as_they_are(tree: Tree) -> None:
    tree.fill({"empty.md": b"", "blank.md": b"\n\n  \n", "note.md": "tide"})

    result = tree.index()

    assert result.skipped == ()
    assert tree.paths() == ["blank.md", "empty.md", "note.md"]
    assert tree.index().unchanged == 3


@pytest.fixture
def odd(tree: Tree) -> Tree:
    """A tree with one file of every kind that could stop a careless run."""
    tree.fill(
        {
            "good.md": "# Good\n\nThe ferry leaves at noon.\n",
            "sub/also.md": "# Also\n\nThe ferry comes back at dusk.\n",
            "binary.dat": bytes(range(256)) * 16,
            "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(64),
            "zeros.txt": bytes(4096),
            "broken.pdf": b"%PDF-1.7\nno more than this line\n",
            "broken.html": b"<html><body><p>The ferry <b>is late</body>" + b"<div>" * 200,
            "deep.md": "> " * 2000 + "the bottom\n",
            "long.md": "ferry" * 60_000 + "\n",
            "huge.md": "The ferry waits. " * 100_000,
            ".env": "PASSWORD=hunter2\n",
            "control.txt": b"\x01\x02\x03\x04" * 100,
        }
    )
    tree.write("quire.toml", "[ingest]\nmax_bytes = 1000000\nignore = ['quire.toml']\n")
    tree.write(os.fsdecode(b"caf\xe9.md"), "the ferry in another encoding\n")
    tree.write(os.fsdecode(b"d\xffr/inner.md"), "the ferry below a name that is not UTF-8\n")
    tree.write("n" * 250 + ".md", "a ferry with a long name\n")
    tree.write("/".join(["deep"] * 100) + "/leaf.md", "a ferry far below\n")
    tree.write("line\nbreak.md", "a ferry whose name has two lines\n")
    (tree.root / "loop").symlink_to(".")
    (tree.root / "self").symlink_to("self")
    (tree.root / "dangling").symlink_to("nowhere")
    (tree.root / "linked.md").symlink_to("good.md")
    os.mkfifo(tree.root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as bound, chdir(tree.root):
        bound.bind("socket.md")  # its whole path would be too long for a socket
    return tree


INDEXED = {
    "good.md",
    "sub/also.md",
    "broken.html",
    "deep.md",
    "long.md",
    "n" * 250 + ".md",
    "/".join(["deep"] * 100) + "/leaf.md",
    "line\nbreak.md",
}
SKIPPED = {
    "binary.dat": "",
    "picture.png": "binary",
    "zeros.txt": "",
    "broken.pdf": "",
    "huge.md": "over the limit of 1000000",
    ".env": "secret",
    "control.txt": "",
    "caf\\xe9.md": "not UTF-8",
    "d\\xffr": "not UTF-8",
    "loop": "symbolic link",
    "self": "symbolic link",
    "dangling": "symbolic link",
    "linked.md": "symbolic link",
    "pipe.md": "not a regular file",
    "socket.md": "not a regular file",
}


def test_nothing_aborts_the_run_and_each_file_is_accounted_for(odd: Tree) -> None:
    result = odd.index()

    assert set(odd.paths()) == INDEXED
    told = skipped(result)
    assert set(told) == set(SKIPPED)
    for path, reason in SKIPPED.items():
        assert told[path], path
        assert reason in told[path], path
    assert result.indexed == len(INDEXED)
    with odd.open() as opened:
        assert opened.store.check() == []
    again = odd.index()
    assert (again.indexed, again.unchanged) == (0, len(INDEXED))
    assert skipped(again) == told
    assert again.state_root == result.state_root


def test_the_command_says_the_same_of_an_odd_tree(odd: Tree) -> None:
    done = odd.run("index", "--no-embed")

    assert done.returncode == 0
    assert f"{len(INDEXED)} indexed" in done.stdout
    assert f"{len(SKIPPED)} skipped" in done.stdout
    assert "Traceback" not in done.stderr
    assert "skipped caf\\xe9.md, d\\xffr: its name is not UTF-8" in done.stderr


@pytest.fixture
def powerless(tree: Tree) -> list[str]:
    """The command, without the superuser's right to read everything."""
    if os.geteuid() != 0:
        return [tree.command]
    if not shutil.which("setpriv"):
        pytest.skip("there is no setpriv to give up the rights of the superuser")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", tree.command]


def test_what_may_not_be_read_is_listed(tree: Tree, powerless: list[str]) -> None:
    tree.fill({"good.md": "open", "closed.md": "shut", "vault/inner.md": "deep", "z.md": "end"})
    (tree.root / "closed.md").chmod(0)
    (tree.root / "vault").chmod(0)

    done = tree.run("index", "--no-embed", "--json", command=powerless)
    (tree.root / "vault").chmod(0o700)

    assert done.returncode == 0, done.stderr
    told = {one["path"]: one["reason"] for one in json.loads(done.stdout)["skipped"]}
    assert set(told) == {"closed.md", "vault"}
    assert all("cannot be read" in reason for reason in told.values())
    assert tree.paths() == ["good.md", "z.md"]


def test_what_may_not_be_read_for_a_while_stays(tree: Tree, powerless: list[str]) -> None:
    tree.fill({"good.md": "open", "closed.md": "shut", "vault/in/ner.md": "deep", "vaults.md": "v"})
    tree.index()
    held = tree.texts()
    for path in ("good.md", "closed.md", "vault/in/ner.md"):
        tree.write(path, "edited")
    (tree.root / "closed.md").chmod(0)
    (tree.root / "vault").chmod(0)
    tree.remove("vaults.md")

    fresh = tree.run("status", "--fresh", "--json", command=powerless)
    done = tree.run("index", "--no-embed", "--json", command=powerless)
    (tree.root / "closed.md").chmod(0o600)
    (tree.root / "vault").chmod(0o700)

    assert json.loads(fresh.stdout)["stale"] == {"new": 0, "changed": 1, "gone": 1}
    result = json.loads(done.stdout)
    assert (result["indexed"], result["removed"]) == (1, 1)
    assert [one["path"] for one in result["skipped"]] == ["closed.md", "vault"]
    del held["vaults.md"]
    assert tree.texts() == {**held, "good.md": "edited"}
    assert tree.index().indexed == 2
    assert set(tree.texts().values()) == {"edited"}


def test_a_file_that_changes_while_it_is_read_stays(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill({"a.md": "first", "b.md": "second"})
    tree.index()
    place = tree.write("b.md", "second, edited")
    fstat = os.fstat

    def meddling(descriptor: int) -> os.stat_result:
        status = fstat(descriptor)
        if status.st_ino == place.stat().st_ino:
            tree.write("b.md", f"{place.read_text()} again")
        return status

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", meddling)
        result = tree.index()

    assert skipped(result) == {"b.md": "changed while it was being read; index it again"}
    assert (result.indexed, result.removed) == (0, 0)
    assert tree.texts() == {"a.md": "first", "b.md": "second"}
    assert tree.index().indexed == 1


@pytest.mark.parametrize("again", [True, False])
def test_a_file_that_vanishes_for_a_moment_stays(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    tree.fill({"a.md": "first", "b.md": "second"})
    tree.index()
    tree.write("b.md", "second, edited")
    real = ingest.load

    def load(file: FileEntry, settings: IngestSettings) -> object:
        tree.remove("b.md")
        found = real(file, settings)
        if again:
            tree.write("b.md", "second, written anew")
        return found

    monkeypatch.setattr(files, "load", load)
    result = tree.index()

    assert skipped(result) == {"b.md": "vanished before it could be read"}
    assert result.removed == (0 if again else 1)
    assert tree.texts() == ({"a.md": "first", "b.md": "second"} if again else {"a.md": "first"})


def test_a_file_that_vanishes_during_the_run_does_not_abort_it(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill({"a.md": "first", "b.md": "second", "c.md": "third"})
    real = ingest.load

    def load(file: FileEntry, settings: IngestSettings) -> object:
        if file.path == "b.md":
            Path(file.location).unlink()
        return real(file, settings)

    monkeypatch.setattr(files, "load", load)
    result = tree.index()

    assert skipped(result) == {"b.md": "vanished before it could be read"}
    assert tree.paths() == ["a.md", "c.md"]


def test_a_hundred_megabytes_are_skipped_without_being_read(tree: Tree) -> None:
    place = tree.write("big.log", b"")
    os.truncate(place, 100 * 1024 * 1024)  # takes no room on the disk

    result = tree.index()

    assert "[ingest] max_bytes" in skipped(result)["big.log"]
    assert tree.paths() == []


def test_what_an_extra_has_read_stays_without_it(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill({"page.html": "<p>The crane lifts.", "note.md": "A note.\n"})
    tree.index()
    tree.write("page.html", "<p>The crane lifts again.")
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    result = tree.index()
    (skipped,) = result.skipped
    assert (skipped.path, skipped.is_temporary) == ("page.html", True)
    assert result.removed == 0
    assert tree.texts() == {"page.html": "The crane lifts.", "note.md": "A note.\n"}
    monkeypatch.undo()
    assert tree.index().indexed == 1
    assert "again" in tree.texts()["page.html"]
