"""Is the leaf of a chunk, which is written at once, what its fields hash to?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core import hashing, merkle
from quire.core.types import Chunk

TEXT = st.text(st.characters(), max_size=20)
NUMBER = st.integers(-(1 << 63), 1 << 63)
CHUNK = Chunk("00" * 16, "r", "document", "a.md", "A", 0, 0, 3, (1, 2), "a b")


@given(
    TEXT,
    st.tuples(TEXT, TEXT, TEXT, TEXT, NUMBER, NUMBER, NUMBER, st.tuples(NUMBER, NUMBER)),
)
def test_a_leaf_is_the_hash_of_its_fields(text: str, others: Any) -> None:
    fields = (hashing.identifier("chunk", text), *others, text)
    chunk = Chunk(*fields)
    key, content = merkle.chunk_leaf(chunk)
    expected = merkle.chunk_leaf_hash(merkle.chunk_fields(chunk), hashing.text_hash(text))
    assert (key.hex(), content) == (chunk.id, expected)


@given(TEXT, NUMBER, TEXT)
def test_ids_written_at_once_are_those_of_their_fields(name: str, sequence: int, text: str) -> None:
    assert hashing.chunk_id(name, sequence, text) == hashing.identifier(
        "chunk", name, sequence, text
    )
    assert hashing.vector_key(name, text) == hashing.identifier("vector", name, text)


@pytest.mark.parametrize("field", ["title", "sequence", "lines"])
def test_a_value_of_another_type_gives_another_leaf(field: str) -> None:
    values: dict[str, Any] = {"title": None, "sequence": None, "lines": (1, None)}
    damaged = replace(CHUNK, **{field: values[field]})
    assert merkle.chunk_leaf(damaged)[1] != merkle.chunk_leaf(CHUNK)[1]


@given(
    st.recursive(
        st.none() | st.integers() | st.binary(max_size=9) | TEXT,
        lambda inner: (
            st.lists(inner, max_size=4).map(tuple) | st.dictionaries(TEXT, inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_fields_are_written_with_their_lengths(field: Any) -> None:
    assert hashing.digest("tag", field) == hashing.digest_bytes(encode(("tag", field)))


def encode(field: Any) -> bytes:
    """Write a field as the module says."""
    if field is None:
        return b"n"
    if isinstance(field, bytes):
        return b"b%d:" % len(field) + field
    if isinstance(field, str):
        data = field.encode("utf-8", "surrogatepass")
        return b"s%d:" % len(data) + data
    if isinstance(field, int):
        return b"i%d;" % field
    if isinstance(field, dict):
        items = [encode((key, field[key])) for key in sorted(field)]
        return b"m%d:" % len(items) + b"".join(items)
    items = [encode(item) for item in field]
    return b"t%d:" % len(items) + b"".join(items)
