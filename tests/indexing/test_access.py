"""A commit is hidden from whoever may not read all of its paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Repository

RULES = '[access]\n"hr/**" = "@hr"\n"secret.md" = "owner"\n[groups]\nhr = ["hana"]\n'
LINES = "".join(f"line {n}\n" for n in range(20))


@pytest.fixture
def guarded(repository: Repository) -> Repository:
    repository.tree.write("quire.toml", RULES)
    return repository


def test_all_paths_must_be_readable(guarded: Repository) -> None:
    open_ = guarded.commit("Open", {"a.md": "A\n"})
    closed = guarded.commit("Closed", {"hr/pay.md": "P\n"})
    both = guarded.commit("Both", {"a.md": "AA\n", "hr/pay.md": "PP\n"})
    secret = guarded.commit("Secret", {"secret.md": "S\n", "a.md": "AAA\n"})
    moved = guarded.commit("Moved out", {"hr/pay.md": None, "pay.md": "PP\n"})
    guarded.index()

    assert set(guarded.commits()) == {open_, closed, both, secret, moved}
    assert set(guarded.commits("hana")) == {open_, closed, both, moved}
    assert set(guarded.commits("gast")) == {open_}
    assert guarded.tree.found("Both", "gast") == []
    assert guarded.tree.found("Both", "hana") == [f".git/commit/{both}"]


def test_ten_thousand_files_and_one_of_them_hidden(guarded: Repository) -> None:
    guarded.tree.write(".quireignore", "m/\n")
    files: dict[str, str | bytes | None] = {f"m/{n}.md": "x\n" for n in range(10_000)}
    sha = guarded.commit("Very many", {**files, "zz/open.md": "o\n", "secret.md": "s\n"})
    guarded.index()
    assert len(guarded.commits()[sha].paths) == 10_004
    assert len(guarded.text(sha)) < 2000
    assert guarded.commits("gast") == {}
    guarded.tree.write("quire.toml", "")
    assert set(guarded.commits("gast")) == {sha}


def test_where_a_file_went_is_not_told(guarded: Repository) -> None:
    """Histories that differ only in a name that is hidden are one and the same to others."""
    guarded.commit("Begin", {"a.md": LINES, "b.md": "B\n"})
    guarded.commit("Go on", {"b.md": "BB\n", "hr/pay.md": "P\n"})
    seen = guarded.commit("And on", {"b.md": "BBB\n"})
    roots = set()
    for name in ("hr/one.md", "hr/other.md"):
        guarded.git("mv", "a.md", name)
        guarded.commit("Hide", {})
        guarded.index()
        with guarded.tree.open() as opened:
            roots.add(opened.status("gast").roots)
        assert set(guarded.commits("gast")) == {seen}
        guarded.git("reset", "--quiet", "--hard", "HEAD~1")
    assert len(roots) == 1
