"""Shared fixtures of the MCP tests: a filled project, and running servers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import COMMAND, LONG_AGO, TIME_LIMIT, Tree

from .judging import filled
from .wire import LOCAL, listening

FILES = {
    "docs/harbour.md": "# Harbour\n\nShips rest in the harbour at night. The pilot is named Wren.\n",
    "docs/tides.md": "# Tides\n\nThe tide turns twice a day, and the harbour bar is dry at low tide.\n",
    "src/crane.py": 'def lift(load):\n    """Lift a load of a ship in the harbour."""\n    return load\n',
    "hr/pay.md": "# Pay\n\nThe harbour master earns ninety doubloons.\n",
    "quire.toml": '[access]\n"hr/**" = ["alice"]\n',
}


@pytest.fixture(scope="session")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A project that is only read."""
    return fill(Tree(tmp_path_factory.mktemp("protocol") / "harbour"))


def fill(tree: Tree) -> Tree:
    """Give a project files, memories and an experience, and index them."""
    tree.fill(FILES)
    tree.index()
    with tree.open() as opened:
        opened.memories.add("The harbour bell rings at low tide.", at=LONG_AGO, category="decision")
        started = opened.experiences.start(
            "Lift the heavy load", at=LONG_AGO, domain="debugging", hypothesis="The crane is weak"
        )
        opened.experiences.resolve(
            started.value.id,
            "falsified",
            at=LONG_AGO + 1,
            result="The rope was worn",
            lesson="Look",
        )
    return tree


@pytest.fixture
def server() -> list[str]:
    """The command that serves."""
    return [COMMAND, "mcp"]


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A project whose sentences the client judges; it is only read."""
    return filled(Tree(tmp_path_factory.mktemp("judge") / "shop"))


@pytest.fixture(scope="session")
def url(shop: Tree) -> Iterator[str]:
    """One server for all: each test is a client with a name of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in LOCAL.items():
            patch.setenv(name, value)
        with listening(shop) as where:
            yield where


@pytest.fixture(scope="session")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A project whose judge waits for longer than any test."""
    folder = tmp_path_factory.mktemp("patient") / "shop"
    return filled(Tree(folder), timeout=10 * TIME_LIMIT)
