"""The table of collectors: one row is enough for a recipe to use a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import quire
from quire.core.protocols import View
from quire.core.types import Hit, Hits, SourceSpec
from quire.engine import Quire
from quire.errors import InputError, QuireError, StoreError, StoreInterruptedError
from quire.pipeline.effects import needs_time
from quire.pipeline.recipe import load as load_recipe
from quire.retrieval import COLLECTORS, Collector, Query
from quire.system import retry

RECIPE = "[sources.shortest]\nk = 5\noptions = { items = 1 }\n"


def collect_shortest(view: View, query: Query, depth: int) -> Hits:
    """Find the records with the shortest paths."""
    records = sorted(view.listing(query.where), key=lambda record: (len(record.path), record.path))
    limit = min(depth, query.option("shortest", "items"))
    chunks = [chunk for record in records[:limit] for chunk in view.chunks_of(record.id)]
    return Hits(tuple(Hit(c.id, 9, c.path, c.sequence, c.start) for c in chunks))


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Quire]:
    for name in ("a.md", "bb.md", "ccc.md"):
        (tmp_path / name).write_text(f"The text of {name}.\n")
    (tmp_path / "shortest.toml").write_text(RECIPE)
    with quire.open(tmp_path) as store:
        store.index(embed=False)
        yield store


def paths(store: Quire, recipe: Path) -> list[str]:
    context = store.assemble("nothing of note", recipe=str(recipe), budget=500, reserve={})
    assert store.verify(context.receipt, context.text).problems == ()
    assert store.replay(context.receipt)[1] == []
    return [source.path for source in context.sources]


def test_a_collector_is_one_row(
    shelf: Quire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "shortest.toml"
    with pytest.raises(QuireError, match="unknown source 'shortest'"):
        paths(shelf, recipe)
    row = Collector(collect_shortest, "its path is too long", options={"items": 2})
    monkeypatch.setitem(COLLECTORS, "shortest", row)
    assert paths(shelf, recipe) == ["a.md"]
    recipe.write_text("[sources.shortest]\nk = 5\n")
    assert paths(shelf, recipe) == ["a.md", "bb.md"], "by the default of its option"
    (reason,) = shelf.why_not("nothing of note", "ccc.md", recipe=str(recipe))
    assert reason.reason == "not found by shortest: its path is too long"
    recipe.write_text(RECIPE.replace("items", "item"))
    with pytest.raises(QuireError, match="unknown option 'item'; did you mean 'items'"):
        paths(shelf, recipe)


@pytest.mark.parametrize("answer", [None, "hits", Hits(("a",)), [Hit("a", 1, "a", 0, 0)]])  # type: ignore[arg-type]
def test_an_answer_that_is_not_hits_is_a_failure(
    shelf: Quire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    monkeypatch.setitem(COLLECTORS, "shortest", Collector(lambda *_: answer, "-", {"items": 1}))  # type: ignore[arg-type]
    context = shelf.assemble("x", recipe=str(tmp_path / "shortest.toml"), budget=500, reserve={})
    (failure,) = context.failed
    assert failure.source == "shortest"
    assert context.sources == ()


@pytest.mark.parametrize(
    ("error", "fails"), [(StoreError("gone"), False), (InputError("no"), True)]
)
def test_wrong_input_is_raised_and_other_errors_are_recorded(
    shelf: Quire,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: QuireError,
    fails: bool,
) -> None:
    def broken(*_: object) -> Hits:
        raise error

    monkeypatch.setitem(COLLECTORS, "shortest", Collector(broken, "-", {"items": 1}))
    recipe = str(tmp_path / "shortest.toml")
    if fails:
        with pytest.raises(InputError, match="no"):
            shelf.assemble("x", recipe=recipe, budget=500, reserve={})
    else:
        context = shelf.assemble("x", recipe=recipe, budget=500, reserve={})
        assert [(f.source, f.reason) for f in context.failed] == [("shortest", "gone")]


def test_a_server_that_ended_the_view_is_no_failure_of_one_source(
    shelf: Quire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole request is made again, and is an error if that fails as well."""
    calls: list[int] = []

    def interrupted(*_: object) -> Hits:
        calls.append(1)
        if len(calls) < 3:
            raise StoreInterruptedError("gone")
        return Hits(())

    monkeypatch.setattr(retry, "DELAYS", (0.0,))
    monkeypatch.setitem(COLLECTORS, "shortest", Collector(interrupted, "-", {"items": 1}))
    recipe = str(tmp_path / "shortest.toml")
    with pytest.raises(StoreInterruptedError, match="gone"):
        shelf.assemble("x", recipe=recipe, budget=500, reserve={})
    assert len(calls) == 2
    assert not shelf.assemble("x", recipe=recipe, budget=500, reserve={}).failed


def test_a_collector_that_compares_times_makes_a_recipe_need_them() -> None:
    recipe = load_recipe("documents")
    assert not needs_time(recipe)
    timed = replace(recipe, sources={**recipe.sources, "activity": SourceSpec(k=5, weight=1)})
    assert needs_time(timed)
