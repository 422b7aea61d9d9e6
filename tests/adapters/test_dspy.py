"""Quire in DSPy: a retriever in a module, and the configured one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("dspy", reason="dspy is not installed (make test-adapters)")

import dspy
from dspy.utils import DummyLM

from quire import Context, Quire
from quire.adapters.dspy import QuireRetrieve, QuireRM
from quire.errors import InputError

from .conftest import ANY_WAY, QUESTION, SECRET


class Rag(dspy.Module):  # type: ignore[misc]  # without DSPy
    """A program that answers a question from passages."""

    def __init__(self, retrieve: Any) -> None:
        super().__init__()
        self.retrieve = retrieve
        self.answer = dspy.Predict("context: list[str], question -> answer")

    def forward(self, question: str) -> Any:
        found = self.retrieve(question)
        answered = self.answer(context=found.passages, question=question)
        return dspy.Prediction(answer=answered.answer, found=found)

    async def aforward(self, question: str) -> Any:
        found = await self.retrieve.acall(question)
        answered = await self.answer.acall(context=found.passages, question=question)
        return dspy.Prediction(answer=answered.answer, found=found)


def sent(model: DummyLM) -> str:
    """What the model was sent last."""
    return str(model.history[-1]["messages"][-1]["content"])


def test_a_program_answers_from_the_store(store: Quire) -> None:
    contexts: list[Context] = []
    program = Rag(QuireRetrieve(store, budget=300, on_context=contexts.append))
    model = DummyLM([{"answer": "nine"}] * 2)
    with dspy.context(lm=model):
        result = program(question=QUESTION)
        assert "nine tons" in sent(model)
        again = asyncio.run(program.acall(question=QUESTION))
    assert result.answer == again.answer == "nine"
    found = result.found
    assert found.paths[0] == "harbour/cranes.md"
    assert found.lines[0] == (1, 5)
    assert found.titles[0] == "Cranes"
    assert found.scores == sorted(found.scores, reverse=True)
    assert len(found.passages) == len(found.paths)
    assert found.receipt == contexts[0].receipt["hash"]
    assert store.verify(contexts[0].receipt, contexts[0].text).holds


def test_each_viewer_gets_what_they_may_read(store: Quire) -> None:
    for viewer, reads in (("ada", True), ("bob", False)):
        for how in ANY_WAY:
            found = QuireRetrieve(store, viewer=viewer, **how)("sabotaged crane")
            assert any(SECRET in text for text in found.passages) is reads
    with pytest.raises(InputError, match="viewer"):
        QuireRetrieve(store, viewer="bob")("crane", viewer="ada")


def test_hits_and_filters(store: Quire) -> None:
    retrieve = QuireRetrieve(store, k=2)
    assert len(retrieve(QUESTION).passages) == 2
    assert len(retrieve(QUESTION, k=1).passages) == 1
    assert retrieve(QUESTION).receipt == ""
    assert set(QuireRetrieve(store, paths=["*.py"])("crane").paths) == {"src/lift.py"}
    assert retrieve("zebra").passages == []


def test_a_saved_program_keeps_its_number_of_hits(store: Quire) -> None:
    retrieve = QuireRetrieve(store, budget=300)
    retrieve.load_state(QuireRetrieve(store, k=1).dump_state())
    assert len(retrieve(QUESTION).passages) == 1


def test_a_copied_program_reads_the_same_store(store: Quire) -> None:
    program = Rag(QuireRetrieve(store, k=1))
    copied = program.deepcopy()
    assert copied.retrieve is not program.retrieve
    copied.retrieve.k = 2
    assert len(program.retrieve(QUESTION).passages) == 1
    assert len(copied.retrieve(QUESTION).passages) == 2


def test_the_configured_retriever_answers_what_dspy_asks(store: Quire) -> None:
    program = Rag(dspy.Retrieve(k=2))
    model = DummyLM([{"answer": "nine"}])
    with dspy.context(lm=model, rm=QuireRM(store, viewer="bob")):
        found = program(question=QUESTION).found
        assert len(found.passages) == 2
        assert "nine tons" in sent(model)
        assert not any("sabotaged" in text for text in dspy.Retrieve(k=9)("sabotaged").passages)
    (first,) = QuireRM(store)(QUESTION, k=1)
    assert (first.path, first.lines, first.title) == ("harbour/cranes.md", [1, 5], "Cranes")
