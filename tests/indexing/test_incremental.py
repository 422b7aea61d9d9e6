"""Only what is new is read, and what is gone is removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pytest

import quire
from quire import Quire
from quire.core.types import ALL, Progress
from quire.indexing import git_history
from quire.ingest import git
from quire.store.sql.writer import SqlWriter

if TYPE_CHECKING:
    from .conftest import Repository


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commits that git was asked for, in order."""
    asked: list[str] = []
    real = git.read_commits

    def watched(found: git.Repository, shas: Iterable[str]) -> Iterator[git.Commit]:
        wanted = list(shas)
        asked.extend(wanted)
        return real(found, wanted)

    monkeypatch.setattr(git, "read_commits", watched)
    return asked


def same_as_from_scratch(repository: Repository, *, limit: int | None = None) -> bool:
    return repository.tree.content_root() == repository.root_from_scratch(history=limit)


def test_only_new_commits_are_read(repository: Repository, read: list[str]) -> None:
    first = [repository.commit(f"Number {n}", {"a.md": f"{n}\n"}) for n in range(4)]
    assert repository.index().commits == 4
    assert read == first[::-1]

    read.clear()
    last = repository.commit("Another", {"b.md": "B\n"})
    assert repository.index().commits == 1
    assert read == [last]
    assert same_as_from_scratch(repository)


def test_as_long_as_nothing_moves_git_is_asked_once(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    repository.index()
    root = repository.tree.content_root()

    asked: list[str] = []
    real = git._build_command

    def watched(*arguments: str) -> list[str]:
        asked.append(" ".join(arguments))
        return real(*arguments)

    monkeypatch.setattr(git, "_build_command", watched)
    repository.tree.write("b.md", "Not committed.\n")
    result = repository.index()
    assert (result.indexed, result.commits) == (1, 0)
    assert [command.split()[0] for command in asked] == ["rev-parse"]
    repository.tree.remove("b.md")
    repository.index()
    assert repository.tree.content_root() == root


def test_an_amended_commit_replaces_the_old_one(repository: Repository) -> None:
    kept = repository.commit("Begin", {"a.md": "A\n"})
    old = repository.commit("Wrong", {"b.md": "B\n"})
    repository.index()
    repository.git("commit", "--quiet", "--amend", "--message=Right")
    new = repository.head()
    assert repository.index().commits == 1
    assert set(repository.commits()) == {kept, new}
    assert old not in repository.commits()
    assert repository.tree.found("Wrong") == []
    assert same_as_from_scratch(repository)


def test_a_rebase_takes_out_what_is_gone(repository: Repository) -> None:
    base = repository.commit("Begin", {"a.md": "A\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    sides = [repository.commit(f"Side {n}", {f"side{n}.md": "S\n"}) for n in range(3)]
    repository.index()
    assert set(repository.commits()) == {base, *sides}

    repository.git("checkout", "--quiet", "main")
    main = repository.commit("Main", {"main.md": "M\n"})
    repository.git("checkout", "--quiet", "side")
    repository.git("rebase", "--quiet", "main")
    assert repository.index().commits == 4
    now = set(repository.commits())
    assert {base, main} < now
    assert not now & set(sides)
    assert len(now) == 5
    assert same_as_from_scratch(repository)


def test_another_branch_and_back(repository: Repository) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("Side", {"a.md": "S\n"})
    repository.index()
    root = repository.tree.content_root()
    repository.git("checkout", "--quiet", "main")
    repository.index()
    assert same_as_from_scratch(repository)
    assert len(repository.commits()) == 1
    repository.git("checkout", "--quiet", "side")
    repository.index()
    assert repository.tree.content_root() == root


@pytest.mark.parametrize("limits", [(2, 5, 3), (ALL, 0, 1), (0, ALL), (5, ALL)])
def test_limits(repository: Repository, limits: tuple[int, ...]) -> None:
    shas = [repository.commit(f"Number {n}", {"a.md": f"{n}\n"}) for n in range(6)][::-1]
    for limit in limits:
        repository.index(history=limit)
        assert set(repository.commits()) == set(shas if limit == ALL else shas[:limit])
        assert same_as_from_scratch(repository, limit=limit)


def test_a_window_moves_on(repository: Repository, read: list[str]) -> None:
    shas = [repository.commit(f"Number {n}", {"a.md": f"{n}\n"}) for n in range(4)]
    told = repository.index(history=3)
    assert "the newest 3 commits are kept" in told.notes[0]
    read.clear()
    shas.append(repository.commit("Next", {"a.md": "next\n"}))
    assert repository.index(history=3).notes == ()
    assert read == [shas[-1]]
    assert set(repository.commits()) == set(shas[-3:])


def test_a_lower_limit_says_what_it_removed(repository: Repository) -> None:
    for n in range(5):
        repository.commit(f"Number {n}", {"a.md": f"{n}\n"})
    repository.index(history=5)
    (note,) = repository.index(history=2).notes
    assert note.startswith("commits before the newest 2 were removed: 3 ")


def test_renames_are_followed_whenever_they_come(repository: Repository, read: list[str]) -> None:
    text = "".join(f"line {n}\n" for n in range(20))
    first = repository.commit("Begin", {"old.md": text, "other.md": "O\n"})
    repository.index()
    assert repository.touched(first) == {"old.md", "other.md"}

    repository.git("mv", "old.md", "middle.md")
    second = repository.commit("Move", {})
    assert repository.index().commits == 1
    assert repository.touched(first) == {"middle.md", "other.md"}
    assert repository.touched(second) == {"middle.md"}
    assert same_as_from_scratch(repository)

    repository.git("mv", "middle.md", "src.py")
    third = repository.commit("Move again", {"src.py": text + "and more\n"})
    read.clear()
    repository.index()
    assert read == [third], "older commits are linked anew without asking git"
    for sha in (first, second, third):
        assert "src.py" in repository.touched(sha)
    assert repository.commits()[first].paths == ("old.md", "other.md", "src.py")
    assert repository.commits()[third].attrs["renamed"] == '[["middle.md", "src.py"]]'
    assert same_as_from_scratch(repository)

    repository.git("reset", "--quiet", "--hard", "HEAD~2")
    repository.index()
    assert repository.touched(first) == {"old.md", "other.md"}
    assert repository.commits()[first].paths == ("old.md", "other.md")
    assert same_as_from_scratch(repository)


def test_a_name_that_is_used_again(repository: Repository) -> None:
    one, two = "".join(f"one {n}\n" for n in range(9)), "".join(f"two {n}\n" for n in range(9))
    first = repository.commit("Begin", {"a.md": one})
    repository.git("mv", "a.md", "b.md")
    repository.commit("Move", {})
    other = repository.commit("Another file under the old name", {"a.md": two})
    repository.index()
    assert repository.touched(first) == {"b.md"}
    assert repository.touched(other) == {"a.md"}

    repository.git("mv", "a.md", "c.md")
    repository.commit("Move that one too", {})
    repository.index()
    assert repository.touched(first) == {"b.md"}
    assert repository.touched(other) == {"c.md"}


def test_a_repository_that_is_gone(repository: Repository) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    repository.index()
    (repository.root / ".git").rename(repository.root.parent / "elsewhere")
    result = repository.index()
    assert (result.commits, result.notes) == (0, ())
    assert repository.commits() == {}
    assert repository.times() == {"a.md": None}
    with repository.tree.open() as opened:
        assert opened.documents.history() is None
    assert same_as_from_scratch(repository)


def test_each_transaction_may_be_the_last(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(7):
        repository.commit(f"Number {n}", {f"{n}.md": f"{n}\n", "all.md": f"{n}\n"})
    repository.index()
    repository.git("reset", "--quiet", "--hard", "HEAD~4")
    repository.git("mv", "0.md", "moved.md")
    for n in range(5):
        repository.commit(f"Again {n}", {f"{n}.md": f"again {n}\n"})
    wanted = repository.root_from_scratch()
    monkeypatch.setattr(git_history, "BATCH_COMMITS", 2)

    ended = 0
    real = Quire.index
    ends = SqlWriter.close
    writes, limit = 0, 1

    def counted(writer: SqlWriter) -> None:
        nonlocal writes
        ends(writer)
        writes += 1
        if writes == limit:
            raise KeyboardInterrupt

    for limit in range(1, 40):  # noqa: B007 - it is read by `counted`
        writes = 0
        with monkeypatch.context() as patch:
            patch.setattr(SqlWriter, "close", counted)
            try:
                with quire.open(repository.tree.root) as opened:
                    real(opened, embed=False)
                break
            except KeyboardInterrupt:
                ended += 1
    assert ended > 4, "it was stopped at several places"
    repository.index()
    assert repository.tree.content_root() == wanted


def test_progress_is_told(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(5):
        repository.commit(f"Number {n}", {"a.md": f"{n}\n"})
    monkeypatch.setattr(git_history, "BATCH_COMMITS", 2)
    told: list[Progress] = []
    with repository.tree.open() as opened:
        opened.index(embed=False, report=told.append)
    past = [(one.done, one.total) for one in told if one.stage == "history"]
    assert past == [(0, 5), (2, 5), (4, 5), (5, 5)]
