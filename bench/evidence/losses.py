"""Where is evidence lost?

Each part of the gold that a context lacks is looked for among the chunks: none holds it whole (it
was cut at a boundary), the one that does was not found, was ranked too low to come in (just below
what is in, or far below), or was left out as a duplicate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from bench.evidence.given import Benchmark
from bench.evidence.measure import Driven
from quire.core.types import OWNER, Context

LOW = ("rank", "depth", "pack")
"""The steps that leave out what others are better than."""
JUST, FAR = "ranked just below", "ranked far below"
"""Among the first twice as many as are in, or behind them."""
CAUSES = {"dedup": "duplicate", "group": "too many of one document"}
HELD, BOUNDARY, UNFOUND = "held", "cut at a boundary", "not found"
ALL_CAUSES = (HELD, JUST, FAR, *CAUSES.values(), UNFOUND, BOUNDARY)


def told(
    benchmark: Benchmark, task: Any, system: Driven, queries: Sequence[Any], budget: int
) -> dict[str, Counter[str]]:
    """Count the parts of each kind of gold by what became of them."""
    found: dict[str, Counter[str]] = {}
    texts: dict[str, list[tuple[str, str]]] = {}
    corpus = None
    for query in queries:
        if query.corpus != corpus:
            corpus = query.corpus
            system.index(corpus, task.corpus(corpus))
            texts = _chunks(system, benchmark)
        made = system.assemble(query.text, budget)
        said = benchmark.metrics.norm(made.text)
        fates = _fates(made)
        for gold, wanted in query.gold.items():
            if wanted["rule"] == "path":
                continue
            counts = found.setdefault(gold, Counter())
            for part in {each for unit in wanted["units"] for each in unit["parts"]}:
                plain = benchmark.metrics.norm(part)
                counts[HELD if plain in said else _cause(plain, texts, fates)] += 1
    return found


def _fates(made: Context) -> dict[str, str]:
    """Tell for each chunk that is not in the context what became of it."""
    ranked = sorted(made.decisions, key=lambda one: (-one.score, one.path, one.lines, one.chunk_id))
    near = 2 * len(made.sources)
    fates = {}
    for place, one in enumerate(ranked, start=1):
        if one.step in LOW:
            fates[one.chunk_id] = JUST if place <= near else FAR
        elif one.step in CAUSES:
            fates[one.chunk_id] = CAUSES[one.step]
    return fates


def _chunks(system: Driven, benchmark: Benchmark) -> dict[str, list[tuple[str, str]]]:
    """Give all chunks by document: id and plain text."""
    found: dict[str, list[tuple[str, str]]] = {}
    with system.store.store.view(OWNER) as view:
        for record in view.listing():
            found[record.path] = [
                (chunk.id, benchmark.metrics.norm(chunk.text))
                for chunk in view.chunks_of(record.id)
            ]
    return found


def _cause(part: str, texts: dict[str, list[tuple[str, str]]], fates: dict[str, str]) -> str:
    holding = [name for chunks in texts.values() for name, text in chunks if part in text]
    if not holding:
        return BOUNDARY
    met = [fates[name] for name in holding if name in fates]
    return min(met, key=ALL_CAUSES.index) if met else UNFOUND
