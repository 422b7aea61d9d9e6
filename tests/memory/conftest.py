"""Shared by the tests of memory: a project without a model, and one with the real one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from quire import Quire
from quire.core.types import EmbedSettings
from quire.embed.local import LocalEmbedder
from quire.indexing.project import Project

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

WORDS_ONLY = '[embed]\nprovider = "none"\n[ingest]\nignore = ["quire.toml"]\n'


@pytest.fixture
def plain(plant: Forest) -> Tree:
    """A project that is searched by words alone."""
    return plant("plain", {"quire.toml": WORDS_ONLY})


@pytest.fixture
def opened(plain: Tree) -> Iterator[Quire]:
    with plain.open() as quire:
        yield quire


@pytest.fixture(scope="session")
def loaded() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(EmbedSettings(threads=1))
    yield embedder
    embedder.close()


@pytest.fixture
def with_model(tree: Tree, loaded: LocalEmbedder, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A project with the shipped model, which is loaded once for all tests."""
    monkeypatch.setattr(Project, "embedder", lambda _: loaded)
    monkeypatch.setattr(loaded, "close", lambda: None)
    return tree
