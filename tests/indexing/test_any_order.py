"""A store holds the same, whatever became of the history on the way there."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from quire.core.types import ALL
from tests.conftest import Tree

from .conftest import Repository

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("a.md", "b.py", "deep/c.md", "deep/d.txt")
PLACES = (*NAMES, "e.md", "deep/f.py", "deep/g.md")
numbers = count()

Deed = Callable[..., None]
"""What people do to repositories; what is not possible just then is not done."""


def write(repository: Repository, one: str, _: str) -> None:
    repository.commit(f"Write {one}", {one: f"{one}\n" * 12 + f"{repository.time}\n"})


def move(repository: Repository, one: str, other: str) -> None:
    if (repository.root / one).exists():
        (repository.root / other).parent.mkdir(exist_ok=True)
        repository.git("mv", "--force", one, other, check=False)
        repository.commit(f"Move {one} to {other}", {})


def delete(repository: Repository, one: str, _: str) -> None:
    if (repository.root / one).exists():
        repository.commit(f"Delete {one}", {one: None})


def branch(repository: Repository, *_: str) -> None:
    repository.git("checkout", "--quiet", "-B", "side")


def merge(repository: Repository, *_: str) -> None:
    repository.git("merge", "--quiet", "--no-edit", "-X", "ours", "main", check=False)
    repository.git("merge", "--abort", check=False)


def amend(repository: Repository, *_: str) -> None:
    repository.git("commit", "--quiet", "--amend", "--message=Amended", check=False)


def back(repository: Repository, *_: str) -> None:
    repository.git("checkout", "--quiet", "main", check=False)
    repository.git("reset", "--quiet", "--hard", "HEAD~1", check=False)


def rebase(repository: Repository, *_: str) -> None:
    repository.git("rebase", "--quiet", "-X", "theirs", "main", check=False)
    repository.git("rebase", "--abort", check=False)


def clock(repository: Repository, *_: str) -> None:
    repository.time -= 1000


DEEDS = (write, move, move, move, delete, branch, merge, amend, back, rebase, clock)


@settings(
    max_examples=10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    deeds=st.lists(
        st.tuples(st.sampled_from(DEEDS), st.sampled_from(PLACES), st.sampled_from(PLACES)),
        min_size=6,
        max_size=12,
    ),
    limits=st.lists(st.sampled_from([ALL, ALL, 0, 2, 5, None]), min_size=12, max_size=12),
    folder=st.sampled_from(["", "deep"]),
)
def test_any_history_gives_what_indexing_anew_gives(
    tmp_path: Path, deeds: list[tuple[Deed, str, str]], limits: list[int | None], folder: str
) -> None:
    root = tmp_path / str(next(numbers))
    tree = Tree(root / folder)
    repository = Repository(root, tree)
    repository.commit("Begin", {name: f"{name}\n" * 12 for name in NAMES})
    limit = ALL
    for (deed, *names), wanted in zip(deeds, limits, strict=False):
        deed(repository, *names)
        if wanted is not None:
            limit = wanted
            repository.index(history=limit)
    repository.index(history=limit)
    assert tree.content_root() == repository.root_from_scratch(history=limit)
    with tree.open() as opened:
        assert opened.store.check() == []
