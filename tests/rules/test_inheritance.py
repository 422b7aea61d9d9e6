"""The nearest context wins, whatever the order in which files are read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import BehaviorRule, ContextFile, InheritedValue, InjectionRule
from quire.rules import find_broken_extends, merge, resolve_chain
from quire.rules.discovery import candidate_paths, detect_format, resolve_path


def files(*contexts: ContextFile) -> dict[str, ContextFile]:
    return {context.path: context for context in contexts}


def file(path: str, **fields: object) -> ContextFile:
    return ContextFile(path, path, **fields)  # type: ignore[arg-type]  # a test's shorthand


def paths(place: str, contexts: dict[str, ContextFile]) -> list[tuple[str, int]]:
    return [(link.context.path, link.distance) for link in resolve_chain(place, contexts)]


TREE = files(
    file("AGENTS.md"),
    file("CLAUDE.md"),
    file("base.context.yaml"),
    file("src/CLAUDE.md"),
    file("src/pay/b.context.toml", extends="lib/money"),
    file("src/pay/a.context.md"),
    file("src/pay/AGENTS.md"),
    file("src/pay/deep/x.context.yaml", extends="base.context.yaml"),
    file("lib/money.context.yaml", extends="lib/root"),
    file("lib/root.context.yml"),
    file("docs/page.md"),
)


def test_a_place_inherits_from_its_folder_what_that_extends_and_the_folders_above() -> None:
    above = [("src/CLAUDE.md", 1), ("base.context.yaml", 2), ("AGENTS.md", 2), ("CLAUDE.md", 2)]
    here = [
        ("src/pay/a.context.md", 0),
        ("src/pay/b.context.toml", 0),
        ("src/pay/AGENTS.md", 0),
        ("lib/money.context.yaml", 1),
        ("lib/root.context.yml", 2),
    ]
    assert paths("src/pay", TREE) == here + above
    assert paths("src/pay/new/file.py", TREE) == here + above
    assert paths("src/pay/b.context.toml", TREE) == [
        ("src/pay/b.context.toml", 0),
        ("lib/money.context.yaml", 1),
        ("lib/root.context.yml", 2),
        *above,
    ]


def test_a_context_that_is_reached_twice_counts_once_and_as_near_as_it_gets() -> None:
    assert paths("src/pay/deep", TREE)[:2] == [
        ("src/pay/deep/x.context.yaml", 0),
        ("base.context.yaml", 1),
    ]
    assert len(paths("src/pay/deep", TREE)) == len(dict(paths("src/pay/deep", TREE)))


def test_what_a_parent_extends_and_the_folder_above_holds_counts_as_a_direct_parent() -> None:
    contexts = files(
        file("src/pay/x.context.md", extends="lib/m"),
        file("lib/m.context.md", extends="src/parent"),
        file("src/parent.context.md"),
    )
    assert paths("src/pay", contexts) == [
        ("src/pay/x.context.md", 0),
        ("lib/m.context.md", 1),
        ("src/parent.context.md", 1),
    ]


def test_without_contexts_nothing_applies() -> None:
    assert resolve_chain("a/b", {}) == ()
    assert merge([]) == replace(merge([]), name=None, behavior_rules=())
    assert paths("", TREE) == [("base.context.yaml", 0), ("AGENTS.md", 0), ("CLAUDE.md", 0)]


def test_an_injected_page_is_not_inherited() -> None:
    assert ("docs/page.md", 0) not in paths("docs", TREE)
    assert ("docs/page.md", 0) not in paths("docs/page.md", TREE)


def test_circles_and_dead_ends_are_refused_with_the_chain() -> None:
    circle = files(
        file("a.context.md", extends="b", extends_line=3),
        file("b.context.md", extends="c", extends_line=4),
        file("c.context.md", extends="b", extends_line=5),
        file("d.context.md", extends="e", extends_line=6),
        file("self.context.md", extends="self", extends_line=7),
        file("AGENTS.md"),
    )
    messages = [str(item) for item in find_broken_extends(circle)]
    assert messages == [
        (
            "a.context.md:3: contexts extend each other in a circle: "
            "a.context.md > b.context.md > c.context.md > b.context.md"
        ),
        (
            "b.context.md:4: contexts extend each other in a circle: "
            "b.context.md > c.context.md > b.context.md"
        ),
        (
            "c.context.md:5: contexts extend each other in a circle: "
            "c.context.md > b.context.md > c.context.md"
        ),
        "d.context.md:6: extends 'e', which does not exist or has mistakes",
        (
            "self.context.md:7: contexts extend each other in a circle: "
            "self.context.md > self.context.md"
        ),
    ]
    assert paths("", circle) == [("AGENTS.md", 0)], "the rest still holds"


def test_a_very_long_chain_is_refused() -> None:
    long = files(
        *(file(f"{n}.context.md", extends=str(n + 1)) for n in range(40)), file("40.context.md")
    )
    assert any(
        "more than 16 contexts in a row" in item.reason for item in find_broken_extends(long)
    )


@pytest.mark.parametrize(
    ("reference", "source", "place"),
    [
        ("b", "a/x.context.md", "a/b"),
        ("../b", "a/x.context.md", "b"),
        ("/b", "a/x.context.md", "b"),
        ("//b", "a/x.context.md", "b"),
        ("./b/../c", "a/x.context.md", "a/c"),
        ("../../b", "a/x.context.md", None),
        ("/../b", "a/x.context.md", None),
        ("/etc/../../b", "a/x.context.md", None),
        ("..", "a/x.context.md", None),
        ("..\\..\\b", "a/x.context.md", None),
        ("b\0c", "a/x.context.md", None),
    ],
)
def test_a_reference_never_leads_out_of_the_root(
    reference: str, source: str, place: str | None
) -> None:
    assert resolve_path(reference, source) == place


@given(
    st.text(alphabet="./ab\\", max_size=20), st.sampled_from(["x.context.md", "a/b/x.context.md"])
)
def test_no_reference_leads_out_of_the_root(reference: str, source: str) -> None:
    place = resolve_path(reference, source)
    assert place is None or (not place.startswith("/") and ".." not in place.split("/"))


def test_which_files_are_contexts() -> None:
    yes = "a.context.yaml b/c.context.yml .context.toml x.y.context.md AGENTS.md d/CLAUDE.md"
    assert all(detect_format(path) for path in yes.split())
    no = "a.yaml context.md acontext.md agents.md README.md AGENTS.md.bak a.context.json"
    assert not any(detect_format(path) for path in no.split())
    assert candidate_paths("a/b")[0] == "a/b"


# --- properties --------------------------------------------------------------------------------

NAMES = st.sampled_from("abcd")
LINES = st.integers(1, 9)
BEHAVIOR = st.builds(BehaviorRule, NAMES, NAMES, LINES)
INJECTION = st.builds(
    InjectionRule, NAMES, st.just(("x",)), st.none(), st.integers(-2, 2), st.just("skip"), LINES
)


def contexts_at(path: str) -> st.SearchStrategy[ContextFile]:
    scalar = st.sampled_from(["", "one", "two"])
    return st.builds(
        ContextFile,
        path=st.just(path),
        name=scalar,
        type=scalar,
        business_goal=scalar,
        intent_type=scalar,
        behavior_rules=st.lists(BEHAVIOR, max_size=3, unique_by=lambda item: item.trigger).map(
            tuple
        ),
        injection_rules=st.lists(INJECTION, max_size=3, unique_by=lambda item: item.name).map(
            tuple
        ),
        text=scalar,
    )


LAYERS = st.integers(0, 5).flatmap(
    lambda count: st.tuples(*(contexts_at(f"{n}.context.md") for n in range(count)))
)
SCALARS = ("name", "type", "business_goal", "intent_type")


@given(LAYERS)
def test_the_nearest_wins(layers: tuple[ContextFile, ...]) -> None:
    merged = merge(layers)
    for key in SCALARS:
        values = [(getattr(item, key), item.path) for item in layers if getattr(item, key)]
        assert getattr(merged, key) == (InheritedValue(*values[0]) if values else None)
    for rule, path in merged.injection_rules:
        first = next(item for item in layers if rule.name in {r.name for r in item.injection_rules})
        assert path == first.path
        assert rule in first.injection_rules
    for item, path in merged.behavior_rules:
        owner = next(x for x in layers if item.trigger in {r.trigger for r in x.behavior_rules})
        assert (path, item in owner.behavior_rules) == (owner.path, True)


@given(LAYERS)
def test_nothing_is_lost_and_nothing_is_there_twice(layers: tuple[ContextFile, ...]) -> None:
    merged = merge(layers)
    names = [rule.name for rule, _ in merged.injection_rules]
    assert sorted(names) == sorted({r.name for item in layers for r in item.injection_rules})
    triggers = [rule.trigger for rule, _ in merged.behavior_rules]
    assert sorted(triggers) == sorted({r.trigger for item in layers for r in item.behavior_rules})
    priorities = [rule.priority for rule, _ in merged.injection_rules]
    assert priorities == sorted(priorities, reverse=True)


@given(LAYERS, st.data())
def test_inheriting_twice_changes_nothing(
    layers: tuple[ContextFile, ...], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(layers)))
    again = (*layers[:at], *layers)  # whoever comes again comes behind itself
    assert merge(again) == merge(layers)


@given(
    st.permutations(sorted(TREE)), st.sampled_from(["", "src/pay", "src/pay/deep", "docs", "lib"])
)
def test_the_order_in_which_files_are_found_does_not_matter(order: list[str], place: str) -> None:
    shuffled = {path: TREE[path] for path in order}
    assert resolve_chain(place, shuffled) == resolve_chain(place, TREE)
    assert find_broken_extends(shuffled) == find_broken_extends(TREE)
