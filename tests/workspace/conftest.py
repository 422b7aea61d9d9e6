"""Shared by the tests of blocks: projects with lexical search alone, in memory where possible."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quire import Quire

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

MEMORY = Path("/dev/shm")
WORDS_ONLY = '[embed]\nprovider = "none"\n[ingest]\nignore = ["quire.toml"]\n'


@pytest.fixture
def plant(plant: Forest) -> Iterator[Forest]:
    if not os.access(MEMORY, os.W_OK):
        yield plant
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="quire-") as folder:
        yield type(plant)(Path(folder))


@pytest.fixture
def plain(plant: Forest) -> Tree:
    return plant("plain", {"quire.toml": WORDS_ONLY})


@pytest.fixture
def opened(plain: Tree) -> Iterator[Quire]:
    with plain.open() as quire:
        yield quire
