"""How many planted duplicates are found among real texts, and how many others are merged.

The figures are printed (`pytest -s`); what must hold is asserted.
"""

from __future__ import annotations

import os
import re
from difflib import SequenceMatcher
from random import Random

import pytest

from quire import packing
from quire.core.types import Candidate, Chunk, IngestSettings
from quire.ingest.read import build_document
from tests.packing.test_near_duplicates import candidate, merged, planted

pytestmark = [
    pytest.mark.bench_data,
    pytest.mark.skipif("BENCH_DATA" not in os.environ, reason="BENCH_DATA is not set"),
]

TASKS = ("ws_govuk_adrs", "ws_postmortems", "ws_sourcegraph_handbook", "ws_peps")
MOST = 4000
PLANTED = 60


def chunks(task: str) -> list[Chunk]:
    from bench import data

    found: list[Chunk] = []
    for path, text in data.documents(task):
        named = path if "." in path else f"{path}.md"
        found += build_document(named, text.encode(), IngestSettings(secrets=True)).chunks
    return Random(1).sample(found, min(MOST, len(found)))


def nearness(one: Chunk, other: Chunk) -> float:
    """Compare two texts by other means: word by word, their sentences in order."""
    return SequenceMatcher(None, in_order(one.text), in_order(other.text), autojunk=False).ratio()


def in_order(text: str) -> list[str]:
    sentences = re.split(r"(?<=[.!?\n])\s+", text.lower())
    return " ".join(sorted(each.strip() for each in sentences)).split()


@pytest.mark.parametrize("task", TASKS)
def test_planted_duplicates_are_found_and_little_else(task: str) -> None:
    every = [Candidate(chunk, 10_000 - place, {}) for place, chunk in enumerate(chunks(task))]
    kept, _ = packing.dedup(every, 0.9, within=False)
    kept, similar = packing.dedup_near(kept, 0.9)
    false = sum(nearness(one.candidate.chunk, one.of.chunk) < 0.7 for one in similar)
    rng = Random(3)
    texts = [one.chunk.text for one in kept if 12 <= len(one.chunk.text.split()) <= 200]
    tried = [
        (text, other)
        for text in rng.sample(texts, min(PLANTED, len(texts)))
        for other in planted(rng, " ".join(text.split()))
    ]
    found = sum(merged(text, other) for text, other in tried)
    print(  # noqa: T201 - measured for whoever looks
        f"{task}: {found} of {len(tried)} planted found; of {len(every)} real pieces "
        f"{len(similar)} are alike, {false} of them not by other means"
    )
    # Lines that were joined lose where sentences end: in doubt, two texts are two.
    assert found > len(tried) * 0.85
    assert false < len(every) * 0.01
    assert len(similar) < len(every) * 0.01
    assert not packing.dedup_near(
        [candidate(0, texts[0], "r"), candidate(1, texts[0] + " So.", "r")], 0.9
    )[1]
