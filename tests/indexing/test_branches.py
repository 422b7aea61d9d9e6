"""Switching branches and worktrees: what differs is read, and what comes back has its vector."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quire
from quire import IndexResult
from quire.core.types import FileEntry, IngestSettings
from quire.errors import InputError
from quire.indexing import files
from quire.indexing.project import Project

from .conftest import Repository

if TYPE_CHECKING:
    from tests.conftest import Tree


class Counted:
    """An embedder of eight dimensions that remembers the texts that it embedded."""

    model = "counted/8"
    dims = 8

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.texts += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> bytes:
        return bytes(byte % 100 for byte in hashlib.sha256(text.encode()).digest()[:8])

    def close(self) -> None:
        """Hold nothing."""

    def take(self) -> list[str]:
        texts, self.texts = self.texts, []
        return texts


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    monkeypatch.setattr(Project, "embedder", lambda _: counted)
    return counted


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    met: list[str] = []
    real: Callable[[FileEntry, IngestSettings], object] = vars(files)["load"]

    def watched(file: FileEntry, settings: IngestSettings) -> object:
        met.append(file.path)
        return real(file, settings)

    monkeypatch.setattr(files, "load", watched)
    return met


def index(tree: Tree) -> IndexResult:
    with tree.open() as opened:
        return opened.index()


def paths(opened: quire.Quire) -> set[str]:
    return {record.path for record in opened.documents.list()}


def make_branches(repository: Repository) -> None:
    shared = {f"notes/{number}.md": f"Note {number} is on every branch.\n" for number in range(20)}
    repository.commit("Begin", {**shared, "plan.md": "The plan of the main branch.\n"})
    repository.git("switch", "--quiet", "--create", "feature")
    repository.commit(
        "Change the plan",
        {"plan.md": "The plan of the feature.\n", "extra.md": "Only here.\n", "notes/3.md": None},
    )
    repository.git("switch", "--quiet", "main")


def test_a_switch_reads_what_differs_and_embeds_a_text_once(
    repository: Repository, embedder: Counted, reads: list[str]
) -> None:
    make_branches(repository)
    first = index(repository.tree)
    assert first.indexed == 21
    assert len(embedder.take()) == first.chunks == 22, "the commit is one of them"
    reads.clear()

    repository.git("switch", "--quiet", "feature")
    there = index(repository.tree)
    assert sorted(reads) == ["extra.md", "plan.md"]
    assert (there.indexed, there.removed) == (2, 1)
    assert len(embedder.take()) == there.vectors == 3, "two files and a commit"
    reads.clear()

    for branch, differing in (("main", ["notes/3.md", "plan.md"]), ("feature", ["extra.md"])):
        repository.git("switch", "--quiet", branch)
        back = index(repository.tree)
        assert set(differing) <= set(reads) <= {"extra.md", "notes/3.md", "plan.md"}
        assert embedder.take() == []
        assert (back.vectors, back.missing_vectors) == (0, 0)
        with repository.tree.open() as opened:
            assert opened.doctor() == []
        reads.clear()


def test_the_store_is_the_one_that_was_made_on_the_branch(repository: Repository) -> None:
    make_branches(repository)
    repository.index()
    repository.git("switch", "--quiet", "feature")
    repository.index()
    repository.git("switch", "--quiet", "main")
    repository.index()
    with repository.tree.open() as opened:
        assert opened.status().roots.content == repository.root_from_scratch()


def test_status_names_the_branch_that_was_indexed(repository: Repository) -> None:
    make_branches(repository)
    repository.index()
    with repository.tree.open() as opened:
        assert opened.status().branch == "main"
        assert opened.status("alice").branch is None
        repository.git("switch", "--quiet", "feature")
        assert opened.status().branch == "main", "until it is indexed again"
        opened.index(embed=False)
        assert opened.status().branch == "feature"
        assert opened.documents.history() == (repository.head(), 2)
        repository.git("checkout", "--quiet", "--detach")
        opened.index(embed=False)
        assert opened.status().branch is None
        repository.git("switch", "--quiet", "--create", "same-commit")
        opened.index(embed=False)
        assert opened.status().branch == "same-commit"


def test_without_a_repository_there_is_no_branch(tree: Tree) -> None:
    tree.write("note.md", "No repository.\n")
    with tree.open() as opened:
        opened.index(embed=False)
        assert opened.status().branch is None


def test_a_worktree_has_a_store_of_its_own(repository: Repository, tmp_path: Path) -> None:
    make_branches(repository)
    repository.index()
    other = tmp_path / "other"
    repository.git("worktree", "add", "--quiet", str(other), "feature")
    with quire.open(other) as opened:
        opened.index(embed=False)
        assert opened.status().branch == "feature"
        assert "extra.md" in paths(opened)
    with repository.tree.open() as opened:
        assert opened.status().branch == "main"
        assert "extra.md" not in paths(opened)


def test_a_store_that_two_worktrees_are_to_share_is_refused(
    repository: Repository, tmp_path: Path
) -> None:
    make_branches(repository)
    other, store = tmp_path / "other", tmp_path / "shared.db"
    repository.git("worktree", "add", "--quiet", str(other), "feature")
    with quire.open(repository.root, store=store) as opened:
        opened.index([repository.root], embed=False)
        content = opened.status().roots.content
    with (
        quire.open(other, store=store) as opened,
        pytest.raises(InputError, match=r"(?s)other.*") as refused,
    ):
        opened.index([other], embed=False)
    assert str(repository.root) in str(refused.value)
    with quire.open(repository.root, store=store) as opened:
        assert opened.status().roots.content == content
