"""What the tests of adapters share: a store with two viewers, of whom each may read something else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from quire import Context, Quire
from tests.conftest import Forest

# Before a framework is imported: no test tells anyone that it runs.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

FILES = {
    "harbour/cranes.md": "# Cranes\n\nThe harbour crane lifts nine tons at most.\n\nIt stands on pier four.\n",
    "harbour/ferry.md": "# Ferry\n\nThe ferry leaves pier four at noon.\n",
    "src/lift.py": 'def lift(load):\n    """Lift a load with the crane."""\n    return load <= 9\n',
    "notes.md": "# Notes\n\nNothing here is about loads.\n",
}
QUESTION = "How many tons does the harbour crane lift?"
ANY_WAY: list[dict[str, Any]] = [{"budget": 300}, {"k": 5}]
"""The arguments by which a retriever assembles, and those by which it searches."""
SECRET = "The crane of ada was sabotaged by nobody but the harbour master."
"""What ada alone may read."""


def receipt_of(context: Context) -> str:
    """The id of a context's receipt."""
    return str(context.receipt["hash"])


@pytest.fixture
def store(plant: Forest) -> Iterator[Quire]:
    """An open store of a few files, and one memory of ada."""
    tree = plant("harbour", FILES)
    with tree.open() as opened:
        opened.index(embed=False)
        opened.memories.add(SECRET, viewer="ada")
        yield opened
