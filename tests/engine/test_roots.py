"""Equal directories have equal roots, whatever happened to them before."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from .conftest import THREE

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree
    from tests.engine.conftest import Watched


def test_taking_everything_back_gives_the_root_of_an_empty_tree(tree: Tree, plant: Forest) -> None:
    tree.fill(THREE)
    tree.index()
    for path in ("readme.md", "docs", "src"):
        tree.remove(path)
    empty = plant("empty")

    assert tree.index().removed == 3
    empty.index()
    assert tree.content_root() == empty.content_root()


def test_equal_content_gives_equal_roots(plant: Forest, tree: Tree) -> None:
    tree.fill(THREE)
    tree.index()
    other = plant("some where/élse/deep")
    for path in reversed(THREE):
        other.write(path, THREE[path] + "to be changed")
    other.write("extra.md", "to be removed")
    other.index("src")
    other.index()
    other.remove("extra.md")
    for path, text in THREE.items():
        place = other.write(path, text)
        os.utime(place, (1_300_000_000, 1_300_000_000))
        other.index(path)
    other.index()

    assert other.content_root() == tree.content_root()
    with other.open() as one, tree.open() as two:
        assert one.search("rope") == two.search("rope")


@pytest.mark.model
def test_equal_content_and_vectors_give_equal_state_roots(
    plant: Forest, tree: Tree, model: Watched
) -> None:
    tree.fill(THREE)
    once = tree.index(embed=True)
    other = plant("elsewhere")
    for path in reversed(THREE):
        other.write(path, THREE[path])
        last = other.index(path, embed=True)

    assert last.state_root == once.state_root
    assert other.content_root() == tree.content_root()
    with other.open() as one, tree.open() as two:
        assert one.search("where do vessels sleep?") == two.search("where do vessels sleep?")


def test_the_state_root_moves_with_the_content_and_comes_back(tree: Tree) -> None:
    tree.fill(THREE)
    first = tree.index().state_root
    tree.write("readme.md", "something else")
    second = tree.index().state_root
    tree.write("readme.md", THREE["readme.md"])

    assert second != first
    assert tree.index().state_root == first


def test_the_disks_time_counts_only_if_it_is_asked_for(tree: Tree, plant: Forest) -> None:
    settings = {"quire.toml": "[ingest]\nuse_mtime = true\nignore = ['quire.toml']\n"}
    tree.fill({**THREE, **settings})
    tree.index()
    before = tree.content_root()
    with tree.open() as opened:
        assert all(record.modified is not None for record in opened.documents.list())
    os.utime(tree.root / "readme.md", (1_400_000_000, 1_400_000_000))

    assert tree.index().indexed == 1
    assert tree.content_root() != before
    with tree.open() as opened:
        times = {record.path: record.modified for record in opened.documents.list()}
    assert times["readme.md"] == 1_400_000_000

    plain = plant("plain", THREE)
    plain.index()
    with plain.open() as opened:
        assert all(record.modified is None for record in opened.documents.list())
