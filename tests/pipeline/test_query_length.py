"""A query has a length at which it is refused, at once and by name."""

from __future__ import annotations

import pytest

from quire.errors import InputError
from quire.pipeline.request import MAX_QUERY_LENGTH, resolve, resolve_search


def test_a_query_of_the_greatest_length_is_taken() -> None:
    assert resolve("x" * MAX_QUERY_LENGTH, {}).request.query == "x" * MAX_QUERY_LENGTH


@pytest.mark.parametrize("length", [MAX_QUERY_LENGTH + 1, 60_000_000])
def test_a_longer_one_is_refused(length: int) -> None:
    with pytest.raises(InputError, match=rf"the query has {length} characters; at most 100000"):
        resolve("x" * length, {})
    with pytest.raises(InputError, match="at most 100000 are allowed; ask a shorter question"):
        resolve_search("x" * length, 5, {})
