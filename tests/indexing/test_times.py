"""When files were modified, as far as git knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from quire.indexing import files

if TYPE_CHECKING:
    from .conftest import Repository

DATED = "---\ndate: 2020-02-02\n---\n# Dated\n"
FEBRUARY = 1_580_601_600


def test_files_have_the_time_of_the_last_commit_that_touched_them(repository: Repository) -> None:
    first = repository.commit("Begin", {"a.md": "A\n", "b.md": "B\n", "dated.md": DATED})
    second = repository.commit("Change", {"b.md": "BB\n", "dated.md": DATED + "More.\n"})
    repository.write({"untracked.md": "U\n", "a.md": "A, not yet committed\n"})
    repository.index()
    assert repository.times() == {
        "a.md": repository.time_of(first),
        "b.md": repository.time_of(second),
        "dated.md": FEBRUARY,
        "untracked.md": None,
    }


def test_a_new_commit_changes_times_and_nothing_is_read_for_that(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write({"a.md": "A\n", "b.md": "See [a](missing.md).\n", "dated.md": DATED})
    repository.index()
    assert repository.times() == {"a.md": None, "b.md": None, "dated.md": FEBRUARY}

    sha = repository.commit("All of them", {})
    monkeypatch.setattr(files, "load", None)
    result = repository.index()
    assert (result.indexed, result.unchanged) == (0, 3)
    time = repository.time_of(sha)
    assert repository.times() == {"a.md": time, "b.md": time, "dated.md": FEBRUARY}
    monkeypatch.undo()
    assert repository.tree.content_root() == repository.root_from_scratch()

    repository.git("rm", "--quiet", "--cached", "a.md")
    repository.git("commit", "--quiet", "--message=Not tracked any more")
    repository.index()
    assert repository.times()["a.md"] is None
    assert repository.tree.content_root() == repository.root_from_scratch()


def test_a_file_that_begins_to_say_its_time_itself(repository: Repository) -> None:
    repository.commit("Begin", {"a.md": "# Undated\n"})
    repository.index()
    last = repository.commit("Date it", {"a.md": DATED})
    repository.index()
    assert repository.times() == {"a.md": FEBRUARY}
    repository.write({"a.md": "# Undated again\n"})
    repository.index()
    assert repository.times() == {"a.md": repository.time_of(last)}


def test_a_merge_counts_only_for_what_it_resolves(repository: Repository) -> None:
    repository.commit("Begin", {"a.md": "A\n", "b.md": "B\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    side = repository.commit("Side", {"a.md": "side\n", "b.md": "side\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit("Main", {"a.md": "main\n"})
    repository.git("merge", "--quiet", "side", check=False)
    merge = repository.commit("Resolve", {"a.md": "both\n"})
    repository.index()
    assert repository.times() == {
        "a.md": repository.time_of(merge),
        "b.md": repository.time_of(side),
    }


def test_a_merge_of_a_part(nested: Repository) -> None:
    nested.commit("Begin", {"part/a.md": "A\n", "part/b.md": "B\n", "x.md": "X\n"})
    nested.git("checkout", "--quiet", "-b", "side")
    side = nested.commit("Side", {"part/a.md": "side\n", "part/b.md": "side\n", "x.md": "side\n"})
    nested.git("checkout", "--quiet", "main")
    nested.commit("Main", {"part/a.md": "main\n", "x.md": "main\n"})
    nested.git("merge", "--quiet", "side", check=False)
    merge = nested.commit("Resolve", {"part/a.md": "both\n", "x.md": "both\n"})
    nested.index()
    assert nested.times() == {"a.md": nested.time_of(merge), "b.md": nested.time_of(side)}


def test_a_clock_that_ran_backwards(repository: Repository) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    late = repository.commit("Late", {"a.md": "AA\n"})
    repository.index()
    repository.time -= 100_000
    repository.commit("Early", {"a.md": None})
    repository.index()
    repository.commit("Early again", {"a.md": "Back\n"})
    repository.index()
    assert repository.times() == {"a.md": repository.time_of(late)}
    assert repository.tree.content_root() == repository.root_from_scratch()


def test_the_time_on_disk_stands_in_where_git_has_none(repository: Repository) -> None:
    repository.tree.write("quire.toml", "[ingest]\nuse_mtime = true\n")
    repository.tree.write("a.md", "A\n")
    disk = 1_500_000_002
    repository.index()
    assert repository.times()["a.md"] == disk
    sha = repository.commit("Track it", {})
    repository.index()
    assert repository.times()["a.md"] == repository.time_of(sha)
    repository.git("rm", "--quiet", "--cached", "a.md")
    repository.git("commit", "--quiet", "--message=Forget it")
    repository.index()
    assert repository.times()["a.md"] == disk
    assert repository.tree.content_root() == repository.root_from_scratch()


def test_without_history_git_gives_no_times(repository: Repository) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    repository.index(history=0)
    assert (repository.times(), repository.commits()) == ({"a.md": None}, {})
