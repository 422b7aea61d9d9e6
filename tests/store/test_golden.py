"""A store of every released format still gives the answers that it gave."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quire.core.protocols import Store
from quire.store import open_store

from .answers import root
from .golden.make import HERE, VERSION, answers, build
from .samples import document, fill

FORMATS = sorted(int(file.name.removeprefix("v").split(".")[0]) for file in HERE.glob("v*.db.gz"))


@pytest.fixture(params=FORMATS)
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def store(tmp_path: Path, version: int) -> Iterator[Store]:
    """A copy: opening may bring it to the newest format."""
    path = tmp_path / "store.db"
    path.write_bytes(gzip.decompress((HERE / f"v{version}.db.gz").read_bytes()))
    opened = open_store(path, create=False)
    yield opened
    opened.close()


def test_there_is_one_for_every_format() -> None:
    assert list(range(1, VERSION + 1)) == FORMATS


def restrict(new: Any, before: Any) -> Any:
    """Leave out questions and fields that did not exist when the answers were recorded."""
    if isinstance(new, dict) and isinstance(before, dict):
        return {key: restrict(new[key], before[key]) for key in before if key in new}
    if isinstance(new, list) and isinstance(before, list) and len(new) == len(before):
        return [restrict(*both) for both in zip(new, before, strict=True)]
    return new


def test_it_gives_the_answers_that_it_gave(store: Store, version: int) -> None:
    expected = json.loads((HERE / f"v{version}.json").read_text(encoding="utf-8"))
    assert restrict(answers(store, version), expected) == expected


def test_it_is_sound(store: Store) -> None:
    assert store.check() == []


def test_it_can_be_written(store: Store) -> None:
    before = root(store)
    fill(store, document("new", "alpha beta"), embed=True)
    assert root(store) != before
    assert store.purge(["new"]) == 1
    assert root(store) == before
    assert store.check() == []


def test_the_same_made_today_gives_the_same_answers(tmp_path: Path, version: int) -> None:
    build(tmp_path / "store.db", version)
    store = open_store(tmp_path / "store.db")
    expected = json.loads((HERE / f"v{version}.json").read_text(encoding="utf-8"))
    assert restrict(answers(store, version), expected) == expected
    store.close()


def test_it_is_small() -> None:
    assert all(file.stat().st_size < 60_000 for file in HERE.glob("*.gz"))
