"""Shared fixtures of the service's tests: one service for all that only read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Tree

from .running import Running, fill, running


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service whose tests clean up after themselves, or do not care."""
    tree = fill(Tree(tmp_path_factory.mktemp("service") / "harbour"))
    with running(tree) as started:
        yield started
