"""Projects without a history, with a part of it, or with one that cannot be read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quire

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

    from .conftest import Repository


def cloned(repository: Repository, plant: Forest, *options: str) -> Tree:
    target = plant("clone")
    shutil.rmtree(target.root)
    repository.git("clone", "--quiet", *options, f"file://{repository.root}", str(target.root))
    (target.root / ".quire").mkdir()
    return target


def test_no_repository_is_no_news(tree: Tree) -> None:
    tree.write("a.md", "A\n")
    result = tree.index()
    assert (result.notes, result.commits) == ((), 0)


def test_no_commit_yet(repository: Repository) -> None:
    repository.write({"a.md": "A\n"})
    assert repository.index().notes == ("no git history: the repository has no commit yet",)
    repository.commit("Begin", {})
    assert repository.index().notes == ()
    repository.git("checkout", "--quiet", "--orphan", "fresh")
    assert repository.index().notes == ("no git history: the repository has no commit yet",)
    assert repository.commits() == {}


def test_git_is_not_installed(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    sha = repository.commit("Begin", {"a.md": "A\n"})
    repository.index()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(repository.root))
        result = repository.index()
        repository.tree.write("b.md", "B\n")
        assert repository.index().indexed == 1
    assert result.notes == ("no git history: the command `git` is not installed",)
    assert set(repository.commits()) == {sha}, "what is known stays"
    assert repository.times() == {"a.md": repository.time_of(sha), "b.md": None}


def test_a_detached_head(repository: Repository) -> None:
    first = repository.commit("Begin", {"a.md": "A\n"})
    repository.commit("Go on", {"a.md": "AA\n"})
    repository.git("checkout", "--quiet", "--detach", "HEAD~1")
    result = repository.index()
    assert result.notes == (f"HEAD is detached: the history of {first[:10]} is indexed",)
    assert set(repository.commits()) == {first}


def test_a_shallow_clone(repository: Repository, plant: Forest) -> None:
    shas = [repository.commit(f"Number {n}", {f"{n}.md": f"{n}\n"}) for n in range(5)]
    clone = cloned(repository, plant, "--depth=3")
    (note,) = clone.index().notes
    assert note.startswith("the clone is shallow: the 1 commits at its edge")
    held = {path for path in clone.paths() if path.startswith(".git/")}
    assert held == {f".git/commit/{sha}" for sha in shas[3:]}
    with clone.open() as opened:
        times = {record.path: record.modified for record in opened.documents.list()}
    assert times["0.md"] is None, "the edge seems to touch everything: that is not known"
    assert times["4.md"] == repository.time_of(shas[4])

    repository.git("-C", str(clone.root), "fetch", "--quiet", "--unshallow")
    assert clone.index().notes == ()
    assert len([path for path in clone.paths() if path.startswith(".git/")]) == 5
    with clone.open() as opened:
        times = {record.path: record.modified for record in opened.documents.list()}
    assert times["0.md"] == repository.time_of(shas[0])


def test_a_partial_clone_fetches_nothing(repository: Repository, plant: Forest) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    repository.commit("Change", {"a.md": "AA\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = cloned(repository, plant, "--filter=blob:none")
    before = sorted((clone.root / ".git" / "objects" / "pack").iterdir())
    result = clone.index()
    assert result.indexed == 1
    assert result.notes[0].startswith("no git history: git says: ")
    assert sorted((clone.root / ".git" / "objects" / "pack").iterdir()) == before


def test_a_bare_repository(repository: Repository, tmp_path: Path) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", str(repository.root), str(bare))
    with quire.open(bare, store=tmp_path / "store.db") as opened:
        (note,) = opened.index([bare], embed=False).notes
    assert note == f"no git history: {bare} is a bare repository: index a checkout of it"


@pytest.mark.parametrize("harm", ["empty", "head", "objects"])
def test_a_broken_repository(repository: Repository, harm: str) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    git = repository.root / ".git"
    if harm == "empty":
        shutil.rmtree(git)
        git.mkdir()
    elif harm == "head":
        (git / "HEAD").write_bytes(b"\0nonsense")
    else:
        shutil.rmtree(git / "objects")
        (git / "objects").mkdir()
    result = repository.index()
    assert result.indexed == 1
    (note,) = result.notes
    assert note.startswith("no git history: ")
    assert "Traceback" not in note


def test_an_object_is_lost(repository: Repository) -> None:
    """What could be read is kept; as soon as the rest is back, it is read too."""
    for n in range(3):
        repository.commit(f"Number {n}", {"a.md": f"{n}\n"})
    tree = repository.git("rev-parse", "HEAD~2^{tree}")
    place = repository.root / ".git" / "objects" / tree[:2] / tree[2:]
    data = place.read_bytes()
    place.unlink()
    (note,) = repository.index().notes
    assert note.startswith("no git history: git says: ")
    place.write_bytes(data)
    assert repository.index().notes == ()
    assert len(repository.commits()) == 3
    assert repository.tree.content_root() == repository.root_from_scratch()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
def test_a_repository_of_someone_else(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    for place in (repository.root, repository.root / ".git"):
        os.chown(place, 54321, 54321)
    (note,) = repository.index().notes
    assert note.startswith(f"no git history: {repository.root} belongs to someone else")
    assert "safe.directory" in note

    trusting = tmp_path / "gitconfig"
    trusting.write_text(f"[safe]\ndirectory = {repository.root}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(trusting))
    result = repository.index()
    assert (result.notes, result.commits) == ((), 1)


def test_a_second_work_tree(repository: Repository, plant: Forest) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    other = plant("other")
    shutil.rmtree(other.root)
    repository.git("worktree", "add", "--quiet", "-b", "side", str(other.root))
    (other.root / ".quire").mkdir()
    assert other.index().commits == 1


def test_a_folder_that_git_ignores(nested: Repository) -> None:
    nested.write({".gitignore": "part/\n", "part/a.md": "A\n"})
    nested.commit("Ignore it", {})
    result = nested.index()
    assert (result.notes, result.commits) == ((), 0)
    assert nested.times() == {"a.md": None}
