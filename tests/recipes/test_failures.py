"""A page comes in time, and names what is missing, whatever becomes of its sections."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from quire import Quire
from quire.core.types import Failure
from quire.errors import InputError
from quire.recipes.agent import fill_recipe
from tests.conftest import Tree
from tests.pipeline.invariants import count
from tests.recipes.misbehaving import (
    SOON,
    Answer,
    Hang,
    garbage,
    halves,
    impatient,
    invented,
    misbehave,
    raises,
    refuses,
    twice,
    unasked,
    unplaced,
)
from tests.recipes.parsed import seen

QUERY = "why is login slow: session cache and connections"


@pytest.fixture
def hang() -> Iterator[Hang]:
    made = Hang()
    yield made
    made.free.set()


def sections_asked() -> list[str]:
    """Name the threads that still ask."""
    return [each.name for each in threading.enumerate() if each.name.startswith("quire-")]


def wait_until_nobody_asks() -> None:
    until = time.monotonic() + 30
    while any(not name.startswith("quire-embed") for name in sections_asked()):
        assert time.monotonic() < until, sections_asked()
        time.sleep(0.01)


def test_one_raises_one_hangs_and_one_talks_nonsense(shop: Quire, hang: Hang) -> None:
    whole = shop.assemble(QUERY, recipe=impatient(timeout=30_000))
    misbehave(shop, memory=raises, code=hang, commit=garbage)
    begun = time.monotonic()
    page = shop.assemble(QUERY, recipe=impatient())
    assert time.monotonic() - begun < SOON / 1000 + 10, "a busy machine has its time, no hang has"
    assert page.failed == (
        Failure("code", f"no answer within {SOON} ms"),
        Failure("commits.lexical", "it answered with what is no list of hits"),
        Failure("memories.lexical", "ZeroDivisionError: a mistake of the engine"),
    )
    told = seen(page.text)
    assert told.warnings == [
        f"**Missing**: {failure.source}: {failure.reason}" for failure in page.failed
    ]
    lines = page.text.splitlines()
    assert lines[0] == "# Context"
    assert lines[2].startswith("> **Missing**: code"), "before anything else"
    assert set(told.sections) <= {"Memories", "Documents", "Experiences", "Values", "Commits"}
    assert told.sections["Experiences"]
    assert page.tokens == count("o200k", page.text) <= 2000
    # What did answer is what it was.
    there = {item.chunk_id for item in whole.items if item.section == "experiences"}
    shown = {item.chunk_id for item in page.items if item.section == "experiences"}
    repeats = {one.chunk_id for one in page.decisions if one.step == "dedup"}
    assert there <= shown | repeats, "a value may tell the same"
    hang.free.set()
    assert hang.ended.wait(30)
    wait_until_nobody_asks()


def test_a_failure_is_replayed_as_it_was_and_not_cached(shop: Quire, hang: Hang) -> None:
    store = misbehave(shop, memory=refuses, code=hang)
    page = shop.assemble(QUERY, recipe=impatient())
    assert {failure.source for failure in page.failed} == {"memories.lexical", "code"}
    assert shop.verify(page.receipt, page.text).problems == ()
    hang.free.set()
    store.answers = {}
    again, differing = shop.replay(page.receipt, keep_failures=True)
    assert differing == []
    assert again.text == page.text
    assert json.dumps(again.receipt) == json.dumps(page.receipt)
    healed = shop.assemble(QUERY, recipe=impatient(timeout=30_000))
    assert healed.failed == ()
    assert {"code", "memories"} <= {item.section for item in healed.items}
    # With the failures gone, the very same request is answered anew, too.
    assert shop.assemble(QUERY, recipe=impatient()).text == healed.text


@pytest.mark.parametrize("answer", [halves, unplaced, twice, invented, unasked, garbage, raises])
def test_whatever_an_engine_answers_only_its_section_is_missing(
    shop: Quire, answer: Answer
) -> None:
    misbehave(shop, experience__full=answer)
    page = shop.assemble(QUERY, recipe="agent")
    (failure,) = page.failed
    assert failure.source in {"experiences", "experiences.lexical"}
    assert failure.reason
    assert {"memories", "code", "commits"} <= {item.section for item in page.items}
    found = [one for one in page.decisions if "/experience/" in one.path]
    assert all(set(one.signals) & {"lexical", "semantic"} == {"semantic"} for one in found)
    assert bool(found) == (failure.source == "experiences.lexical")
    assert shop.replay(page.receipt, keep_failures=True)[1] == []


def test_what_fails_everywhere_is_told_once(shop: Quire) -> None:
    kinds = ("memory", "code", "document", "experience__full", "value", "commit")
    misbehave(shop, **dict.fromkeys(kinds, refuses))
    page = shop.assemble(QUERY, recipe="agent")
    assert page.failed == (Failure("lexical", "the disk is on fire"),)
    assert page.items, "meaning still answers"
    assert shop.replay(page.receipt, keep_failures=True)[1] == []


def test_what_fails_in_one_section_is_asked_in_the_others_again(shop: Quire) -> None:
    misbehave(shop, commit=refuses)
    page = shop.assemble(QUERY, recipe="agent")
    assert page.failed == (Failure("commits.lexical", "the disk is on fire"),)
    signals = {one.path: one.signals for one in page.decisions}
    assert any("lexical" in found for path, found in signals.items() if "memory" in path)
    assert not any("lexical" in found for path, found in signals.items() if ".git/" in path)
    again, differing = shop.replay(page.receipt, keep_failures=True)
    assert differing == []
    assert again.decisions == page.decisions


def test_a_premortem_with_failures_is_replayed(shop: Quire, hang: Hang) -> None:
    recipe = fill_recipe(impatient("premortem"), "performance", "check-assumptions")
    misbehave(shop, experience__surprise=hang, experience__root_cause=raises)
    page = shop.assemble("performance with check-assumptions", recipe=recipe)
    assert [failure.source for failure in page.failed] == ["root_causes.lexical", "surprises"]
    assert list(seen(page.text).sections)[:1] == ["Common Failures"]
    hang.free.set()
    wait_until_nobody_asks()
    assert shop.verify(page.receipt, page.text).problems == ()
    assert shop.replay(page.receipt, keep_failures=True)[1] == []


def test_an_error_that_is_not_ours_stops_one_source_only(shop: Quire) -> None:
    kinds = ("memory", "code", "document", "experience__full", "value", "commit")
    misbehave(shop, **dict.fromkeys(kinds, raises))
    page = shop.assemble(QUERY, recipe="agent", allow_empty=True)
    assert page.failed == (Failure("lexical", "ZeroDivisionError: a mistake of the engine"),)
    assert page.items, "meaning still answers"
    assert len(seen(page.text).warnings) == 1
    assert shop.replay(page.receipt, keep_failures=True)[1] == []


def broken_disk(_: object, __: object) -> None:
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize("recipe", ["documents", "entities"])
@pytest.mark.parametrize("answer", [raises, broken_disk])
def test_recipes_without_sections_answer_by_the_other_source(
    shop: Quire, recipe: str, answer: Answer
) -> None:
    misbehave(shop, memory=answer)
    page = shop.assemble(QUERY, recipe=recipe, kinds=["memory"])
    (failure,) = page.failed
    assert failure.source == "lexical"
    assert failure.reason.startswith(("ZeroDivisionError: ", "OSError: "))
    assert page.sources, "meaning still answers"
    assert shop.replay(page.receipt, keep_failures=True)[1] == []


def test_a_search_answers_by_the_other_source(shop: Quire) -> None:
    misbehave(shop, memory=raises)
    found = shop.search(QUERY, kinds=["memory"])
    assert found.failed == (Failure("lexical", "ZeroDivisionError: a mistake of the engine"),)
    assert found.results


def test_a_formatted_context_says_why_it_is_empty(shop: Quire) -> None:
    page = shop.agent.assemble_context(QUERY, max_tokens=12)
    assert page.markdown == ""
    assert page.notes
    assert page.notes == shop.assemble(QUERY, recipe="agent", budget=12, allow_empty=True).notes


def test_a_long_reason_does_not_take_the_room_of_the_items(shop: Quire) -> None:
    def babbles(*_: object) -> None:
        raise ValueError("## Code\n" + "word " * 5000)

    misbehave(shop, commit=babbles)
    page = shop.assemble(QUERY, recipe="agent", budget=1000)
    assert len(page.items) > 5
    (warning,) = seen(page.text).warnings
    assert len(warning) < 250
    assert warning.endswith("...")
    assert len(page.failed[0].reason) > 20_000, "`failed` has all of it"
    assert shop.replay(page.receipt, keep_failures=True)[1] == []


def test_the_callers_mistakes_are_errors_not_failures(shop: Quire) -> None:
    recipe = impatient()
    wrong = replace(recipe.sections[0], paths=("[",))
    with pytest.raises(InputError, match="not a glob"):
        shop.assemble(QUERY, recipe=replace(recipe, sections=(wrong, *recipe.sections[1:])))


def test_late_answers_harm_nobody_who_asks_afterwards(own_shop: Tree) -> None:
    """While hung sections wake up, others ask and write: nobody meets their connections."""
    with own_shop.open() as quire:
        expected = quire.assemble(QUERY, recipe=impatient(timeout=60_000)).text
        plain = quire.store
        for turn in range(4):
            hang = Hang()
            misbehave(quire, memory=hang, code=hang, commit=hang)
            late = quire.assemble(QUERY, recipe=impatient(timeout=100))
            assert len(late.failed) == 3
            quire._project.store = plain
            threading.Timer(0.01 * turn, hang.free.set).start()
            for _ in range(3):
                quire._contexts._items.clear()
                assert quire.assemble(QUERY, recipe=impatient(timeout=60_000)).text == expected
            hang.free.set()
            wait_until_nobody_asks()
        quire.memories.add("After all of it.", at=5)
        assert quire.doctor() == []
        connections = quire.store._connections  # type: ignore[attr-defined]
        assert not any(each.abandoned or each.in_transaction for each in connections._idle)
        assert len(connections._idle) < 6


def test_a_connection_that_is_still_read_is_not_lent_to_others(own_shop: Tree) -> None:
    """The hang is inside the search itself, where it holds on to the snapshot."""
    from quire.indexing.freshness import Freshness
    from quire.indexing.project import Project
    from quire.store.index import search

    whole = search.lexical
    hang = Hang()
    with pytest.MonkeyPatch.context() as patch, own_shop.open() as quire:

        def slow(snapshot: object, query: str, k: int, where: object, **options: Any) -> object:
            if "commit" in where.kinds:  # type: ignore[attr-defined]
                assert hang.free.wait(60)
            return whole(snapshot, query, k, where, **options)  # type: ignore[arg-type]

        patch.setattr(search, "lexical", slow)
        # Which would open connections of their own.
        patch.setattr(Freshness, "answer", lambda _, make, *__, **___: make(()))
        patch.setattr(Project, "why_words_alone", lambda *_: None)
        page = quire.assemble(QUERY, recipe=impatient())
        assert [failure.source for failure in page.failed] == ["commits"]
        connections = quire.store._connections  # type: ignore[attr-defined]
        assert connections._idle == [], "closed: somebody still reads on it"
        quire.memories.add("Written meanwhile.", at=5)
        hang.free.set()
        wait_until_nobody_asks()
        assert quire.assemble(QUERY, recipe=impatient(timeout=60_000)).failed == ()
        assert quire.doctor() == []


def test_a_section_may_be_named_like_a_source(shop: Quire) -> None:
    """Whoever fails then, the section, the source in it or everywhere, it is told apart."""
    recipe = impatient(timeout=30_000)
    first, second, *rest = recipe.sections
    named = replace(recipe, name="mine", sections=(replace(first, name="lexical"), second, *rest))
    for answers, told in (
        ({"memory": invented}, {"lexical"}),
        ({"memory": refuses}, {"lexical.lexical"}),
        ({"code": refuses}, {"code.lexical"}),
        (
            dict.fromkeys(
                ("memory", "code", "document", "experience__full", "value", "commit"), refuses
            ),
            {f"{section.name}.lexical" for section in named.sections},
        ),
    ):
        store = misbehave(shop, **answers)
        page = shop.assemble(QUERY, recipe=named)
        assert {failure.source for failure in page.failed} == told
        assert shop.replay(page.receipt, keep_failures=True)[1] == []
        shop._project.store = store._store
        assert shop.replay(page.receipt, keep_failures=True)[1] == []
