"""Options without effect are told in every recipe and format, and only those."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import quire
from quire import Quire, QuireError
from quire.pipeline import recipe as recipes
from quire.pipeline.effects import EFFECTS
from quire.rendering import FORMATS
from tests.conftest import Tree

QUERY = "how does the anchor hold"
OTHER: dict[str, Any] = {
    "cap": 30,
    "sources": 1,
    "levels": ["full", "outline"],
    "cut": "keep_end",
    "overflow": "stop",
    "as_of": "2020-01-01",
    "exact": True,
}
"""A value of each option that differs from that of the recipes."""
SWITCHES = ("metadata", "groups", "content")
RECIPES = ("documents", "entities", "agent", "workspace", "situation")


@pytest.fixture
def store(tree: Tree) -> Iterator[Quire]:
    tree.fill(
        {
            "a.md": "# Anchor\n\nThe anchor holds in sand.\n\n## Chain\n\nThe chain is long.\n",
            "b.py": 'def anchor() -> str:\n    """How does it hold?"""\n    return "sand"\n',
            "AGENTS.md": "# Guide\n\nAsk how the anchor holds.\n",
        }
    )
    tree.index()
    with tree.open() as opened:
        opened.memories.add("The anchor does hold in mud, too.")
        yield opened


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("format_", FORMATS)
def test_what_is_told_to_have_no_effect_has_none(store: Quire, recipe: str, format_: str) -> None:
    basis: dict[str, Any] = {
        "recipe": recipe,
        "format": format_,
        "budget": 900,
        "allow_empty": True,
    }
    try:
        plain = store.assemble(QUERY, **basis)
    except QuireError:
        pytest.skip("a format that this recipe cannot have")
    told = set()
    own = recipes.load(recipe).render
    switched = {name: not getattr(own, name) for name in SWITCHES}
    for name, value in {**OTHER, **switched}.items():
        context = store.assemble(QUERY, **basis, **{name: value})
        if any(note.startswith(f"`{name}` has no effect") for note in context.notes):
            told.add(name)
            assert context.text == plain.text, name
            shown = [(source.chunk_id, source.level) for source in context]
            assert shown == [(source.chunk_id, source.level) for source in plain], name
    by_format = {"metadata", "groups", "content", "cap", "sources"} - {*FORMATS[format_].reads}
    assert told >= by_format


def test_every_option_of_the_table_is_tried() -> None:
    assert {*OTHER, *SWITCHES} == {*EFFECTS} - {"previous"}


def test_each_case_is_told_in_words(store: Quire) -> None:
    def notes(**options: Any) -> list[str]:
        found = store.assemble(QUERY, budget=1500, **options).notes
        return [note for note in found if "no effect" in note]

    assert notes(sources=5) == ["`sources` has no effect with the format 'markers'"]
    assert notes(recipe="entities", metadata=True) == [
        "`metadata` has no effect with the format 'markdown'"
    ]
    assert notes(recipe="entities", format="json", groups=False) == [
        "`groups` has no effect with the format 'json'"
    ]
    assert notes(cut="extractive") == ["`cut` has no effect unless `overflow` is cut"]
    assert notes(cut="extractive", overflow="cut") == []
    assert notes(overflow="cut", pack="optimal") == [
        "`overflow` has no effect if `pack` is optimal"
    ]
    assert notes(overflow="cut", hard=False) == ["`overflow` has no effect with a soft budget"]
    assert notes(as_of="2026-01-01") == ["`as_of` has no effect with the recipe 'documents'"]
    assert notes(as_of="2026-01-01", recent=10) == []
    first = store.assemble(QUERY, budget=1500)
    previous = [source.chunk_id for source in first]
    assert notes(previous=previous) == ["`previous` has no effect unless `order` is stable"]
    assert notes(previous=previous, order="stable") == []
    assert notes(focus="a.md") == ["`focus` has no effect with the recipe 'documents'"]
    assert notes(metadata=False, overflow="skip", sources=0) == [], "the recipe says so itself"


def test_the_note_is_no_part_of_what_is_kept(store: Quire) -> None:
    silent = store.assemble(QUERY, budget=1500)
    told = store.assemble(QUERY, budget=1500, exact=False, previous=["0" * 32])
    assert told.text == silent.text
    assert store.assemble(QUERY, budget=1500).notes == silent.notes


def test_a_context_of_brought_results_tells_it_too() -> None:
    results = [quire.RetrievalResult("The anchor holds.", "a.md", 1.0)]
    context = quire.ContextAssembler(budget=300, reserve={}).assemble(QUERY, results, sources=3)
    assert context.notes == ("`sources` has no effect with the format 'markers'",)
