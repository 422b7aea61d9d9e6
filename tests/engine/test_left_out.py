"""Settings, and what a file has become, decide whether and how it is indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .conftest import SENTENCE, THREE

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

PRIVATE_KEY = (
    "-----BEGIN RSA " + "PRIVATE KEY-----\n"  # in two parts: this file holds no key
    "MIIEpAIBAAKCAQEAx7Vb9Qm2Lz4kP0sT8uWyE3rN6cHjF5gD1aKiOoXvBnMlQwEr\n"
    "-----END RSA " + "PRIVATE KEY-----\n"
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"GIF89a" + bytes(range(256)) * 4, "image"),
        (bytes(range(256)) * 8, ""),
    ],
    ids=["an image", "bytes"],
)
def test_a_file_that_becomes_unfit_is_taken_out_and_listed(
    tree: Tree, content: bytes, reason: str
) -> None:
    tree.fill(THREE)
    tree.index()
    tree.write("docs/guide.md", content)

    result = tree.index()

    assert result.removed == 1
    assert [skipped.path for skipped in result.skipped] == ["docs/guide.md"]
    assert reason in result.skipped[0].reason
    assert tree.paths() == ["readme.md", "src/crane.py"]
    assert tree.found("bollard") == []


def test_a_file_that_becomes_too_large_is_taken_out_and_listed(tree: Tree) -> None:
    tree.fill(THREE)
    tree.index()
    tree.write("quire.toml", "[ingest]\nmax_bytes = 30\n")

    result = tree.index()

    assert {skipped.path: skipped.reason for skipped in result.skipped} == {
        path: f"{len(THREE[path])} bytes, over the limit of 30 ([ingest] max_bytes)"
        for path in ("docs/guide.md", "readme.md", "src/crane.py")
        if len(THREE[path]) > 30
    }
    assert tree.paths() == []


@pytest.mark.parametrize("file", [".gitignore", ".quireignore"])
def test_a_file_that_becomes_ignored_is_taken_out(tree: Tree, file: str) -> None:
    tree.fill(THREE)
    tree.index()
    tree.write(file, "docs/\n*.py\n")

    assert tree.index().removed == 2
    assert tree.paths() == [file, "readme.md"]

    tree.remove(file)
    assert tree.index().indexed == 2
    assert tree.paths() == sorted(THREE)


def test_more_can_be_ignored_by_the_settings(tree: Tree) -> None:
    tree.fill(THREE)
    tree.index()
    tree.write("quire.toml", '[ingest]\nignore = ["src/", "quire.toml"]\n')

    assert tree.index().removed == 1
    assert tree.paths() == ["docs/guide.md", "readme.md"]


def test_the_store_does_not_index_itself(tree: Tree) -> None:
    tree.fill({**THREE, "quire.toml": 'store = "data/knowledge.txt"\n'})

    result = tree.index()

    assert (tree.root / "data/knowledge.txt").is_file()
    assert result.skipped == ()
    assert tree.paths() == sorted(THREE)
    assert tree.index().unchanged == 3


def test_other_chunk_settings_cut_everything_anew(tree: Tree, plant: Forest) -> None:
    files = {f"note{n}.md": f"# Note {n}\n\n{SENTENCE * 40}" for n in range(3)}
    tree.fill(files)
    coarse = tree.index()
    settings = "[ingest]\nwhole = 200\ntarget = 200\nignore = ['quire.toml']\n"
    tree.write("quire.toml", settings)
    other = plant("other", {**files, "quire.toml": settings})

    fine = tree.index()

    assert fine.indexed == 3
    assert fine.chunks > coarse.chunks
    other.index()
    assert tree.content_root() == other.content_root()
    assert tree.index().unchanged == 3


def test_other_chunk_settings_reach_what_a_sub_path_left_out(tree: Tree, plant: Forest) -> None:
    files = {f"old/note{n}.md": f"# Note {n}\n\n{SENTENCE * 40}" for n in range(2)}
    tree.fill(files)
    tree.index()
    settings = "[ingest]\nwhole = 200\ntarget = 200\nignore = ['quire.toml']\n"
    tree.write("quire.toml", settings)
    added = {"new/note.md": f"# New\n\n{SENTENCE * 40}"}
    tree.fill(added)
    other = plant("other", {**files, **added, "quire.toml": settings})

    tree.index("new")
    tree.index()

    other.index()
    assert tree.content_root() == other.content_root()


def test_settings_that_come_back_cut_anew_what_was_cut_otherwise(tree: Tree) -> None:
    tree.fill({f"{part}/note.md": f"# Note\n\n{SENTENCE * 40}" for part in ("one", "two")})
    tree.index()
    before = tree.content_root()
    tree.write("quire.toml", "[ingest]\nwhole = 200\ntarget = 200\nignore = ['quire.toml']\n")
    tree.index("one")
    assert tree.content_root() != before
    tree.remove("quire.toml")

    tree.index()

    assert tree.content_root() == before


def test_a_secret_that_was_let_in_goes_when_it_no_longer_is(tree: Tree) -> None:
    tree.fill({"deploy.md": f"# Deploy\n\n{PRIVATE_KEY}", ".env": "PASSWORD=hunter2\n"})
    tree.write("quire.toml", "[ingest]\nsecrets = true\nignore = ['quire.toml']\n")
    tree.trust()
    assert tree.index().skipped == ()
    assert tree.paths() == [".env", "deploy.md"]
    tree.remove("quire.toml")

    result = tree.index()

    assert result.removed == 1
    assert [skipped.path for skipped in result.skipped] == [".env"]
    assert [(found.path, found.line) for found in result.redacted] == [("deploy.md", 3)]
    assert tree.paths() == ["deploy.md"]
    assert tree.found("MIIEpAIBAAKCAQEAx7Vb9Qm2Lz4kP0sT8uWyE3rN6cHjF5gD1aKiOoXvBnMlQwEr") == []
    assert tree.found("redacted") == ["deploy.md"]
