"""Print one hash over many contexts of the library, receipts included."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict

import quire
from quire import Quire
from quire.core.types import Context, Filter, Options
from tests.pipeline.builders import Meaning

QUERIES = ("how does a quorum vote for its leader", "crash of a validator", "epoch ledger stake")
ASKED: tuple[Options, ...] = (
    {},
    {"budget": 1200, "pack": "interleaved", "metadata": True},
    {"budget": 1500, "pack": "score_weighted", "overflow": "cut"},
    {"budget": 1400, "pack": "optimal", "format": "json"},
    {"budget": 2500, "order": "edges", "per_document": 2, "dedup": 0.3},
    {"budget": 1400, "overflow": "stop", "model": "claude-sonnet-4-5"},
    {"budget": 1100, "hard": False, "where": Filter(paths=("shelf1/**",))},
    {"budget": 1300, "viewer": "alice", "recent": 50, "as_of": 1_600_000_000},
)


def requests() -> Iterator[tuple[str, Options]]:
    for query in QUERIES:
        for options in ASKED:
            yield query, options


def plain(context: Context) -> str:
    """Write all of a context."""
    return json.dumps(asdict(context), ensure_ascii=False)


def digest(found: Quire) -> str:
    told = hashlib.sha256()
    for query, options in requests():
        told.update(plain(found.assemble(query, **options)).encode())
    return told.hexdigest()


if __name__ == "__main__":
    with quire.open(sys.argv[1]) as opened:
        opened._project._embedder = Meaning()
        print(digest(opened))  # noqa: T201 - this is what the process is for
