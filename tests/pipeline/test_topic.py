"""Without vectors, a page is empty if nothing that was found is about the question."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quire import Quire
from quire.pipeline.relevance import NOTHING_RELEVANT, OFF_TOPIC
from tests.conftest import Tree

CODE = '''"""A progress bar."""


class Bar:
    def format_eta(self, seconds):
        """Return the time that is left in hours, minutes and seconds."""
        hours, rest = divmod(seconds, 3600)
        return f"{hours}:{rest // 60}:{rest % 60}"

    def render(self, stream):
        """Draw the bar again."""
        stream.write(self.line())


def read_password(stream):
    """Ask for a password without showing it."""
    stream.write("Password: ")
    return stream.readline()
'''
GUIDE = """# Guide

## Progress

A bar shows how much work is left. It is drawn once a second.

## Passwords

A prompt may hide what is typed.
"""


@pytest.fixture
def store(tree: Tree) -> Iterator[Quire]:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("bar.py", CODE)
    tree.write("guide.md", GUIDE)
    with tree.open() as opened:
        opened.index()
        yield opened


UNANSWERED = (
    "What are the office hours in Berlin?",
    "Which bank holds the mortgage of the second warehouse?",
    "How much work do Kafka partitions drain after a deployment?",
)


@pytest.mark.parametrize("question", UNANSWERED)
def test_a_question_without_an_answer_gets_an_empty_page(store: Quire, question: str) -> None:
    page = store.assemble(question, recipe="agent", allow_empty=True)
    assert not page.sources
    assert NOTHING_RELEVANT in page.notes
    assert not page.why_empty, "the note says it: it is not that nothing fits"
    assert OFF_TOPIC in {decision.reason for decision in page.decisions}
    shown = store.assemble(question, recipe="agent", floor=0, allow_empty=True)
    assert shown.sources, "`floor` 0 shows what was found all the same"


@pytest.mark.parametrize(
    "question",
    [
        "How is the remaining time of the bar formatted?",
        "Where is the secret of a user asked for without display?",  # in other words
        "format_eta",
        "hours",
    ],
)
def test_a_question_with_an_answer_keeps_its_page(store: Quire, question: str) -> None:
    assert store.assemble(question, recipe="agent").sources


def test_a_question_above_or_below_a_pasted_text_counts(store: Quire) -> None:
    pasted = "\n".join(f"worker-{n} finished lot {n * 7919} of warehouse Lyon" for n in range(40))
    question = "Why is the password prompt hidden?"
    for query in (f"{question}\n{pasted}", f"{pasted}\n{question}"):
        assert "read_password" in store.assemble(query, recipe="agent").text
    assert not store.assemble(pasted, recipe="agent", allow_empty=True).sources


def test_each_section_is_judged_by_itself(store: Quire) -> None:
    """A memory that answers brings no code that does not."""
    store.memories.add("The sales team in Berlin keeps office hours from nine to five.", at=1)
    page = store.assemble("What are the office hours of the sales team in Berlin?", recipe="agent")
    assert [item.kind for item in page.items] == ["memory"]


def test_a_small_store_is_about_one_thing(store: Quire) -> None:
    """Words that nearly every text has count as well, though they are not rare."""
    store.memories.add("The progress bar is drawn by the bar of the terminal.", at=1)
    assert store.assemble("how does the bar work", recipe="agent").sources
