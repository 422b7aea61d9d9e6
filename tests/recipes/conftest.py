"""Shared by the tests of pages for agents: one shop with the real model, filled once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire import Quire
from quire.core.types import EmbedSettings
from quire.embed.local import LocalEmbedder
from quire.indexing.project import Project
from tests.conftest import Tree
from tests.recipes.world import live, work

WORDS_ONLY = '[embed]\nprovider = "none"\n'


@pytest.fixture(scope="session")
def loaded() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(EmbedSettings(threads=1))
    yield embedder
    embedder.close()


@pytest.fixture
def model(loaded: LocalEmbedder, monkeypatch: pytest.MonkeyPatch) -> LocalEmbedder:
    """Give the real model, loaded once, to every store that a test opens."""
    monkeypatch.setattr(Project, "embedder", lambda _: loaded)
    monkeypatch.setattr(loaded, "close", lambda: None)
    return loaded


@pytest.fixture(scope="session")
def kept_shop(tmp_path_factory: pytest.TempPathFactory, loaded: LocalEmbedder) -> Tree:
    """The shop with everything in it, by meaning as well; no test changes it."""
    tree = Tree(Path(tmp_path_factory.mktemp("shop")) / "project")
    work(tree)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Project, "embedder", lambda _: loaded)
        patch.setattr(loaded, "close", lambda: None)
        with tree.open() as quire:
            live(quire)
            quire.index()
            quire.principles.refresh()
            quire.index()
    return tree


@pytest.fixture
def shop(kept_shop: Tree, model: LocalEmbedder) -> Iterator[Quire]:
    """The shop, open."""
    with kept_shop.open() as quire:
        yield quire


@pytest.fixture
def own_shop(kept_shop: Tree, model: LocalEmbedder, tmp_path: Path) -> Tree:
    """A copy of the shop, to be changed."""
    tree = Tree(tmp_path / "own")
    shutil.copytree(kept_shop.root, tree.root, dirs_exist_ok=True)
    return tree


@pytest.fixture
def wordy(tmp_path: Path) -> Tree:
    """A project that is searched by words alone."""
    tree = Tree(tmp_path / "wordy")
    tree.write("quire.toml", WORDS_ONLY)
    return tree
