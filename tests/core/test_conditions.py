"""Conditions on metadata: what they mean, their one form, and what is refused."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core import conditions
from quire.core.conditions import Comparison, Condition, Has, Junction, Not
from quire.core.metadata import check_metadata
from quire.errors import InputError

NORTH = check_metadata(
    {
        "team": "north",
        "priority": 3,
        "rate": 2.5,
        "open": True,
        "due": date(2026, 1, 31),
        "seen": "2026-01-31T12:00:00+01:00",
        "tags": ["x", "é"],
        "none": [],
    }
)


@pytest.mark.parametrize(
    ("condition", "passes"),
    [
        ('team = "north"', True),
        ('team == "south"', False),
        ('team != "south"', True),
        ('absent != "south"', True),
        ("has(team) and not has(absent)", True),
        ("has(none)", True),
        ('none = ""', False),
        ("none = false", False),
        ("priority >= 3 and priority < 3.5", True),
        ("priority = 3.0", True),
        ('priority = "3"', False),
        ("rate > 2 and rate <= 2.5", True),
        ("open = true", True),
        ("open = 1", False),
        ("due = 2026-01-31", True),
        ('due = "2026-01-31"', True),
        ("due > 2026-01-30 and due < 2026-02-01", True),
        ("due < 2026-01-31", False),
        ("due <= 2026-01-31T00:00:00Z", True),
        ("seen = 2026-01-31", True),
        ("seen = 2026-01-31T11:00:00Z", True),
        ("seen > 2026-01-31", False),
        ("seen <= 2026-01-31", True),
        ('tags = "x" and tags contains "é"', True),
        ('tags in ["z", "x"]', True),
        ('tags not in ["z"]', True),
        ('team in ("north", "east")', True),
        ('team > "m" and team < "o"', True),
        ('team = "south" or priority = 3 and open = true', True),
        ('(team = "south" or priority = 3) and open = false', False),
        ('not (team = "north" or priority = 9)', False),
    ],
)
def test_what_a_condition_means(condition: str, passes: bool) -> None:
    assert conditions.holds(conditions.parse(condition), NORTH) is passes


@pytest.mark.parametrize(
    ("mapping", "text"),
    [
        ({"team": "north"}, 'team = "north"'),
        ({"team": ["b", "a"]}, 'team in ["a", "b"]'),
        ({"n": {"$gte": 3, "$lt": 5}}, "n >= 3 and n < 5"),
        ({"n": {"$ne": 1}, "m": {"$nin": [2]}}, "not n = 1 and not m = 2"),
        ({"$or": [{"a": 1}, {"b": True}]}, "a = 1 or b = true"),
        ({"$not": {"a": {"$exists": True}}}, "not has(a)"),
        ({"a": {"$exists": False}}, "not has(a)"),
        ({"due": {"$lte": date(2026, 1, 31)}}, "due <= 2026-01-31"),
        ({}, ""),
    ],
)
def test_a_mapping_means_the_same_as_a_text(mapping: Any, text: str) -> None:
    assert conditions.read(mapping) == conditions.read(text)


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("team = north", 'a text needs quotes: "north"'),
        ("team =", "not nothing"),
        ("= 3", "expected a key"),
        ("team", "expected `=`"),
        ("(a = 1", "expected `)`"),
        ("a = 1 b = 2", "expected `and`, `or`"),
        ("a in 3", "expected a list"),
        ("a in []", "expected a text"),
        ("open > true", "no order"),
        ("due = 2026-02-31", "is not a date"),
        ("a = 'x", "is not understood"),
        ("a = 1e999", "expected a number"),
        (f"a = {'9' * 30}", "too large"),
        ("a = 1 and " * 30 + "(" * 40, "nested too deeply"),
        ("not " * 40 + "a = 1", "nested too deeply"),
        (" or ".join(f"a = {n}" for n in range(600)), "more than 500"),
        ("a = 1 or " * 2000, "at most 10000"),
        ({"$xor": []}, "unknown operator '$xor'"),
        ({"a": {"$like": "x"}}, "unknown operator '$like'"),
        ({"$or": {}}, "a list of conditions"),
        ({"a": {"$in": []}}, "at least one value"),
        ({"a": None}, "expected a text, a number"),
        ({"a b": 1}, "is not a key"),
        (3, "as a text or a mapping"),
    ],
)
def test_what_is_refused_is_told(condition: Any, reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)):
        conditions.read(condition)


KEYS = st.sampled_from(["a", "b", "c.d", "über"])
VALUES = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, -1.5, 2.0]),
    st.sampled_from(["", "x", 'y"z\\', "2026-01-31", "2026-01-31T23:59:59Z", "2026-02-01"]),
)
METADATA = st.dictionaries(
    KEYS, st.one_of(VALUES, st.lists(st.sampled_from(["x", "z", "2026-01-31"]), max_size=2))
).map(check_metadata)


def comparisons() -> st.SearchStrategy[Condition]:
    signs = st.sampled_from([*conditions.OPERATORS])
    return st.builds(
        lambda key, sign, value: Comparison(key, "=" if isinstance(value, bool) else sign, value),
        KEYS,
        signs,
        VALUES.map(lambda value: check_metadata({"a": value})["a"]),
    )


CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(comparisons(), st.builds(Has, KEYS)),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(Junction, st.booleans(), st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@given(CONDITIONS, METADATA)
@settings(max_examples=700)
def test_the_one_form_means_the_same_and_is_its_own(condition: Condition, metadata: Any) -> None:
    text = conditions.read(conditions.write(condition))
    again = conditions.parse(text)
    assert conditions.write(again) == text
    assert conditions.holds(again, metadata) == conditions.holds(condition, metadata)


@given(CONDITIONS, CONDITIONS, METADATA)
@settings(max_examples=300)
def test_the_laws_of_and_or_and_not(one: Condition, other: Condition, metadata: Any) -> None:
    def text(condition: Condition) -> str:
        return conditions.read(conditions.write(condition))

    both, swapped = Junction(True, (one, other)), Junction(True, (other, one))  # noqa: FBT003
    assert text(both) == text(swapped)
    assert text(Not(Not(one))) == text(one)
    any_of = Junction(False, (Not(one), Not(other)))  # noqa: FBT003
    assert conditions.holds(Not(both), metadata) == conditions.holds(any_of, metadata)


@given(st.text(max_size=60))
@settings(max_examples=300)
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        canonical = conditions.read(text)
    except InputError:
        return
    assert conditions.read(canonical) == canonical
