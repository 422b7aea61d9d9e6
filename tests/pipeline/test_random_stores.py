"""Every promise holds for real stores of random files, and for every viewer."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, cast

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from quire import AccessRule, Quire
from quire.core.types import Chunk, Context, Options, Viewer
from quire.pipeline import recipe as recipes
from tests.conftest import Tree
from tests.pipeline.builders import Meaning
from tests.pipeline.conftest import opened
from tests.pipeline.digest import plain
from tests.pipeline.invariants import holds
from tests.pipeline.strategies import CASES, COMMON, ODD
from tests.pipeline.strategies import plain as sentences

names = st.sampled_from(["a.md", "b.txt", "dir/c.md", "größe.md", "d.py", "e.md", "漢.md"])
bodies = st.lists(
    st.one_of(sentences, sentences, st.sampled_from(ODD)), min_size=1, max_size=40
).map("".join)
shelves = st.dictionaries(names, bodies, min_size=1, max_size=6)
questions = st.lists(st.sampled_from(COMMON), min_size=1, max_size=4).map(" ".join)
asked: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"budget": st.integers(20, 900), "reserve": st.just({}), "allow_empty": st.just(value=True)},
    optional={
        "pack": st.sampled_from(["greedy", "interleaved", "score_weighted", "optimal"]),
        "order": st.sampled_from(["grouped", "packed", "edges"]),
        "overflow": st.sampled_from(["skip", "cut", "stop"]),
        "hard": st.booleans(),
        "dedup": st.sampled_from([0.0, 0.5, 1.0]),
        "per_document": st.integers(0, 2),
        "format": st.sampled_from(["markers", "json"]),
        "metadata": st.booleans(),
        "model": st.sampled_from(["o200k", "approx", "gemini-2.5-pro"]),
    },
)
few = settings(
    max_examples=CASES // 16,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking real stores takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def found_in(store: Quire, context: Context, viewer: Viewer) -> dict[str, Chunk]:
    with store.store.view(viewer, "main") as view:
        return {one.id: one for one in view.chunks([each.chunk_id for each in context.decisions])}


@few
@given(shelves, st.lists(st.tuples(questions, asked), min_size=4, max_size=4), st.booleans())
def test_every_context_of_a_store_keeps_every_promise(
    files: dict[str, str], requests: list[tuple[str, dict[str, Any]]], embed: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder) / "project")
        tree.fill(files)
        with opened(tree) as store:
            store.index(embed=embed)
            for query, options in requests:
                check(store, query, cast("Options", options))


def check(store: Quire, query: str, options: Options) -> None:
    owner = Viewer("", owner=True)
    context = store.assemble(query, **options)
    receipt = cast("dict[str, Any]", context.receipt)
    recipe = recipes.from_data(receipt["recipe"])
    holds(context, recipe, found_in(store, context, owner), model=receipt["counter"])
    assert store.verify(receipt, context.text).problems == ()
    again, differing = store.replay(receipt)
    assert differing == []
    assert (again.text, again.receipt) == (context.text, context.receipt)
    assert store.verify_determinism(query, **options)
    again_options: Options = {**options, "order": "stable"}
    again_options["previous"] = [one.chunk_id for one in context.sources]
    stable = store.assemble(query, **again_options)
    if [one.chunk_id for one in stable.sources] == [one.chunk_id for one in context.sources]:
        assert stable.text == context.text


@few
@given(
    shelves,
    st.dictionaries(st.sampled_from(["secret/x.md", "secret/y.md", "secret/漢.txt"]), bodies),
    st.lists(st.tuples(questions, asked), min_size=3, max_size=3),
    st.booleans(),
)
def test_what_may_not_be_read_changes_no_byte(
    files: dict[str, str],
    hidden: dict[str, str],
    requests: list[tuple[str, dict[str, Any]]],
    embed: bool,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with_hidden = Tree(Path(folder) / "one")
        with_hidden.fill({**hidden, **files})
        without = Tree(Path(folder) / "two")
        without.fill(files)
        with opened(with_hidden) as one, opened(without) as two:
            for store in (one, two):
                store.access.set_rules([AccessRule("secret/**", ("user:bob",))])
                store.index(embed=embed)
                store._project._embedder = Meaning()
            for query, options in requests:
                alice = cast("Options", {**options, "viewer": "alice"})
                told = one.assemble(query, **alice)
                assert plain(told) == plain(two.assemble(query, **alice))
                assert (
                    one.verify(cast("dict[str, Any]", told.receipt), told.text, "alice").problems
                    == ()
                )
