"""Decisions that a cached context holds as text read as the tuple that they were."""

from __future__ import annotations

import copy
import gc
import json
import pickle
from collections.abc import Callable
from dataclasses import asdict, replace

import pytest

from quire.core.types import Decision
from quire.receipts import FrozenDict, WrittenDecisions
from quire.receipts.canonical import plain
from quire.receipts.written import Decisions, as_data


def decision(number: int, verdict: str = "dropped") -> Decision:
    return Decision(
        chunk_id=f"{number:032x}",
        path=f'a "b"/\u00e9\ud800\n{number}.md',
        lines=(number, number + 3),
        step="fit" if verdict != "dropped" else "rank",
        verdict=verdict,
        reason="ranked 5, only the first 3 go on",
        tokens=number,
        score=-number,
        signals=FrozenDict({"lexical": number, "semantic": -1}),
    )


PLAIN = (decision(1, "kept"), decision(2, "cut"), decision(3), decision(4))


@pytest.fixture
def written() -> WrittenDecisions:
    return WrittenDecisions.of(PLAIN)


def test_reads_as_the_tuple_that_was_written(written: WrittenDecisions) -> None:
    assert isinstance(written, tuple)
    assert len(written) == 4
    assert tuple(written) == PLAIN
    assert [*written] == list(PLAIN)
    assert written == PLAIN
    assert PLAIN == written  # noqa: SIM300 - from both sides
    assert not written != PLAIN  # noqa: SIM202 - the operator has a method of its own
    assert written == WrittenDecisions.of(PLAIN)
    assert written != PLAIN[:3]
    assert written[0] == PLAIN[0]
    assert written[-1] == PLAIN[-1]
    assert written[1:3] == PLAIN[1:3]
    assert PLAIN[2] in written
    assert written.index(PLAIN[2]) == 2
    assert written.count(PLAIN[2]) == 1
    assert written + PLAIN[:1] == (*PLAIN, PLAIN[0])
    assert PLAIN[:1] + written == (PLAIN[0], *PLAIN)
    assert written * 2 == 2 * written == PLAIN * 2
    assert hash(written.index) is not None
    assert repr(written) == repr(PLAIN)
    first, *rest = written
    assert (first, *rest) == PLAIN


def test_nothing_is_read_from_an_empty_one() -> None:
    empty = WrittenDecisions.of(())
    assert not empty
    assert empty == ()
    assert tuple(empty) == ()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copy_is_a_plain_tuple(
    written: WrittenDecisions, copied: Callable[[WrittenDecisions], Decisions]
) -> None:
    assert type(copied(written)) is tuple
    assert copied(written) == tuple(replace(each, signals={**each.signals}) for each in PLAIN)


def test_no_caller_can_change_the_signals_of_another(written: WrittenDecisions) -> None:
    with pytest.raises(TypeError):
        written[0].signals["lexical"] = 5  # type: ignore[index]


def test_its_data_has_the_fields_in_their_order(written: WrittenDecisions) -> None:
    assert json.dumps(as_data(written.included)) == json.dumps(plain(PLAIN[:2]))
    assert json.dumps(as_data(written.excluded)) == json.dumps(plain(PLAIN[2:]))
    assert written.excluded_count == 2
    assert [asdict(each) for each in written] == [asdict(each) for each in PLAIN]


def test_what_is_left_out_never_comes_before_what_is_in() -> None:
    with pytest.raises(AssertionError):
        WrittenDecisions.of((PLAIN[2], PLAIN[0]))


def test_it_holds_no_decision_itself() -> None:
    written = WrittenDecisions.of(PLAIN)
    assert not any(isinstance(each, Decision) for each in gc.get_referents(written))
