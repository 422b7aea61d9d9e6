"""Pages end where what is left is not likely to help."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quire import Quire
from quire.embed.local import LocalEmbedder
from quire.integrations.tool_context import context_for
from quire.pipeline.recipe import by_words, load
from tests.conftest import Forest, Tree

pytestmark = pytest.mark.model

NOW = 1_780_000_000
MEMORIES = (
    "The staging database listens on port 5433, not on the default one.",
    "Releases are tagged from main on Thursdays by whoever is on call.",
    "The logo may only be used on a white background.",
    "Kafka topics are named after the team that owns them.",
    "Go files are indented with tabs.",
    "Backups are kept for ninety days in another region.",
)
ASKED = "Which port does the staging database use?"
FAR = "How do I bake sourdough bread at home?"


@pytest.fixture
def notes(tree: Tree, model: LocalEmbedder) -> Iterator[Quire]:
    with tree.open() as quire:
        for text in MEMORIES:
            quire.memories.add(text, at=NOW)
        quire.index()
        yield quire


def test_what_is_not_about_the_question_is_left_out(notes: Quire) -> None:
    page = notes.assemble(ASKED, recipe="agent")
    assert "port 5433" in page.text
    assert "logo" not in page.text
    assert "Go files" not in page.text
    (first, *_) = page.items
    assert first.relevance is not None
    assert first.relevance > 0.5
    everything = notes.assemble(ASKED, recipe="agent", floor=0)
    assert all(text in everything.text for text in MEMORIES)


def test_where_nothing_is_known_the_page_is_empty_and_says_so(notes: Quire) -> None:
    page = notes.assemble(FAR, recipe="agent", allow_empty=True)
    assert page.items == ()
    assert any("nothing that was found is likely to help" in note for note in page.notes)
    assert {decision.step for decision in page.decisions} == {"relevance"}


def test_explain_and_why_not_tell(notes: Quire) -> None:
    page = notes.assemble(ASKED, recipe="agent")
    (left_out,) = [
        decision
        for decision in page.decisions
        if decision.step == "relevance" and decision.path == _path(notes, "logo")
    ]
    assert left_out.reason.startswith("not likely to help: its relevance is 0.")
    assert left_out.signals["relevance"] < 150
    (told,) = notes.why_not(ASKED, _path(notes, "logo"), recipe="agent")
    assert told.checked
    assert [(each.step, each.setting) for each in told.relaxed] == [("relevance", "rank.floor")]
    assert told.relaxed[0].value == left_out.signals["relevance"]


def _path(notes: Quire, word: str) -> str:
    (record,) = [one for one in notes.memories.list() if word in one.content]
    return f".quire/memory/{record.id}"


def test_a_memory_of_importance_comes_first_among_equals(tree: Tree, model: LocalEmbedder) -> None:
    with tree.open() as quire:
        for text, importance in (
            ("Port 5433 is the one of the staging database.", 0.0),
            ("On port 5433 the staging database listens.", 1.0),
        ):
            quire.memories.add(text, at=NOW, importance=importance)
        quire.index()
        page = quire.assemble(ASKED, recipe="agent")
        assert [item.about["importance"] for item in page.items] == [1.0, 0.0]


def test_without_vectors_nothing_is_left_out(tree: Tree) -> None:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    with tree.open() as quire:
        for text in MEMORIES:
            quire.memories.add(text, at=NOW)
        (item,) = quire.assemble("the kafka of my dreams", recipe="agent").items
        assert (item.relevance, item.similarity) == (None, None)


def test_a_second_sentence_does_not_hide_what_the_first_asks_for(plant: Forest) -> None:
    """By words alone, as in hooks: the words of other requests do not count against a memory."""
    tree = plant("words", {"quire.toml": '[embed]\nprovider = "none"\n'})
    tree.index()
    with tree.open() as quire:
        for text in MEMORIES:
            quire.memories.add(text, at=NOW)
        asked = (
            "Which weekday are releases made? Then write a short cheerful announcement for customers, "
            "translate it into German, and attach two pictures of the office garden."
        )
        page = quire.assemble(asked, recipe=by_words(load("agent")))
    assert "Releases are tagged from main" in page.text
    assert "Go files" not in page.text


def test_a_definition_that_is_named_with_its_file_stays(tree: Tree, model: LocalEmbedder) -> None:
    tree.write("src/report.py", "def main():\n    print(1)\n")
    tree.write("src/other.py", "def main():\n    print(2)\n")
    query = "why are bug reports of plugins printed without colours by main in src/report.py"
    with tree.open() as opened:
        opened.index()
        page = opened.assemble(query, recipe="agent", floor=900)
        assert [source.path for source in page.sources] == ["src/report.py"]
        assert "print(1)" in page.text


def test_a_tool_call_that_nothing_is_known_about_gets_nothing(notes: Quire) -> None:
    """As the proxy asks for each call: ports and tabs in Go say nothing about the time."""
    call = {"tool": "get_current_time", "params": {"timezone": "Pacific/Kiritimati"}}
    assert context_for(notes, call).items == ()
    known = {"tool": "connect", "params": {}, "intent": ASKED}
    assert "port 5433" in context_for(notes, known).text
