"""A short text that stands in a longer one is said once, wherever the longer one is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire.core.types import Candidate
from quire.engine import Quire
from quire.packing import find_contained
from tests.pipeline.builders import chunk

SAID = (
    "The relay answers with code 42 when the queue is full and the operator has to drain it by "
    "hand before noon."
)
STEPS = " ".join(f"Step {n} concerns valve {n} in hall {n}, opened slowly." for n in range(12))
QUERY = "what does the relay answer when the queue is full"


def candidate(text: str, path: str, score: int) -> Candidate:
    return Candidate(chunk(text, path), score, {})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Quire]:
    (tmp_path / "short.md").write_text(f"{SAID}\n")
    (tmp_path / "long.md").write_text(f"{SAID} {STEPS}\n")
    (tmp_path / ".quire").mkdir()
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        yield opened


@pytest.mark.parametrize("recipe", ["documents", "entities"])
@pytest.mark.parametrize("form", ["markers", "markdown", "plain", "xml", "json"])
@pytest.mark.parametrize("budget", [90, 400, 4000])
def test_a_sentence_is_said_once(store: Quire, recipe: str, form: str, budget: int) -> None:
    context = store.assemble(
        QUERY, recipe=recipe, format=form, budget=budget, reserve={}, levels=["full"]
    )
    assert context.text.count("The relay answers with code 42") == 1
    assert ("Step 3" in context.text) == (budget > 90)
    assert store.verify(context.receipt, context.text).problems == ()
    assert store.replay(context.receipt)[1] == []
    if budget > 90:
        (dropped,) = [each for each in context.decisions if each.path == "short.md"]
        assert (dropped.step, dropped.verdict) == ("dedup", "dropped")
        assert dropped.reason.startswith("100% of it stands in long.md:1-1")
        (told,) = store.why_not(
            QUERY,
            "short.md",
            recipe=recipe,
            format=form,
            budget=budget,
            reserve={},
            levels=["full"],
        )
        assert (told.step, told.checked) == ("dedup", True)
        assert [(each.setting, each.value) for each in told.relaxed] == [("fit.dedup", 1)]


def test_what_the_longer_text_does_not_show_is_shown_itself(store: Quire) -> None:
    (store.root() / "long.md").write_text(f"{STEPS} {STEPS.upper()} {SAID}\n")
    store.index(embed=False)
    context = store.assemble(QUERY, recipe="entities", cap=400)
    assert context.text.count("The relay answers with code 42") == 1
    assert {source.path for source in context.sources} == {"short.md", "long.md"}


@pytest.mark.parametrize(
    "other",
    [
        SAID.replace("42", "43"),
        SAID.replace("is full", "is not full"),
        SAID.replace("noon", "Monday"),
        SAID.replace("relay", "modem"),
        SAID.replace("when the queue", "unless the queue"),
    ],
)
def test_what_contradicts_a_text_does_not_hold_it(other: str) -> None:
    short, long = candidate(SAID, "a.md", 2), candidate(f"{other} {STEPS}", "b.md", 1)
    assert find_contained([short, long]) == []
    same = candidate(f"{STEPS} {SAID}", "b.md", 1)
    (found,) = find_contained([short, same])
    assert (found.candidate, found.of, found.percent) == (short, same, 100)


def test_texts_without_words_hold_nothing() -> None:
    assert find_contained([candidate(" ", "a.md", 2), candidate("", "b.md", 1)]) == []
    assert find_contained([]) == []
