"""An experience stands on every page as it was told: whole, once, and nothing run together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from quire import Quire
from quire.core.types import (
    Candidate,
    Frame,
    Passage,
    Piece,
    Record,
    RenderSpec,
    Run,
    Section,
)
from quire.rendering import render
from tests.conftest import Tree
from tests.pipeline import builders

SECTION = Section("a", title="All")

FACTS: dict[str, Any] = {
    "hypothesis": "The walrus files have a BOM",
    "action": "Strip the BOM of walrus files",
    "prediction": "10 times",
}
RESULT: dict[str, Any] = {
    "result": "Still failing after 10 times",
    "surprise": "The walrus files are UTF-16",
    "root_cause": "The exporter of walrus files writes UTF-16",
    "lesson": "Look at the first bytes of walrus files",
}


@pytest.fixture
def walrus(wordy: Tree) -> Iterator[Quire]:
    with wordy.open() as quire:
        started = quire.experiences.start(
            "Walrus import fails", domain="data", strategy="small-steps", at=100, **FACTS
        ).value
        quire.experiences.resolve(started.id, "falsified", at=200, **RESULT)
        quire.memories.add("Walrus imports must be run twice.", category="decision", at=300)
        quire.index()
        yield quire


@pytest.mark.parametrize("recipe", ["documents", "entities"])
@pytest.mark.parametrize("name", ["markers", "markdown", "xml", "plain", "json"])
def test_an_experience_is_whole_and_says_nothing_twice(
    walrus: Quire, recipe: str, name: str
) -> None:
    made = walrus.assemble("walrus files import", recipe=recipe, format=name, reserve={})
    for fact in (*FACTS.values(), *RESULT.values()):
        label = "Outcome: falsified - " if fact == RESULT["result"] else ": "
        assert made.text.count(f"{label}{fact}") == 1, fact
    assert "walrus filessmall-steps" not in made.text
    assert len([one for one in made.sources if "/experience/" in one.path]) == 1
    assert walrus.verify(made.receipt, made.text).problems == ()
    assert walrus.replay(made.receipt)[1] == []


def test_an_axis_that_is_asked_for_is_found_itself(walrus: Quire) -> None:
    made = walrus.assemble("walrus", kinds=["experience.surprise"], reserve={})
    assert made.text == "[DOC: experience: Walrus import fails]\nThe walrus files are UTF-16\n"
    both = ["experience.surprise", "experience.root_cause"]
    made = walrus.assemble("walrus", kinds=both, reserve={})
    assert made.text == (
        "[DOC: experience: Walrus import fails]\nThe walrus files are UTF-16\n...\n"
        "The exporter of walrus files writes UTF-16\n"
    )
    assert walrus.verify(made.receipt, made.text).problems == ()


@pytest.mark.parametrize("name", ["markdown", "xml", "plain", "page"])
def test_every_format_of_an_agents_page_shows_the_texts(walrus: Quire, name: str) -> None:
    made = walrus.assemble("walrus", recipe="agent", format=name)
    texts = [fact for fact in (*FACTS.values(), RESULT["lesson"]) if fact not in made.text]
    assert texts == []
    lines = [line.removeprefix("**Memory**: ") for line in made.text.splitlines()]
    assert "Walrus imports must be run twice." in lines
    assert walrus.verify(made.receipt, made.text).problems == ()


def test_a_field_that_another_contains_is_shown(walrus: Quire) -> None:
    page = walrus.agent.assemble_context("walrus", ["experiences"]).markdown
    assert "- **Prediction**: 10 times\n" in page
    assert "- **Outcome**: falsified - Still failing after 10 times\n" in page


def test_a_premortem_tells_an_experience_in_its_order(walrus: Quire) -> None:
    page = walrus.agent.get_premortem_context("data").markdown
    failure = page.partition("## Common Failures")[2].partition("## ")[0]
    labels = [line.split("**")[1] for line in failure.splitlines() if line.startswith("- **")]
    assert labels == [
        *("Goal", "Hypothesis", "Action", "Prediction", "Outcome", "Surprise"),
        *("Root cause", "Lesson"),
    ]
    assert page.endswith("*Based on 1 past experience*")


def test_the_footer_counts_the_experiences_behind_values() -> None:
    def item(kind: str, at: int, **record: Any) -> Passage:
        path = f".quire/{kind}/{at}"
        chunk = replace(builders.chunk("text", path), kind=kind)
        known = Record(chunk.record_id, kind, path, **record)
        one = Candidate(chunk, 1, {}, record=known, section=SECTION)
        return Passage(chunk.record_id, path, (Run((Piece(one, 1, "text"),), "text", (0, 0)),))

    def footer(*items: Passage) -> str:
        spec = RenderSpec("page", footer="Based on {experiences}")
        return render(items, spec, Frame((SECTION,))).rpartition("\n")[2]

    members = tuple(f".quire/experience/{at}" for at in range(5))
    value = item("value", 1, attrs={"size": 5}, paths=members)
    private = item("value", 2, attrs={"size": 4})
    experiences = [item("experience", at) for at in (3, 4, 9)]
    assert footer(value) == "*Based on 5 past experiences*"
    assert footer(private) == "*Based on 4 past experiences*"
    assert footer(*experiences) == "*Based on 3 past experiences*"
    assert footer(*experiences, value) == "*Based on 6 past experiences*"


@pytest.mark.parametrize("form", ["markdown", "xml", "plain"])
def test_the_lesson_of_a_long_experience_is_shown_in_entities(walrus: Quire, form: str) -> None:
    long = " ".join(f"The seal number {n} was counted." for n in range(30))
    started = walrus.experiences.start(
        "Seal import fails", domain="data", hypothesis=long, at=400
    ).value
    walrus.experiences.resolve(started.id, "falsified", at=500, result="No", lesson="Count twice")
    text = walrus.assemble("seal import", recipe="entities", format=form).text
    assert "Lesson: Count twice" in text
