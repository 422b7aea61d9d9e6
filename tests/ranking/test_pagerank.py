"""Definitions that other files use rank high, and the order is always the same."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core.types import Entity, Outline, Reference
from quire.ranking import is_definition, rank_definitions
from quire.ranking.pagerank import MAX_OWNERS, TOTAL_RANK
from quire.rendering import render_codemap


def rank(outlines: dict[str, Outline]) -> dict[tuple[str, int], int]:
    """Rank files of one folder."""
    return rank_definitions(outlines, {name: f"src/{name}.py" for name in outlines})


def outline(defines: dict[str, str], uses: dict[str, int]) -> Outline:
    whole = Entity("module", "m", "m", 0, 1000, (1, 99))
    parts = [
        Entity(kind, name, name, place, place + 1, (place, place), 0, f"def {name}():")
        for place, (name, kind) in enumerate(defines.items(), start=1)
    ]
    return Outline((whole, *parts), tuple(Reference(n, "call", 0, c) for n, c in uses.items()))


def test_what_many_use_ranks_above_what_one_uses() -> None:
    found = rank(
        {
            "lib": outline({"popular": "function", "rare": "function", "unused": "function"}, {}),
            **{f"user{n}": outline({}, {"popular": 1}) for n in range(5)},
            "other": outline({}, {"rare": 1}),
        }
    )
    assert found["lib", 1] > found["lib", 2] > 0
    assert ("lib", 3) not in found


def test_who_is_used_by_the_important_is_important() -> None:
    """Both are used by one file, but one of these files is leant on by all."""
    found = rank(
        {
            "deep": outline({"core": "function"}, {}),
            "shallow": outline({"edge": "function"}, {}),
            "hub": outline({"hub": "function"}, {"core": 1}),
            "leaf": outline({"leaf": "function"}, {"edge": 1}),
            **{f"user{n}": outline({}, {"hub": 1}) for n in range(4)},
        }
    )
    assert found["deep", 1] > found["shallow", 1]


def test_a_name_that_everybody_defines_says_nothing() -> None:
    files = {f"f{n}": outline({"run": "function"}, {}) for n in range(MAX_OWNERS + 2)}
    assert rank({**files, "user": outline({}, {"run": 9})}) == {}
    fewer = {name: files[name] for name in sorted(files)[:MAX_OWNERS]}
    found = rank({**fewer, "user": outline({}, {"run": 9})})
    assert len(set(found.values())) == 1
    assert len(found) == MAX_OWNERS


def test_ones_own_uses_do_not_count() -> None:
    assert rank({"a": outline({"f": "function"}, {"f": 50}), "b": outline({}, {})}) == {}


def test_sections_and_files_are_no_definitions() -> None:
    one = outline({"part": "section", "f": "function"}, {})
    found = rank({"a": one, "b": outline({}, {"part": 3, "m": 2, "f": 1})})
    assert set(found) == {("a", 2)}
    assert [is_definition(one, place) for place in range(3)] == [False, False, True]


def test_what_is_not_imported_may_mean_something_else() -> None:
    lib = outline({"split": "function", "parse": "function"}, {})
    calls = outline({}, {"split": 9, "parse": 9})
    imports = Outline(
        calls.entities,
        (*calls.references, Reference("parse", "import", 0), Reference("x", "call", 0)),
    )
    paths = {"lib": "lib/lib.py", "user": "app/user.py"}
    found = rank_definitions({"lib": lib, "user": imports}, paths)
    assert found["lib", 2] > 10 * found["lib", 1] > 0
    module = Outline(calls.entities, (*calls.references, Reference("lib", "import", 0)))
    both = rank_definitions({"lib": lib, "user": module}, paths)
    assert both["lib", 1] == both["lib", 2]


def test_nothing_has_no_ranks() -> None:
    assert rank({}) == {}


names = st.sampled_from(["a", "b", "c", "d", "e"])
outlines = st.dictionaries(
    st.sampled_from(["p", "q", "r", "s", "t", "u"]),
    st.builds(
        outline,
        st.dictionaries(names, st.sampled_from(["function", "class", "section"]), max_size=3),
        st.dictionaries(names, st.integers(1, 50), max_size=4),
    ),
)


@settings(max_examples=200, deadline=None)
@given(outlines, st.integers())
def test_ranks_are_whole_bounded_and_the_same_in_any_order(
    given_: dict[str, Outline], seed: int
) -> None:
    found = rank(given_)
    assert all(isinstance(rank, int) and rank >= 0 for rank in found.values())
    assert sum(found.values()) <= TOTAL_RANK
    order = list(given_)
    Random(seed).shuffle(order)
    assert rank({name: given_[name] for name in order}) == found


def test_a_tree_names_what_is_around_a_definition() -> None:
    whole = Entity("module", "m", "m", 0, 90, (1, 9))
    cart = Entity("class", "Cart", "Cart", 0, 80, (2, 8), 0, "class Cart:")
    total = Entity("method", "total", "Cart.total", 5, 60, (4, 8), 1, "def total(self) -> int:")
    plain = Entity("function", "f", "f", 80, 90, (9, 9), 0)
    outlines = {"x": Outline((whole, cart, total, plain)), "y": Outline((whole, plain))}
    text = render_codemap([("b.py", "y", 1), ("a\n.py", "x", 2), ("a\n.py", "x", 2)], outlines)
    assert text == (
        "a\\x0a.py:\n  2: class Cart:\n    4: def total(self) -> int:\n\nb.py:\n  9: function f\n"
    )
    assert render_codemap([], outlines) == ""
