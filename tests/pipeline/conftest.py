"""Fixtures: a library that is indexed once, with small vectors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire import Quire
from tests.conftest import Tree
from tests.pipeline.builders import Meaning

SUBJECTS = (
    "validator",
    "quorum",
    "ledger",
    "stake",
    "epoch",
    "vote",
    "leader",
    "replica",
    "network",
    "crash",
)
OTHERS = (
    "block",
    "chain",
    "message",
    "signature",
    "proposer",
    "round",
    "time",
    "clock",
    "fault",
    "honest",
    "weight",
    "lock",
    "slash",
    "reward",
    "delay",
    "gossip",
    "peer",
    "store",
    "index",
    "proof",
    "root",
    "leaf",
    "branch",
    "commit",
    "abort",
    "retry",
    "limit",
)


def prose(rng: random.Random, words: int) -> str:
    """Write sentences about something that the library is about."""
    told = rng.choices(SUBJECTS, k=2)
    drawn = [rng.choice(told if rng.random() < 0.3 else OTHERS) for _ in range(words)]
    sentences = [" ".join(drawn[at : at + 9]).capitalize() for at in range(0, words, 9)]
    return ". ".join(sentences) + ".\n"


def shelves(seed: int = 1, documents: int = 24) -> dict[str, str]:
    """Write a small library: chapters of several parts, some of which repeat each other."""
    rng = random.Random(seed)
    files: dict[str, str] = {}
    common = prose(rng, 60)
    for number in range(documents):
        parts = [f"# Chapter {number}\n"]
        for part in range(rng.randint(1, 6)):
            parts.append(f"## Part {part}\n")
            parts += [prose(rng, rng.randint(20, 110)) for _ in range(rng.randint(1, 4))]
        if number % 5 == 0:
            parts += [f"## Notice {number}\n", common]
        files[f"shelf{number % 3}/chapter{number:02}.md"] = "\n".join(parts)
    return files


def opened(tree: Tree) -> Quire:
    """Open a project's store with an embedder that needs no model."""
    found = quire.open(tree.root)
    found._project._embedder = Meaning()
    return found


@pytest.fixture(scope="session")
def library_tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A library on disk, indexed with vectors; tests must not change it."""
    tree = Tree(Path(tmp_path_factory.mktemp("library")) / "project")
    tree.fill(shelves())
    with opened(tree) as found:
        result = found.index()
        assert result.missing_vectors == 0
        assert result.chunks > 100
    return tree


@pytest.fixture
def library(library_tree: Tree) -> Iterator[Quire]:
    """The library, opened."""
    with opened(library_tree) as found:
        yield found
