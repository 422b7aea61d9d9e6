"""What do adapters ask of a store, and what do they refuse?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import quire
from quire import Context, Failure, Quire, SearchResult
from quire.adapters.retrieval import DEFAULT_BUDGET, Passage, Retrieval
from quire.errors import ContextAssemblyError, InputError

from .conftest import ANY_WAY, QUESTION, SECRET


def test_passages_are_the_pieces_of_one_context(store: Quire) -> None:
    contexts: list[Context] = []
    passages = Retrieval(store, budget=200, on_context=contexts.append).passages(QUESTION)
    (context,) = contexts
    assert [passage.text for passage in passages] == [chunk.text for chunk in context.chunks]
    assert context.tokens <= 200
    first = passages[0]
    assert first.path == "harbour/cranes.md"
    assert first.lines == (1, 5)
    assert first.title == "Cranes"
    assert {passage.receipt for passage in passages} == {context.receipt["hash"]}
    assert store.verify(context.receipt, context.text).holds


def test_the_whole_budget_is_the_contexts(store: Quire) -> None:
    context = Retrieval(store, budget=40).context(QUESTION)
    assert context.available == 40
    assert Retrieval(store).context(QUESTION).available == DEFAULT_BUDGET
    assert (
        Retrieval(store, options={"reserve": {"query": 10}}, budget=50).context(QUESTION).available
        == 40
    )


def test_hits_are_as_many_as_asked_for(store: Quire) -> None:
    retrieval = Retrieval(store, k=2)
    hits = [hit.chunk.id for hit in store.search(QUESTION, k=2)]
    assert [passage.chunk_id for passage in retrieval.passages(QUESTION)] == hits
    assert len(retrieval.passages(QUESTION, k=1)) == 1
    assert retrieval.passages(QUESTION)[0].receipt == ""
    assert retrieval.passages(QUESTION, budget=200)[0].receipt


def test_metadata_are_plain_data(store: Quire) -> None:
    metadata = Retrieval(store).passages(QUESTION)[0].metadata()
    assert metadata.keys() == {
        "path", "lines", "title", "score", "chunk_id", "record_id", "receipt",
    }  # fmt: skip
    assert metadata["lines"] == [1, 5]


@pytest.mark.parametrize("how", ANY_WAY)
def test_a_viewer_finds_only_what_they_may_read(store: Quire, how: dict[str, Any]) -> None:
    found = {
        viewer: [each.text for each in Retrieval(store, viewer, **how).passages("sabotaged crane")]
        for viewer in ("ada", "bob")
    }
    assert any(SECRET in text for text in found["ada"])
    assert not any("sabotaged" in text for text in found["bob"])


@pytest.mark.parametrize("how", ANY_WAY)
def test_a_call_cannot_change_the_viewer(store: Quire, how: dict[str, Any]) -> None:
    retrieval = Retrieval(store, "bob", **how)
    with pytest.raises(InputError, match="viewer"):
        retrieval.passages("crane", viewer="ada")
    with pytest.raises(InputError, match="viewer"):
        Retrieval(store, "bob", options={"viewer": "ada"}, **how)


def test_filters_reach_the_store(store: Quire) -> None:
    for how in ANY_WAY:
        retrieval = Retrieval(store, options={"paths": ["*.py"]}, **how)
        assert {each.path for each in retrieval.passages("crane")} == {"src/lift.py"}
        changed = retrieval.passages("crane", paths=["*.md"])
        assert {each.path for each in changed} == {"harbour/cranes.md"}


@pytest.mark.parametrize("where", ['team = "north"', {"team": "north"}])
def test_conditions_on_metadata_reach_the_store(store: Quire, where: Any) -> None:
    for team in ("north", "south"):
        store.documents.put(f"The crane of {team}.", path=f"crm/{team}", metadata={"team": team})
    for how in ANY_WAY:
        found = Retrieval(store, options={"where": where}, **how).passages("crane")
        assert {passage.path for passage in found} == {"crm/north"}


def test_an_unknown_option_is_refused_by_its_name(store: Quire) -> None:
    with pytest.raises(InputError, match="colour"):
        Retrieval(store, options={"colour": "red"}).passages("crane")
    with pytest.raises(InputError, match="colour"):
        Retrieval(store, k=3, options={"colour": "red"}).passages("crane")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 10, "k": 1}, "exclude each other"),
        ({"options": {"k": 1}}, "k: is not among the options"),
        ({"options": {"budget": 1}}, "budget: is not among the options"),
    ],
)
def test_what_contradicts_itself_is_refused(
    store: Quire, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Retrieval(store, **arguments)
    with pytest.raises(InputError, match="no effect"):
        Retrieval(store).passages("crane", k=1, budget=10)


@pytest.mark.parametrize("engine", ["/some/where", None, quire])
def test_what_is_no_store_is_refused(engine: Any) -> None:
    with pytest.raises(InputError, match="expected an open store"):
        Retrieval(engine)


def test_nothing_found_is_an_empty_list(store: Quire) -> None:
    assert Retrieval(store).passages("zebra") == []
    assert Retrieval(store, k=3).passages("zebra") == []


def test_nothing_found_since_a_source_failed_is_an_error() -> None:
    class Broken:
        def search(self, *_: Any, **__: Any) -> SearchResult:
            return SearchResult((), "", (Failure("lexical", "the index is gone"),))

        def assemble(self, *_: Any, **__: Any) -> Context:
            context = Context("", (), 0, 0, 0, truncated=False, omitted=0, limit_exceeded=0,
                              decisions=(), failed=(), notes=())  # fmt: skip
            return replace(context, failed=(Failure("lexical", "the index is gone"),))

    engine: Any = Broken()
    for retrieval in (Retrieval(engine), Retrieval(engine, k=3)):
        with pytest.raises(ContextAssemblyError, match="lexical: the index is gone"):
            retrieval.passages("crane")


def test_what_a_user_says_may_be_long_or_nothing(store: Quire) -> None:
    retrieval = Retrieval(store)
    assert retrieval.context_for(" \n") is None
    long = retrieval.context_for("crane " * 50_000)
    assert long is not None
    assert "nine tons" in long.text


def test_a_passage_is_a_value() -> None:
    one = Passage("text", 1, "a.md", (1, 2), "", "c", "r")
    assert one == replace(one)
