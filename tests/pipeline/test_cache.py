"""A repeated request is answered from the cache, and never with the answer to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from quire import AccessRule, Quire, runner
from quire.core.types import Event, Filter, Options, Viewer
from quire.engine import CACHED_CONTEXT_BYTES
from quire.errors import BudgetTooSmallError
from tests.conftest import Tree
from tests.pipeline.builders import Broken, Meaning
from tests.pipeline.conftest import opened

QUERY = "quorum vote"
FILES = {
    "a.md": "The quorum takes a vote on every block.\n",
    "b.md": "A vote is void without a quorum of validators.\n",
    "hr/c.md": "The quorum of the board takes a vote on wages.\n",
}


@pytest.fixture
def project(tree: Tree) -> Iterator[Quire]:
    tree.fill(FILES)
    with opened(tree) as found:
        found.index()
        yield found


def test_an_identical_repeat_is_the_same_object(project: Quire) -> None:
    first = project.assemble(QUERY)
    assert project.assemble(QUERY) is first
    assert project.assemble(QUERY, budget=4000, model="gpt-4o", recipe="documents") is first


@pytest.mark.parametrize(
    "options",
    [
        {"budget": 4001},
        {"reserve": {}},
        {"model": "cl100k"},
        {"model": "claude-sonnet-4-5"},
        {"viewer": "alice"},
        {"viewer": Viewer("alice", ("hr",))},
        {"where": Filter(paths=("*.md",))},
        {"where": Filter(kinds=("document",))},
        {"where": Filter(since=5)},
        {"format": "json"},
        {"metadata": True},
        {"pack": "optimal"},
        {"order": "edges"},
        {"overflow": "cut"},
        {"hard": False},
        {"dedup": 0.7},
        {"per_document": 1},
        {"recent": 10},
        {"as_of": 5},
        {"previous": ["0" * 32]},
        {"exact": True},
        {"allow_empty": True},
    ],
)
def test_any_change_misses(project: Quire, options: Options) -> None:
    first = project.assemble(QUERY)
    other = project.assemble(QUERY, **options)
    assert other is not first
    assert project.assemble(QUERY, **options) is other
    assert project.assemble(QUERY) is first
    assert project.assemble(f"{QUERY}s") is not first


def test_a_changed_recipe_file_misses(project: Quire, tree: Tree) -> None:
    path = tree.write("mine.toml", 'extends = "documents"\n')
    first = project.assemble(QUERY, recipe=str(path))
    assert project.assemble(QUERY, recipe=str(path)) is first
    tree.write("mine.toml", 'extends = "documents"\n[budget]\ntotal = 3000\n')
    assert project.assemble(QUERY, recipe=str(path)).available == 2200


def test_a_changed_store_misses_and_comes_back_with_its_state(project: Quire, tree: Tree) -> None:
    first = project.assemble(QUERY)
    tree.write("d.md", "Another quorum, another vote.\n")
    project.index()
    second = project.assemble(QUERY)
    assert "d.md" in second.text
    assert second is not first
    tree.remove("d.md")
    project.index()
    assert project.assemble(QUERY) is first, "the state is the same again"


def test_another_process_that_writes_is_seen(project: Quire, tree: Tree) -> None:
    project.assemble(QUERY)
    tree.write("d.md", "Another quorum, another vote.\n")
    with opened(tree) as other:
        other.index()
    assert "d.md" in project.assemble(QUERY).text


def test_access_rules_take_effect_at_once(project: Quire) -> None:
    before = project.assemble(QUERY, viewer="alice")
    assert "hr/c.md" in before.text
    project.access.set_rules([AccessRule("hr/**", ("@hr",))])
    hidden = project.assemble(QUERY, viewer="alice")
    assert "hr/c.md" not in hidden.text
    project.access.set_groups({"hr": ["alice"]})
    assert "hr/c.md" in project.assemble(QUERY, viewer="alice").text
    assert "hr/c.md" not in project.assemble(QUERY, viewer="bob").text
    project.access.set_groups({})
    assert project.assemble(QUERY, viewer="alice") is hidden


def test_two_viewers_who_may_read_the_same_are_two_viewers(project: Quire) -> None:
    one, other = (project.assemble(QUERY, viewer=name) for name in ("alice", "bob"))
    assert one.text == other.text
    assert one is not other
    assert one.receipt["viewer_hash"] != other.receipt["viewer_hash"]


def test_an_event_that_moves_the_present_misses(project: Quire) -> None:
    first = project.assemble(QUERY, recent=50)
    record = project.documents.list()[0]
    with project.store.write() as writer:
        writer.put_events([Event("alice", "edit", record.id, 1_700_000_000)])
    assert project.assemble(QUERY, recent=50) is not first


def test_a_failure_is_shown_and_never_kept(project: Quire) -> None:
    working = project._project._embedder
    project._project._embedder = Broken()
    failed = project.assemble(QUERY)
    assert [(one.source, one.reason) for one in failed.failed] == [
        ("semantic", "the model is out of order")
    ]
    assert failed.sources, "the words still answer"
    assert project.assemble(QUERY) is not failed
    project._project._embedder = working
    well = project.assemble(QUERY)
    assert not well.failed
    assert project.assemble(QUERY) is well


def test_what_an_embedder_raises_is_a_failure_too(project: Quire) -> None:
    class Odd(Meaning):
        def embed_query(self, text: str) -> bytes:
            raise ZeroDivisionError(text)

    project._project._embedder = Odd()
    (failure,) = project.assemble(QUERY).failed
    assert failure.reason == f"the embedder failed: ZeroDivisionError: {QUERY}"


def test_an_error_is_not_kept(project: Quire) -> None:
    for _ in range(2):
        with pytest.raises(BudgetTooSmallError):
            project.assemble(QUERY, budget=2, reserve={})
    assert project.assemble(QUERY, budget=2, reserve={}, allow_empty=True).text == ""


def test_the_vector_of_a_question_is_made_once(project: Quire) -> None:
    embedder = Meaning()
    project._project._embedder = embedder
    project.assemble(QUERY)
    project.assemble(QUERY, budget=3000)
    project.assemble(QUERY, viewer="alice")
    project.search(QUERY)
    assert embedder.asked == [QUERY]
    project.assemble("another")
    assert embedder.asked == [QUERY, "another"]


def test_a_recipe_without_meaning_asks_no_model(project: Quire, tree: Tree) -> None:
    path = tree.write("words.toml", "[sources.lexical]\nk = 50\n")
    embedder = Meaning()
    project._project._embedder = embedder
    context = project.assemble(QUERY, recipe=str(path))
    assert embedder.asked == []
    assert not context.notes
    assert context.receipt["query_vector"] is None
    assert all(set(one.signals) == {"lexical"} for one in context.decisions)


def test_kept_contexts_are_bounded(project: Quire, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: Any = project._contexts
    monkeypatch.setattr(kept, "_max_items", 3)
    first = project.assemble(QUERY, budget=2000)
    for budget in (2001, 2002):
        project.assemble(QUERY, budget=budget)
    assert project.assemble(QUERY, budget=2000) is first
    for budget in (2003, 2004):
        project.assemble(QUERY, budget=budget)
    assert project.assemble(QUERY, budget=2000) is first, "what was used last stays"
    for budget in (2005, 2006, 2007):
        project.assemble(QUERY, budget=budget)
    assert project.assemble(QUERY, budget=2000) is not first
    assert len(kept._items) == 3


def test_kept_contexts_are_bounded_by_what_they_take(
    project: Quire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contexts of a million tokens, as many as there may be, would fill the memory."""
    context = project.assemble(QUERY)
    assert runner.context_bytes(context) > len(context.text) + len(context.sources)
    monkeypatch.setattr(runner, "SOURCE_BYTES", CACHED_CONTEXT_BYTES // (2 * len(context.sources)))
    first, second = project.assemble(f"{QUERY} 1"), project.assemble(f"{QUERY} 2")
    assert project.assemble(f"{QUERY} 2") is second
    assert project.assemble(f"{QUERY} 1") is not first, "both do not fit"


def test_a_repeat_retrieves_nothing(library: Quire, monkeypatch: pytest.MonkeyPatch) -> None:
    first = library.assemble(QUERY)

    def refuse(*_: object) -> None:
        raise AssertionError("retrieved again")

    monkeypatch.setattr(runner, "retrieve", refuse)
    assert library.assemble(QUERY) is first
    with pytest.raises(AssertionError, match="retrieved again"):
        library.assemble(QUERY, budget=3000)
