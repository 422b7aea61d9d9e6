"""The project of the golden pages, made once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import quire
from quire import Quire
from tests.pages.project import build


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = tmp_path_factory.mktemp("pages") / "itsdangerous"
    build(root)
    with quire.open(root) as opened:
        yield opened
