"""Code enters a page by the definition that the query is about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire.core.types import OWNER, Unit
from quire.engine import Quire
from quire.pipeline.units import find_unit

SIGNER = '''\
# Copyright 2026 by nobody. All rights reserved.
"""Signing of texts, and whatever else a header says."""

from __future__ import annotations

import hashlib
from typing import (
    Any,
    TYPE_CHECKING,
)

SEPARATOR = b"."


def encode(value: str) -> bytes:
    """Encode a text."""
    return value.encode()


def decode(value: bytes) -> str:
    """Decode bytes."""
    return value.decode()


class Signer:
    """Signs texts with a key."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    # Joined by a dot.
    def sign(self, value: str) -> bytes:
        """Return a text with its signature."""
        return encode(value) + SEPARATOR + self.signature(value)

    def unsign(self, value: bytes) -> str:
        """Return a text without its signature, if that holds."""
        text, _, found = value.rpartition(SEPARATOR)
        return decode(text)

    @property
    def name(self) -> str:
        return "signer"
'''


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = Path(tmp_path_factory.mktemp("units"))
    (root / "signer.py").write_text(SIGNER)
    (root / "empty.py").write_text('"""Only a docstring."""\n\nimport os\n\nLIMIT = 3\n')
    (root / "notes.md").write_text("# Notes\n\nThe signer unsigns and signs.\n")
    with quire.open(root) as opened:
        opened.index(embed=False)
        yield opened


def unit_of(store: Quire, query: str, path: str = "signer.py") -> Unit:
    with store.store.view(OWNER) as view:
        (record,) = [record for record in view.listing() if record.path == path]
        outline = view.outlines([record.id])[record.id]
        (chunk,) = view.chunks_of(record.id)
        return find_unit(outline, chunk, query)


def line_of(text: str, source: str = SIGNER) -> int:
    return source[: source.index(text)].count("\n") + 1


@pytest.mark.parametrize(
    ("query", "name", "first"),
    [
        ("Signer.unsign signer.py", "Signer.unsign", "def unsign"),
        ("decode", "decode", "def decode"),
        ("how does sign() work", "Signer.sign", "def sign"),
        ("the name of a signer", "Signer.name", "@property"),
        ("class Signer", "Signer", "class Signer"),
        ("what joins a text with its signature by a separator", "Signer.sign", "def sign"),
    ],
)
def test_a_unit_is_the_definition_that_a_query_is_about(
    store: Quire, query: str, name: str, first: str
) -> None:
    unit = unit_of(store, query)
    assert unit.entity.qualified == name
    assert unit.line == line_of(first)
    assert first in unit.text


def test_a_class_is_shown_by_its_declarations_and_matching_methods_whole(store: Quire) -> None:
    unit = unit_of(store, "Signer.sign and Signer.unsign")
    assert unit.entity.qualified == "Signer"
    assert "return encode(value) + SEPARATOR" in unit.outline
    assert "text, _, found" in unit.outline
    assert "def __init__(self, key: bytes) -> None" in unit.outline
    assert "self.key = key" not in unit.outline


def test_a_header_never_stands_for_a_module(store: Quire) -> None:
    unit = unit_of(store, "zebra")
    assert unit.entity.kind == "module"
    assert "def encode(value: str) -> bytes" in unit.text
    for word in ("Copyright", "import", "whatever else"):
        assert word not in unit.text
    bare = unit_of(store, "zebra", "empty.py")
    assert (bare.text, bare.line) == ("LIMIT = 3", 5)


@pytest.mark.parametrize("recipe", ["agent", "entities"])
def test_pages_name_definitions_and_are_verified(store: Quire, recipe: str) -> None:
    for name in ("encode", "decode", "Signer.sign", "Signer.unsign", "Signer"):
        page = store.assemble(f"{name} signer.py", recipe=recipe)
        found = [(source.name, source.line) for source in page.sources]
        line = line_of(("class " if name == "Signer" else "def ") + name.rpartition(".")[2])
        assert (name, line) in found
        assert store.verify(page.receipt, page.text).problems == ()
        assert store.replay(page.receipt)[1] == []
        if recipe == "agent":
            items = [item.about for item in page.items if item.kind == "code"]
            assert (name, line) in [(one["qualified_name"], one["start_line"]) for one in items]
