"""What a question about a workspace is after, and what is left of it to search for."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.pages.intents import questions
from quire import Block
from quire.core.dates import parse_date
from quire.core.types import EmbedSettings
from quire.embed import open_embedder
from quire.pipeline import recipe
from quire.pipeline.intent_examples import Examples, guess_intent, load_examples
from quire.pipeline.intents import ParsedQuery, parse_query
from quire.retrieval import TaskQuery
from tests.conftest import Tree

INTENTS = recipe.load("workspace").intents
NOW = parse_date("now", "2026-11-16", end=True)
LABELLED = [
    tuple(part.strip() for part in line.split("|"))
    for line in (Path(__file__).parent / "intents.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def parsed(query: str, focus: str | None = None) -> ParsedQuery:
    return parse_query(query, INTENTS, focus=focus, as_of=NOW)


def is_kept_back(query: str) -> bool:
    """Half of the questions were not looked at while the table of words was written."""
    return hashlib.sha256(query.encode()).digest()[0] % 2 == 1


@pytest.mark.parametrize(("kept_back", "least"), [(False, 0.85), (True, 0.75)])
def test_intents_of_labelled_questions(kept_back: bool, least: float) -> None:
    wrong = []
    questions = [row for row in LABELLED if is_kept_back(row[1]) is kept_back]
    for label, query in questions:
        intents = parsed(query).intents
        if (intents[0] if intents else "-") != label:
            wrong.append((label, query, intents))
    assert 1 - len(wrong) / len(questions) >= least, wrong


@pytest.mark.parametrize(
    ("query", "tasks", "text"),
    [
        ("Which tasks are overdue?", TaskQuery(overdue=True), ""),
        ("Show me my open to-dos", TaskQuery(mine=True), ""),
        ("Which tasks did we finish?", TaskQuery(words=frozenset({"finish"})), "finish"),
        ("completed tasks", TaskQuery(done=True), ""),
        ("Ana's overdue tasks", TaskQuery(overdue=True, words=frozenset({"ana"})), "ana"),
        (
            "tasks of the Session Service",
            TaskQuery(words=frozenset({"session", "service"})),
            "session service",
        ),
    ],
)
def test_a_question_for_tasks_says_which(query: str, tasks: TaskQuery, text: str) -> None:
    found = parsed(query)
    assert (found.tasks, found.text) == (tasks, text)


@pytest.mark.parametrize(
    ("period", "first", "last"),
    [
        ("today", "2026-11-16", "2026-11-16"),
        ("tomorrow", "2026-11-17", "2026-11-17"),
        ("this week", "2026-11-16", "2026-11-22"),
        ("next week", "2026-11-23", "2026-11-29"),
        ("this month", "2026-11-01", "2026-11-30"),
        ("next month", "2026-12-01", "2026-12-31"),
    ],
)
def test_periods_are_those_of_the_calendar(period: str, first: str, last: str) -> None:
    tasks = parsed(f"deadlines {period}").tasks
    assert tasks is not None
    # A task that is due on a day is due at the end of it.
    begin, end = parse_date("", first), parse_date("", last, end=True) + 1
    assert tasks.due == (begin, end)


def test_what_refers_to_the_focus_is_asked_with_its_title() -> None:
    found = parsed("Summarize this page", focus="Search Ranking")
    assert (found.text, found.refers_to_focus) == ("Search Ranking", True)
    found = parsed("Break this task into subtasks", focus="Split the login handler")
    assert found.tasks is None, "it is about one task, not a list of them"
    assert found.text == "break into subtasks Split the login handler"
    listed = parsed("open tasks of this project", focus="Search Ranking")
    assert listed.tasks == TaskQuery(of_focus=True)
    assert parsed("Summarize this page").text == "Summarize this page", "nothing is viewed"


def test_a_question_without_an_intent_is_searched_as_it_is() -> None:
    query = "What is the refund policy of Acme, Inc.?"
    assert parsed(query, focus="Plan") == ParsedQuery(query)
    assert parse_query("overdue tasks", {}, focus=None, as_of=None) == ParsedQuery("overdue tasks")


def test_an_intent_may_be_guessed_where_the_words_reveal_none() -> None:
    def guessed(query: str, name: str) -> ParsedQuery:
        return parse_query(query, INTENTS, focus=None, as_of=NOW, guess=lambda: name)

    query = "What do I still have to get done this week?"
    found = guessed(query, "tasks")
    due = (parse_date("", "2026-11-16"), parse_date("", "2026-11-22", end=True) + 1)
    assert found == ParsedQuery(query, ("tasks",), TaskQuery(mine=True, due=due, guessed=True))
    assert guessed("Boil it down", "summary") == ParsedQuery("Boil it down", ("summary",))
    assert guessed("Boil it down", "") == ParsedQuery("Boil it down")
    assert guessed("Which tasks are overdue?", "summary").intents == ("tasks",), "words come first"


def test_only_what_is_clearly_nearer_than_no_intent_is_guessed() -> None:
    one, other = bytes([100, *[0] * 7]), bytes([0, 100, *[0] * 6])
    examples: Examples = {
        label: np.array([[*vector]] * 7, dtype=np.int64)
        for label, vector in (("-", one), ("tasks", other))
    }
    assert guess_intent(other, examples) == "tasks"
    assert guess_intent(one, examples) == ""
    assert guess_intent(bytes([71, 71, *[0] * 6]), examples) == ""
    assert guess_intent(other, {}) == ""
    assert load_examples("another model") == {}


@pytest.mark.model
def test_guesses_on_questions_that_were_kept_back() -> None:
    embedder = open_embedder(EmbedSettings())
    assert embedder is not None
    examples = load_examples(embedder.model)
    right = wrong = with_one = 0
    for label, question in questions(kept_back=True):
        name = guess_intent(embedder.embed_query(question), examples) or "-"
        with_one += label != "-"
        right += label == name != "-"
        wrong += name not in {label, "-"}
    assert right >= 0.38 * with_one
    assert wrong <= 0.1 * with_one


@pytest.mark.model
def test_a_guess_is_replayed_without_the_model(tree: Tree) -> None:
    tasks = [Block("plan", "page", "Fair", access=("public",))]
    tasks.append(Block("order", "todo", "Order the badges", "plan", 0, {"due": "2026-11-18"}))
    with tree.open() as opened:
        opened.blocks.put(tasks, at=NOW)
        opened.index(embed=True)
        query = "What must be ready by Monday?"
        context = opened.assemble(query, recipe="workspace", as_of=NOW)
        assert context.receipt["query_vector"]
        (kept,) = [each for each in context.decisions if each.path.endswith("/order")]
        assert "tasks" in kept.signals
        assert opened.verify(context.receipt, context.text).problems == ()
    tree.write("quire.toml", "[embed]\nprovider = 'none'\n")
    with tree.open() as opened:
        assert opened.replay(context.receipt)[1] == []
        plain = opened.assemble(query, recipe="workspace", as_of=NOW, allow_empty=True)
        assert "tasks" not in str([each.signals for each in plain.decisions])


@given(st.text(max_size=200), st.one_of(st.none(), st.text(max_size=20)))
def test_any_question_is_read(query: str, focus: str | None) -> None:
    parse_query(query, INTENTS, focus=focus, as_of=NOW)
