"""Every test vector and every desired property of specification 0.

Where the specification contradicts itself, the design decides: overflow is named, tokens are
reported for the content and for the whole, a blank line stands before a second document.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import pytest

from quire import Quire
from quire.core.hashing import text_hash
from quire.core.types import OWNER, Budget, Chunk, Context, Recipe
from quire.pipeline import recipe as recipes
from quire.pipeline.steps import assemble
from tests.conftest import Tree
from tests.pipeline.builders import Words, chunk, document, draft, recipe
from tests.pipeline.invariants import count, holds

QUERIES = (
    "how does a quorum vote for its leader",
    "validator crash",
    "ledger epoch stake network",
    "replica of the ledger after a crash of the leader",
)


def words(name: str, many: int) -> str:
    """A text of so many words that starts with its name."""
    return " ".join([name, *(f"{name}{place}" for place in range(1, many))])


VECTOR = (("A", 50), ("B", 100), ("C", 30), ("D", 80))


# --- test vectors ------------------------------------------------------------------------------


def test_vector_packing_through_the_pipeline() -> None:
    chunks = [chunk(words(name, many), f"{name}.md") for name, many in VECTOR]
    context = assemble(draft({"lexical": chunks}, recipe(150), counter=Words()), (), ())
    assert [source.path for source in context.sources] == ["A.md", "C.md"]
    assert context.content_tokens == 80
    assert context.tokens == 84  # two words for each marker
    assert not context.truncated
    assert context.omitted == 2
    out = {one.path: one.step for one in context.decisions if one.verdict == "dropped"}
    assert out == {"B.md": "pack", "D.md": "pack"}


FILLING = (
    "apple",
    "river",
    "stone",
    "cloud",
    "green",
    "music",
    "paper",
    "light",
    "table",
    "horse",
    "seven",
    "ocean",
)


def exactly(tokens: int, telling: int, seed: int) -> str:
    """A text of exactly so many o200k tokens, of which some speak for it."""
    rng = random.Random(seed)
    text = " ".join(["consensus"] * telling)
    while count("o200k", text) < tokens:
        text += f" {rng.choice(FILLING)}"
    assert count("o200k", text) == tokens
    return text


def test_vector_packing_through_a_store(tree: Tree) -> None:
    telling = {"A": 20, "B": 30, "C": 3, "D": 2}
    tree.fill({f"{name}.md": exactly(many, telling[name], seed=many) for name, many in VECTOR})
    tree.index()
    done = tree.call("assemble", "consensus", "--budget", "150", "--reserve", "none", "--json")
    told = json.loads(done.stdout)
    ranking = sorted(told["decisions"], key=lambda one: -one["score"])
    assert [one["path"] for one in ranking] == ["A.md", "B.md", "C.md", "D.md"]
    assert [source["path"] for source in told["sources"]] == ["A.md", "C.md"]
    assert [source["tokens"] for source in told["sources"]] == [50, 30]
    assert told["content_tokens"] == 80
    assert told["truncated"] is False
    assert told["omitted"] == 2
    assert told["tokens"] == count("o200k", told["text"]) <= told["available"] == 150


def test_vector_determinism(library: Quire) -> None:
    query = "quorum vote"
    runs = [library.assemble(query, budget=2000) for _ in range(2)]
    library._contexts._items.clear()
    runs.append(library.assemble(query, budget=2000))
    assert runs[0] is not runs[2]
    for run in runs:
        assert [source.chunk_id for source in run.sources] == [
            source.chunk_id for source in runs[0].sources
        ]
        assert text_hash(run.text) == text_hash(runs[0].text)
        assert run.receipt == runs[0].receipt
    assert runs[0].sources
    assert library.verify_determinism(query, budget=2000)


def test_vector_grouping_through_the_pipeline() -> None:
    found = [
        chunk("Chunk 1 of a\n", "a.md", 1, start=0),
        chunk("Chunk 1 of b\n", "b.md", 1, start=0),
        chunk("Chunk 2 of a\n", "a.md", 2, start=13),
        chunk("Chunk 2 of b\n", "b.md", 2, start=13),
    ]
    context = assemble(draft({"lexical": found}, recipe(200)), (), ())
    assert context.text == (
        "[DOC: a.md]\nChunk 1 of a\nChunk 2 of a\n\n[DOC: b.md]\nChunk 1 of b\nChunk 2 of b\n"
    )


def test_vector_token_budget() -> None:
    budget = recipes.load("documents").budget
    assert budget.reserved == {"system": 200, "query": 100, "response": 500}
    assert budget.overhead == 10
    for total in (2000, 4000, 801):
        assert Budget(total=total).available == total - 800
    assert Budget() == budget


def test_vector_configuration_of_the_search() -> None:
    documents = recipes.load("documents")
    assert {name: source.k for name, source in documents.sources.items()} == {
        "semantic": 50,
        "lexical": 50,
        "linked": 50,
        "defined": 20,
    }
    assert documents.rank.top == 100
    assert documents.fit.dedup == 0.8
    assert (documents.fit.pack, documents.fit.order) == ("score_weighted", "grouped")


def test_vector_deduplication() -> None:
    base = words("base", 22)  # twenty runs of three words
    near = f"the {base}"  # has one run more, and says the same
    far = " ".join([*base.split()[:-5], *words("far", 5).split()])  # fifteen
    found = [
        chunk(base, "best.md"),
        chunk(base, "copy.md"),
        chunk(near, "near.md"),
        chunk(far, "far.md"),
    ]
    context = assemble(draft({"lexical": found}, recipe(500)), (), ())
    assert [source.path for source in context.sources] == ["best.md", "far.md"]
    reasons = {one.path: one.reason for one in context.decisions if one.step == "dedup"}
    assert reasons["copy.md"].startswith("100% of it stands in best.md:1-1")
    assert reasons["near.md"].startswith("95% of it stands in best.md:1-1")


def test_vector_sort_order() -> None:
    """Score first; equal scores by path, then sequence, then offset."""
    tied = [
        chunk("one", "b.md", 1, start=5),
        chunk("two", "a.md", 2, start=0),
        chunk("three", "a.md", 1, start=90),
        chunk("four", "a.md", 1, start=70),
        chunk("five", "c.md", 0, start=0),
    ]
    ties = 0
    for place in range(len(tied)):
        turned = tied[place:] + tied[:place]  # first by one source is last by the other
        found = {"lexical": turned, "semantic": turned[::-1]}
        context = assemble(
            draft(found, recipe(500, pack="score_weighted", fusion="rrf"), counter=Words()), (), ()
        )
        scores = {one.chunk_id: one.score for one in context.decisions}
        ties += len(tied) - len(set(scores.values()))
        expected = sorted(
            tied, key=lambda one: (-scores[one.id], one.path, one.sequence, one.start)
        )
        assert [source.chunk_id for source in context.sources] == [one.id for one in expected]
    assert ties == 2 * len(tied)


# --- desired properties ------------------------------------------------------------------------


@pytest.mark.parametrize("pack", ["greedy", "interleaved", "score_weighted", "optimal"])
@pytest.mark.parametrize("query", QUERIES)
def test_property_determinism(library: Quire, query: str, pack: str) -> None:
    assert library.verify_determinism(query, budget=1600, pack=pack)


def recipe_of(context: Context) -> Recipe:
    return recipes.from_data(cast("dict[str, Any]", context.receipt["recipe"]))


def chunks_found(library: Quire, context: Context) -> dict[str, Chunk]:
    with library.store.view(OWNER) as view:
        return {one.id: one for one in view.chunks([each.chunk_id for each in context.decisions])}


@pytest.mark.parametrize("pack", ["greedy", "interleaved", "score_weighted", "optimal"])
@pytest.mark.parametrize("budget", [830, 1200, 5000])
def test_property_budget_compliance(library: Quire, budget: int, pack: str) -> None:
    for query in QUERIES[:2]:
        for overflow in ("skip", "cut", "stop"):
            context = library.assemble(
                query, budget=budget, pack=pack, order="auto", overflow=overflow, allow_empty=True
            )
            holds(context, recipe_of(context), chunks_found(library, context))


def top_three_among_first_five(context: Context) -> bool:
    best = sorted(context.sources, key=lambda one: -one.score)[:3]
    return {one.chunk_id for one in best} <= {one.chunk_id for one in context.sources[:5]}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("budget", [1000, 1600, 4000])
def test_property_relevance_ordering(library: Quire, query: str, budget: int) -> None:
    context = library.assemble(
        query, budget=budget, pack="score_weighted", order="auto", allow_empty=True
    )
    scores = [source.score for source in context.sources]
    assert scores == sorted(scores, reverse=True)
    assert top_three_among_first_five(context)


def test_relevance_ordering_is_kept_by_what_comes_in_late() -> None:
    """A piece that a careful estimate passed over still stands where its score puts it."""
    found = [chunk(words(name, 30), f"{name}.md") for name in "ABCDEFG"]
    tight = recipe(230, pack="score_weighted", overhead=10)
    context = assemble(draft({"lexical": found}, tight, counter=Words()), (), ())
    assert [source.path[0] for source in context.sources] == list("ABCDEFG")


def adjacency(sources: Sequence[str]) -> float:
    """The share of pieces of one document that stand beside another one of it."""
    possible = sum(many - 1 for many in Counter(sources).values())
    beside = sum(one == other for one, other in pairwise(sources))
    return beside / possible if possible else 1.0


@pytest.mark.parametrize("query", QUERIES)
def test_property_coherence(library: Quire, query: str) -> None:
    context = library.assemble(query, budget=4000, pack="greedy", order="auto")
    paths = [source.path for source in context.sources]
    assert max(Counter(paths).values()) > 1
    assert adjacency(paths) > 0.7
    assert len({*paths}) == context.text.count("[DOC: ")


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("budget", [1300, 2000, 4000])
def test_property_coverage(library: Quire, query: str, budget: int) -> None:
    """Under `skip` nothing that was left out would still fit (`holds` tries each of them)."""
    context = library.assemble(query, budget=budget)
    holds(context, recipe_of(context), chunks_found(library, context))
    assert context.omitted
    filled = library.assemble(query, budget=budget, overflow="cut")
    assert filled.tokens > 0.95 * filled.available


def test_neighbours_read_as_in_their_document(library: Quire, library_tree: Tree) -> None:
    texts = library_tree.texts()
    context = library.assemble("quorum vote leader", budget=8000)
    blocks = [block.split("]\n", 1) for block in context.text.split("[DOC: ")[1:]]
    joined = 0
    for path, text in blocks:
        ids = [source.chunk_id for source in context.sources if source.path == path]
        with library.store.view(OWNER) as view:
            chunks = view.chunks(ids)
        for one, other in pairwise(chunks):
            if one.end == other.start:
                joined += 1
                assert (one.text + other.text).strip("\n") in text
                assert one.text + other.text in texts[path]
    assert joined


def test_documents_are_named_by_their_paths_in_the_order_of_their_best_piece() -> None:
    found = [*document("b.md", "first. ", "second. "), *document("a.md", "other. ")]
    context = assemble(draft({"lexical": [found[2], found[1], found[0]]}, recipe(200)), (), ())
    assert context.text == "[DOC: a.md]\nother. \n\n[DOC: b.md]\nfirst. second. \n"


# --- configuration parameters ------------------------------------------------------------------

DAY = 24 * 60 * 60


def test_parameter_prefer_recent() -> None:
    found = [chunk(words(name, 12), f"{name}.md") for name in "ABC"]
    now = 1_700_000_000
    modified = {
        found[0].record_id: None,
        found[1].record_id: now - 60 * DAY,
        found[2].record_id: now,
    }

    def order(recent: int) -> list[str]:
        lifted = recipe(500, pack="score_weighted", recent=recent, fusion="rrf")
        started = draft({"lexical": found}, lifted, modified=modified, as_of=now, counter=Words())
        return [source.path[0] for source in assemble(started, (), ()).sources]

    assert order(0) == ["A", "B", "C"]
    assert order(50) == ["C", "A", "B"]


@pytest.mark.parametrize(
    ("age", "fresh"), [(0, 1000), (15 * DAY, 500), (30 * DAY, 0), (400 * DAY, 0), (-5 * DAY, 1000)]
)
def test_recency_fades_over_thirty_days(age: int, fresh: int) -> None:
    one = chunk(words("A", 12), "A.md")
    now = 1_700_000_000
    lifted = recipe(500, recent=40)
    started = draft({"lexical": [one]}, lifted, modified={one.record_id: now - age}, as_of=now)
    (decision,) = assemble(started, (), ()).decisions
    plain = draft({"lexical": [one]}, recipe(500))
    (before,) = assemble(plain, (), ()).decisions
    assert decision.signals["recency"] == fresh
    assert decision.score == before.score + before.score * 40 * fresh // 100_000


def test_recency_without_a_present_changes_nothing(tree: Tree) -> None:
    """Files without a date of their own are neither new nor old."""
    tree.fill({"a.md": "quorum vote\n", "b.md": "quorum vote again\n"})
    tree.index()
    with tree.open() as found:
        plain, lifted = found.assemble("quorum"), found.assemble("quorum", recent=50)
    assert plain.text == lifted.text
    assert [one.score for one in plain.decisions] == [one.score for one in lifted.decisions]


def test_recency_by_dates_in_files(tree: Tree) -> None:
    tree.fill(
        {
            "old.md": "---\ndate: 2020-01-01\n---\nquorum vote of the old\n",
            "new.md": "---\ndate: 2026-01-01\n---\nquorum vote of those who are new here, and more\n",
        }
    )
    tree.index()
    with tree.open() as found:
        first = [source.path for source in found.assemble("quorum vote", order="packed").sources]
        lifted = found.assemble("quorum vote", order="packed", recent=100, as_of=1_767_225_600)
        then = found.assemble("quorum vote", order="packed", recent=100, as_of=1_577_836_800)
    assert first == ["old.md", "new.md"]
    assert [source.path for source in lifted.sources] == ["new.md", "old.md"]
    assert [source.path for source in then.sources] == ["old.md", "new.md"]


def test_parameter_max_chunks_per_doc(library: Quire) -> None:
    for most in (1, 2, 3):
        context = library.assemble(QUERIES[0], per_document=most)
        assert max(Counter(source.path for source in context.sources).values()) <= most
        dropped = [one for one in context.decisions if one.step == "group"]
        assert dropped
        assert {one.reason for one in dropped} == {f"{most} better pieces of its document"}
        best: dict[str, int] = {}
        for one in context.decisions:
            if one.verdict == "kept":
                best[one.path] = min(one.score, best.get(one.path, one.score))
        for one in dropped:
            assert one.score <= best.get(one.path, one.score)


def test_parameter_include_metadata(library: Quire) -> None:
    plain = library.assemble(QUERIES[0], budget=1500)
    told = library.assemble(QUERIES[0], budget=1500, metadata=True)
    assert "score " not in plain.text
    first = told.sources[0].lines[0]
    assert told.text.split("\n")[1].startswith(f"(lines {first}-")
    assert told.text.count("score ") >= told.text.count("[DOC: ")
    assert told.tokens == count("o200k", told.text) <= told.available


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8, 1.0])
def test_parameter_dedup_threshold(library: Quire, threshold: float) -> None:
    """What is above it and in the context differs in something that matters."""
    from quire.packing.differences import says_all
    from tests.packing.all_pairs import overlap

    context = library.assemble(QUERIES[0], budget=50_000, dedup=threshold)
    found = chunks_found(library, context)
    texts = [found[source.chunk_id].text for source in context.sources]
    scores = {source.chunk_id: source.score for source in context.sources}
    by_score = sorted(context.sources, key=lambda one: (-scores[one.chunk_id], one.path))
    for at, one in enumerate(by_score):
        for better in by_score[:at]:
            if better.score > one.score:
                text, held = found[one.chunk_id].text, found[better.chunk_id].text
                assert overlap(text, held) <= threshold or not says_all(held, text)
    assert len(set(texts)) == len(texts)


def test_stable_keeps_the_beginning_when_something_new_comes_in(tree: Tree) -> None:
    """What a model has read already stays where it was, so that it need not be read again."""
    for number in range(6):
        tree.write(
            f"{number}.md", f"Chapter {number}: the quorum takes its vote number {number}.\n"
        )
    tree.index()
    with tree.open() as found:
        before = found.assemble("quorum vote")
        ids = [source.chunk_id for source in before.sources]
        assert len(ids) == 6
        tree.write("new.md", "quorum vote, quorum vote\n")
        found.index(embed=False)
        fresh = found.assemble("quorum vote")
        stable = found.assemble("quorum vote", order="stable", previous=ids)
        assert fresh.sources[0].path == "new.md"
        assert not fresh.text.startswith(before.text)
        assert stable.text.startswith(before.text)
        assert [source.chunk_id for source in stable.sources][:6] == ids
        assert stable.sources[6].path == "new.md"
        again = [source.chunk_id for source in stable.sources]
        assert found.assemble("quorum vote", order="stable", previous=again).text == stable.text
