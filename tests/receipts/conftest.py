"""Fixtures: a small project of several access classes, and its receipts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quire import AccessRule, Quire
from quire.core.types import Context
from quire.receipts import Receipt
from tests.conftest import Tree
from tests.pipeline.conftest import library, library_tree, opened
from tests.receipts.forgeries import answer, make_world
from tests.serving import served

__all__ = ["library", "library_tree"]  # fixtures

QUERY = "quorum vote"
FILES = {
    "a.md": "# Votes\n\nThe quorum takes a vote on every block.\n\n## Void\n\nNo quorum, no vote.\n",
    "b.md": "A vote is void without a quorum of validators, who wait until the next epoch.\n",
    "hr/c.md": "The quorum of the board takes a vote on wages.\n",
    "größe.md": "Ein Quorum (quorum) entscheidet per Abstimmung, vote 👩‍💻 genannt.\n",
}


@pytest.fixture
def project(tree: Tree) -> Iterator[Quire]:
    """A project with vectors; what is under hr is for its members alone."""
    tree.fill(FILES)
    with opened(tree) as found:
        found.access.set_rules([AccessRule("hr/**", ("@hr",))])
        found.access.set_groups({"hr": ["alice"]})
        found.index()
        yield found


@pytest.fixture(scope="session")
def kept_tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree(Path(tmp_path_factory.mktemp("kept")) / "project")
    tree.fill(FILES)
    with opened(tree) as found:
        found.access.set_rules([AccessRule("hr/**", ("@hr",))])
        found.index()
    return tree


@pytest.fixture
def kept(kept_tree: Tree) -> Iterator[Quire]:
    """The same project, which no test changes."""
    with opened(kept_tree) as found:
        yield found


@pytest.fixture
def context(kept: Quire) -> Context:
    """A context of three pieces, one of them cut, with one left out."""
    made = kept.assemble(QUERY, budget=74, reserve={"answer": 5}, overflow="cut")
    verdicts = sorted(one.verdict for one in made.decisions)
    assert verdicts == ["cut", "dropped", "kept", "kept"]
    return made


@pytest.fixture
def receipt(context: Context) -> Receipt:
    """Its receipt, as it comes back from a file."""
    read: Receipt = as_read(context.receipt)
    return read


def as_read(receipt: object) -> Any:
    return json.loads(json.dumps(receipt))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    """A project of documents, code, rules, blocks and memories, with a judge and a writer."""
    with served(answer) as endpoint:
        opened = make_world(tmp_path_factory.mktemp("world"), endpoint)
        try:
            yield opened
        finally:
            opened.close()
