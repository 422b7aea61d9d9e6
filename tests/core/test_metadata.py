"""Metadata: one form for each value, and what is refused."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core import metadata
from quire.errors import InputError

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.dates(),
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)),  # noqa: DTZ001
)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z0-9_.-]{0,5}[a-z0-9]", fullmatch=True),
        st.one_of(SCALARS, st.lists(st.text(max_size=9), max_size=4)),
        max_size=5,
    )
)
def test_it_comes_back_as_it_was_and_its_form_is_its_own(values: dict[str, Any]) -> None:
    try:
        checked = metadata.check_metadata(values)
    except InputError:  # half a surrogate pair, a key such as `a..b`
        return
    assert metadata.check_metadata(checked) == checked
    assert metadata.decode(metadata.encode(checked)) == checked
    again = metadata.check_metadata(metadata.decode(metadata.encode(checked)))
    assert [*map(type, again.values())] == [*map(type, checked.values())]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (3.0, 3),
        (-0.0, 0),
        (1e300, 1e300),
        (0.1, 0.1),
        (True, True),
        (date(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31, 12, 0, 0, 999, UTC), "2026-01-31T12:00:00Z"),
        (datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=2))), "2026-01-31T10:00:00Z"),
        ("2026-01-31 12:00", "2026-01-31T12:00:00Z"),
        ("2026-02-31", "2026-02-31"),
        (["b", "a", "b"], ("b", "a")),
        ({"b", "a"}, ("a", "b")),
    ],
)
def test_one_form_for_each_value(value: Any, form: Any) -> None:
    (stored,) = metadata.check_metadata({"key": value}).values()
    assert (stored, type(stored)) == (form, type(form))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"": 1}, "is not a key"),
        ({"1a": 1}, "is not a key"),
        ({"a b": 1}, "is not a key"),
        ({3: 1}, "is not a key"),
        ({"a": None}, "leave out what has no value"),
        ({"a": {"b": 1}}, "put the rest into the text"),
        ({"a": [1]}, "expected up to 64 texts"),
        ({"a": math.nan}, "expected a number"),
        ({"a": math.inf}, "expected a number"),
        ({"a": 2**64}, "too large"),
        ({"a": "x" * 1001}, "at most 1000"),
        ({"a": "\ud800"}, "not valid Unicode"),
        ({f"k{n}": n for n in range(65)}, "at most 64"),
        (["a"], "expected values by key"),
    ],
)
def test_what_is_refused_is_told(values: Any, reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)):
        metadata.check_metadata(values)


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("-2.50", -2.5), ("true", True), ("north", "north"), ('"3"', "3"), ("1e5", "1e5")],
)
def test_what_people_write(text: str, value: Any) -> None:
    read = metadata.read_value(text)
    assert (read, type(read)) == (value, type(value))
