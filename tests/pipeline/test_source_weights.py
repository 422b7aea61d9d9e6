"""Weights of sources depend on the piece and the query, and are explained, recorded and audited."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from quire import Quire, Viewer
from quire.pipeline import recipe as recipes
from tests.conftest import Tree
from tests.pipeline.conftest import opened, prose

DOCUMENTS = recipes.load("documents")
QUERY = "quorum vote leader"
LONG = QUERY + " " + " ".join(f"term{number}" for number in range(57))


@pytest.fixture
def shelf(tree: Tree) -> Iterator[Quire]:
    rng = random.Random(5)
    tree.fill({f"note{number}.md": prose(rng, 30) for number in range(40)})
    tree.fill({"long.md": "\n".join(prose(rng, 90) for _ in range(12))})
    tree.fill({"quire.toml": '[access]\n"long.md" = ["ann"]\n'})
    with opened(tree) as found:
        found.index()
        yield found


def test_a_whole_document_and_a_long_question_are_told(shelf: Quire) -> None:
    context = shelf.assemble(QUERY, budget=1000, reserve={})
    notes = [one for one in context.decisions if one.path.startswith("note")]
    pieces = [one for one in context.decisions if one.path == "long.md"]
    assert notes
    assert pieces
    assert all(one.signals["whole"] == 1 for one in notes)
    assert all("whole" not in one.signals for one in pieces)
    assert all("long" not in one.signals for one in context.decisions)
    asked = shelf.assemble(LONG, budget=1000, reserve={})
    assert {one.signals["long"] for one in asked.decisions} == {60}


def test_who_may_not_read_a_document_is_told_the_same_of_the_others(shelf: Quire) -> None:
    mine = shelf.assemble(QUERY, budget=1000, reserve={}, viewer=Viewer("bob"))
    assert all(one.path != "long.md" for one in mine.decisions)
    assert all(one.signals["whole"] == 1 for one in mine.decisions)


@pytest.mark.parametrize("query", [QUERY, LONG])
def test_it_is_recorded_replayed_and_audited(shelf: Quire, query: str) -> None:
    context = shelf.assemble(query, budget=300, reserve={})
    assert shelf.verify(context.receipt, context.text).problems == ()
    again, differences = shelf.replay(context.receipt)
    assert (differences, again.text) == ([], context.text)
    left = next(one for one in context.decisions if one.verdict == "dropped")
    (told,) = (
        one
        for one in shelf.why_not(query, left.path, left.lines[0], budget=300, reserve={})
        if one.chunk_id == left.chunk_id
    )
    assert told.checked


def test_one_source_alone_is_not_weighed_against_itself(shelf: Quire) -> None:
    words = replace(DOCUMENTS, sources={"lexical": DOCUMENTS.sources["lexical"]})
    even = replace(words, sources={"lexical": replace(words.sources["lexical"], options={})})
    found = shelf.assemble(QUERY, budget=1000, reserve={}, recipe=words)
    same = shelf.assemble(QUERY, budget=1000, reserve={}, recipe=even)
    assert found.text == same.text
    assert [one.score for one in found.decisions] == [one.score for one in same.decisions]
    assert all("whole" not in one.signals for one in found.decisions)


def test_meaning_moves_whole_documents_up(shelf: Quire) -> None:
    def mean(options: dict[str, int]) -> float:
        sources = {
            **DOCUMENTS.sources,
            "semantic": replace(DOCUMENTS.sources["semantic"], options=options),
            "lexical": replace(DOCUMENTS.sources["lexical"], options={}),
        }
        asked = replace(DOCUMENTS, sources=sources)
        made = shelf.assemble(QUERY, budget=4000, reserve={}, recipe=asked)
        ranked = sorted(made.decisions, key=lambda one: -one.score)
        places = [at for at, one in enumerate(ranked) if one.path.startswith("note")]
        return sum(places) / len(places)

    assert mean({"whole": 1000}) < mean({})
