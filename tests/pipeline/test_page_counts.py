"""A page that is counted by its blocks counts what it counts when it is rendered."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import quire
from quire import tokens
from quire.core.types import Piece, Recipe
from quire.core.types.blocks import Block
from quire.pipeline import costs, page_counts
from quire.pipeline.draft import Draft
from quire.pipeline.steps import run
from tests.pipeline.builders import draft
from tests.pipeline.strategies import CASES, World, recipes, worlds

PACKAGE = Path(quire.__file__).parent / "packing"
QUERY = "how are duplicates dropped, and does `pack` choose what fits?"


class Checked:
    """Compares what is counted by blocks with what the page counts."""

    def __init__(self) -> None:
        self.ways: Counter[bool] = Counter()

    def __call__(self, draft: Draft, pieces: Sequence[Piece]) -> int | None:
        counted = page_counts.count_page(draft, pieces)
        text = costs.render_pieces(draft, pieces)[1]
        assert counted in {None, draft.counter.count(text)}
        self.ways[counted is None] += 1
        return counted


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Checked:
    check = Checked()
    monkeypatch.setattr(costs, "count_page", check)
    return check


def as_entities(recipe: Recipe, *, groups: bool, sources: int) -> Recipe:
    render = replace(recipe.render, format="markdown", groups=groups, content=True, sources=sources)
    return replace(recipe, render=render)


@settings(
    max_examples=CASES // 2,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    world=worlds(),
    recipe=recipes,
    model=st.sampled_from(["o200k", "claude-sonnet-4-5", "mistral-spm", "approx"]),
    shape=st.tuples(st.booleans(), st.sampled_from([10, 2, 0])),
)
def test_random_pages(
    checked: Checked, world: World, recipe: Recipe, model: str, shape: tuple[bool, int]
) -> None:
    groups, sources = shape
    run(
        draft(
            {"lexical": world.lexical, "semantic": world.semantic},
            as_entities(recipe, groups=groups, sources=sources),
            counter=tokens.open_counter(model),
            allow_empty=True,
        )
    )


@pytest.mark.parametrize(
    ("options", "by_blocks"),
    [
        ({}, True),
        ({"groups": False}, True),
        ({"model": "claude-sonnet-4-5"}, True),
        ({"pack": "optimal"}, True),
        ({"levels": ("full", "signature", "outline")}, True),
        ({"cap": 0, "overflow": "cut"}, True),
        ({"sources": 0}, False),
        ({"model": "mistral-spm"}, False),
        ({"model": "approx"}, False),
        ({"order": "edges"}, False),
        ({"pack": "greedy"}, False),
        ({"format": "xml"}, False),
        ({"format": "plain"}, False),
    ],
)
def test_pages_of_entities(
    checked: Checked, sources: quire.Quire, options: dict[str, Any], by_blocks: bool
) -> None:
    for budget in (700, 1500, 4000, 9000):
        sources.explain(QUERY, budget=budget, recipe="entities", **options)
    assert checked.ways[not by_blocks] > 8
    assert by_blocks or not checked.ways[False]


def test_a_page_with_blocks_of_a_workspace_is_rendered(
    checked: Checked, sources: quire.Quire
) -> None:
    page = Block("duplicates", "page", "Duplicates")
    rules = [
        Block(f"rule-{number}", "paragraph", f"rule {number}: {QUERY}", page.id)
        for number in range(4)
    ]
    sources.blocks.put([page, *rules])
    assert "rule 3" in sources.explain(QUERY, budget=4000, recipe="entities").text
    assert checked.ways[True]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("sources")
    shutil.copytree(PACKAGE, root / "packing", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "notes.md").write_text(
        "# Notes\n\n"
        + "\n\n".join(f"## Packing {n}\n\n{'how duplicates fit ' * 9}" for n in range(9))
    )
    with quire.open(root) as q:
        q.index(embed=False)
        yield q
