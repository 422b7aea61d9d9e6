"""How much score each packing strategy keeps of real documents; `optimal` must be the best.

The figures are printed (`pytest -s`); what must hold is asserted.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire import Quire, packing, rendering
from quire.core.types import OWNER, Context
from quire.packing import Packed
from quire.pipeline.draft import Draft, start_draft
from quire.pipeline.request import resolve
from quire.pipeline.retrieve import retrieve
from quire.pipeline.steps import STEPS
from tests.conftest import Tree
from tests.specs.test_0_documents import adjacency, top_three_among_first_five

pytestmark = [
    pytest.mark.bench_data,
    pytest.mark.skipif("BENCH_DATA" not in os.environ, reason="BENCH_DATA is not set"),
]

WAYS = ("greedy", "interleaved", "score_weighted", "optimal")
BUDGETS = (600, 1200, 3200)
QUERIES = 25


@pytest.fixture(scope="module", params=["musique", "ws_peps"])
def corpus(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Quire, list[str]]]:
    """Real documents, found by their words, and questions to them."""
    from bench import data

    task: str = request.param
    documents = data.tree(task)[: 60 if task == "ws_peps" else 1500]
    tree = Tree(Path(tmp_path_factory.mktemp(task)) / "project")
    for path, text in documents:
        tree.write(path if path.endswith(".md") else f"{path}.txt", text)
    tree.index()
    own = [row["text"] for row in data.lines(task, "queries.jsonl")]
    titles = [" ".join(text.split()[:12]) for _, text in documents[::17]]
    with tree.open() as found:
        yield found, (own or titles)[:QUERIES]


def tell(text: str) -> None:
    print(text)  # noqa: T201 - measured for whoever looks


def pieces_for(store: Quire, query: str, available: int) -> Draft:
    """Go as far as packing."""
    asked = resolve(query, {"budget": available, "reserve": {}})
    with store.store.view(OWNER) as view:
        draft = start_draft(asked, retrieve(view, asked, store._vectors))
    for name, step in STEPS:
        if name == "pack":
            break
        draft = step(draft)
    return draft


def test_optimal_holds_the_most_score(corpus: tuple[Quire, list[str]]) -> None:
    store, queries = corpus
    for available in BUDGETS:
        shares: dict[str, list[float]] = {way: [] for way in WAYS}
        for query in queries:
            draft = pieces_for(store, query, available)
            held = {way: score(packed(draft, way)) for way in WAYS}
            assert held["optimal"] == max(held.values())
            assert packed(draft, "optimal").gap == 0
            if held["optimal"]:
                for way in WAYS:
                    shares[way].append(held[way] / held["optimal"])
        for way in WAYS:
            mean, least = statistics.mean(shares[way]), min(shares[way])
            tell(f"{available} tokens, {way}: {mean:.3f} of the best score, least {least:.3f}")


def packed(draft: Draft, way: str) -> Packed:
    return packing.pack(
        draft.pieces,
        draft.recipe.budget.available,
        strategy=way,
        overflow="skip",
        heading_cost=lambda piece: max(
            10, draft.counter.count(rendering.heading_text(piece, draft.recipe.render))
        ),
    )


def score(made: Packed) -> int:
    return sum(each.candidate.score for each in made.chosen)


def test_every_way_fills_the_budget(corpus: tuple[Quire, list[str]]) -> None:
    store, queries = corpus
    for way in WAYS:
        made: list[Context] = [
            store.assemble(query, budget=1200, reserve={}, pack=way, order="auto")
            for query in queries
        ]
        assert all(context.tokens <= context.available for context in made)
        full = [context for context in made if context.omitted]
        filled = statistics.mean(context.tokens / context.available for context in full)
        top = statistics.mean(top_three_among_first_five(context) for context in made)
        beside = statistics.mean(
            adjacency([source.path for source in context.sources]) for context in made
        )
        tell(f"{way}: filled {filled:.3f}, top 3 in first 5 {top:.3f}, adjacency {beside:.3f}")
        assert filled > 0.9
        if way == "score_weighted":
            assert top == 1
        if way in {"greedy", "optimal"}:
            assert beside == 1


def test_cut_fills_more_than_95_percent(corpus: tuple[Quire, list[str]]) -> None:
    store, queries = corpus
    for query in queries:
        for budget in BUDGETS:
            context = store.assemble(query, budget=budget, reserve={}, overflow="cut")
            if context.truncated:
                assert context.tokens > 0.95 * context.available
