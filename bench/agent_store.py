"""What does the store of an agent that has worked for years look like? Made up, and labelled so.

Memories, experiences and commits become documents as Quire makes them of real ones, and code is
read by the grammar. Words follow Zipf's law, vectors imitate the real model's (`synthetic`,
`synthetic_vectors`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from bench import stores, synthetic, synthetic_vectors
from quire.core import hashing
from quire.core.protocols import Store
from quire.core.types import Document, Experience, IngestSettings
from quire.ingest import commits
from quire.ingest.git import Change, Commit
from quire.ingest.read import build_document
from quire.memory import experiences, memories, principles, vocabulary
from quire.store import open_store
from quire.store.index import analyzer
from quire.store.sqlite.schema import MIGRATIONS

SIZES = {"memories": 10_000, "code units": 50_000, "experiences": 5_000, "commits": 100_000}
UNITS_PER_FILE = 10
NOW = 1_760_000_000
HOUR = 3600
LEARNED = 12
"""So many experiences stand behind a value."""
SETTINGS = IngestSettings()


def agent_store(sizes: dict[str, int]) -> tuple[Path, dict[str, Any]]:
    """Give the store, and what making it cost."""
    made_from = hashing.identifier(
        "agent store",
        analyzer.ANALYZER,
        MIGRATIONS,
        synthetic.SEED,
        synthetic_vectors.SEED,
        tuple(sizes.values()),
    )

    def make(path: Path) -> dict[str, Any]:
        start = time.perf_counter()
        store = open_store(path)
        chunks = _put(store, documents(sizes))
        store.close()
        return {"seconds": time.perf_counter() - start, "chunks": chunks}

    return stores.kept(f"agent-{made_from[:8]}", make)


def documents(sizes: dict[str, int]) -> Iterator[Document]:
    """Make all that an agent has."""
    lived = [experience(number) for number in range(sizes["experiences"])]
    return chain(
        (memory(number) for number in range(sizes["memories"])),
        (code(number) for number in range(sizes["code units"] // UNITS_PER_FILE)),
        (experiences.to_document(one, whole) for one in lived),
        (value(number, lived) for number in range(len(lived) // LEARNED)),
        (commit(number) for number in range(sizes["commits"])),
    )


def memory(number: int) -> Document:
    random = _random(1, number)
    made = memories.make_memory(
        _said(random, 24),
        category=vocabulary.CATEGORIES[number % len(vocabulary.CATEGORIES)],
        importance=int(random.integers(0, 1001)),
        created=NOW - number * HOUR,
        author=None,
        acl=None,
    )
    return memories.to_document(made, whole)


def code(number: int) -> Document:
    """Make a module of several functions."""
    random = _random(2, number)
    parts = [f'"""{_said(random, 10)}"""\n']
    for _ in range(UNITS_PER_FILE):
        name, first, second, third = _words(random, 4)
        parts.append(
            f"\n\ndef {name}_{first}({second}: int, {third}: str) -> str:\n"
            f'    """{_said(random, 12)}"""\n'
            f"    {first} = {third} * {second}\n"
            f"    return {first}.strip()\n"
        )
    path = f"src/{number % 97:02d}/module_{number:05d}.py"
    return build_document(path, "".join(parts).encode(), SETTINGS)


def experience(number: int) -> Experience:
    random = _random(3, number)
    outcome = experiences.OUTCOMES[number % 4 % 3]  # half of them falsified or given up
    at = NOW - number * HOUR
    said: dict[str, Any] = {name: _said(random, 14) for name in experiences.TEXT_FIELDS}
    return Experience(
        id=hashing.identifier("bench experience", number),
        domain=vocabulary.DOMAINS[number % len(vocabulary.DOMAINS)],
        strategy=vocabulary.STRATEGIES[number % len(vocabulary.STRATEGIES)],
        outcome=outcome,
        tier=("gold", "silver", "bronze")[number % 3],
        started=at,
        updated=at,
        resolved=at,
        **said,
    )


def value(number: int, lived: list[Experience]) -> Document:
    """Make what a few experiences have in common."""
    members = {one.id: one for one in lived[number * LEARNED : (number + 1) * LEARNED]}
    cluster = principles.Cluster(tuple(members), 900)
    axis = experiences.AXES[number % len(experiences.AXES)]
    records = [experiences.to_document(one, whole).record for one in members.values()]
    return principles.to_document(principles.make_principle(axis, cluster, members), records, whole)


def commit(number: int) -> Document:
    random = _random(4, number)
    files = sorted({int(each) for each in random.integers(0, 5000, 1 + number % 3)})
    made = Commit(
        sha=hashing.identifier("bench commit", number) + "00000000",
        parents=1,
        author=f"Author {number % 40}",
        time=NOW - number * HOUR // 4,
        message=f"{_said(random, 8)}\n\n{_said(random, 30)}",
        changes=tuple(Change(f"src/{one % 97:02d}/module_{one:05d}.py", 5, 2) for one in files),
    )
    document = commits.build_document(commits.build_record(made), made, SETTINGS)
    assert isinstance(document, Document), "no secret"
    return document


def whole(text: str) -> list[str]:
    """Cut nothing: these texts are short."""
    return [text]


def _put(store: Store, made: Iterator[Document]) -> int:
    """Write documents, each batch with the vectors of its chunks."""
    vectors = synthetic_vectors.World().texts(1_000_000)
    count = 0
    while batch := list(islice(made, stores.RECORDS_PER_COMMIT)):
        keys = {chunk.vector_key: b"" for each in batch for chunk in each.chunks}
        with store.write() as writer:
            for each in batch:
                writer.put(each.record, each.chunks, each.links, each.outline)
        with store.write() as writer:
            pairs = zip(keys, vectors, strict=False)
            writer.put_vectors(synthetic_vectors.MODEL, dict(pairs))
        count += sum(len(each.chunks) for each in batch)
    return count


def _random(kind: int, number: int) -> np.random.Generator:
    return np.random.default_rng((synthetic.SEED, kind, number))


def _words(random: np.random.Generator, count: int) -> list[str]:
    known = synthetic.vocabulary()
    return [known[rank] for rank in synthetic.draw(random, count).tolist()]


def _said(random: np.random.Generator, count: int) -> str:
    return " ".join(_words(random, count)).capitalize() + "."
