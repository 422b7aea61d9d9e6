"""A commit is found by its hash, in full or by its beginning."""

from __future__ import annotations

import subprocess

import pytest

from quire import Quire
from tests.conftest import Tree
from tests.recipes.world import commit

MESSAGES = ("Let herons wade", "Paint the boat house", "Count the geese")


@pytest.fixture
def hashes(tree: Tree) -> list[str]:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    for at, message in enumerate(MESSAGES):
        commit(tree, {f"file{at}.txt": f"{at}\n"}, message, 1_700_000_000 + at)
    tree.index()
    log = subprocess.run(
        ["git", "log", "--reverse", "--format=%H"], cwd=tree.root, capture_output=True, check=True
    )
    return log.stdout.decode().split()


def titles(quire: Quire, query: str, **options: object) -> list[object]:
    page = quire.assemble(query, recipe="agent", allow_empty=True, **options)  # type: ignore[arg-type]
    return [item.about["sha"] for item in page.items if item.kind == "commit"]


@pytest.mark.parametrize("length", [40, 12, 7])
def test_a_hash_finds_its_commit(tree: Tree, hashes: list[str], length: int) -> None:
    with tree.open() as quire:
        for sha in hashes:
            named = sha[:length]
            if not any(char.isdigit() for char in named):
                continue
            assert titles(quire, f"What did {named} change?") == [sha]
            assert titles(quire, f"What did {named.upper()} change?") == [sha]
            assert sha in quire.assemble(f"explain {named}").sources[0].path


def test_other_words_and_hashes_find_none(tree: Tree, hashes: list[str]) -> None:
    with tree.open() as quire:
        for query in (hashes[0][:6], f"x{hashes[0][:12]}", f"{hashes[0][:12]}-x", "0" * 40):
            assert titles(quire, query) == []
