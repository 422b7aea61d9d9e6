"""No caller can change what the next one gets."""

from __future__ import annotations

import copy
import gc
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any, cast

import pytest

from quire import Quire
from quire.core.types import OWNER
from quire.receipts import Receipt, freeze, proof_encoding
from quire.receipts.canonical import canonical
from quire.receipts.frozen import FrozenDict, FrozenList
from quire.receipts.lazy import CACHE_SIZE, LazyDict

from .conftest import QUERY


def parts(value: Any) -> Iterator[Any]:
    """Go through all dictionaries and lists of some data."""
    if isinstance(value, dict | list):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from parts(part)


DICT: tuple[Callable[[Any], object], ...] = (
    lambda data: data.__setitem__("text_hash", ""),
    lambda data: data.__delitem__(next(iter(data), "")),
    lambda data: data.__ior__({"a": 1}),
    lambda data: data.clear(),
    lambda data: data.pop("text_hash", None),
    lambda data: data.popitem(),
    lambda data: data.setdefault("a", 1),
    lambda data: data.update(a=1),
)
LIST: tuple[Callable[[Any], object], ...] = (
    lambda data: data.__setitem__(slice(None), []),
    lambda data: data.__delitem__(slice(None)),
    lambda data: data.__iadd__([1]),
    lambda data: data.__imul__(2),
    lambda data: data.append(1),
    lambda data: data.extend([1]),
    lambda data: data.insert(0, 1),
    lambda data: data.remove(1),
    lambda data: data.pop(),
    lambda data: data.clear(),
    lambda data: data.sort(),
    lambda data: data.reverse(),
)


def test_no_part_of_a_kept_context_can_be_altered(kept: Quire) -> None:
    first = kept.assemble(QUERY)
    before = json.dumps(asdict(first))
    met = [*parts(first.receipt), *(one.signals for one in first.decisions)]
    assert len(met) > 50
    assert all(type(part) in {LazyDict, FrozenDict, FrozenList} for part in met)
    for part in met:
        for alter in DICT if isinstance(part, dict) else LIST:
            with pytest.raises(TypeError, match="cannot be changed"):
                alter(part)
    again = kept.assemble(QUERY)
    assert again is first
    assert json.dumps(asdict(again)) == before


def test_every_way_to_alter_a_dictionary_or_a_list_is_closed() -> None:
    for kind, plain in ((FrozenDict, dict), (FrozenList, list)):
        ways = {name for name in vars(plain) if callable(getattr(plain, name))}
        harmless = {
            name
            for name in ways
            if getattr(kind, name) is not getattr(plain, name)
            or name in dir(tuple)
            or name in {"__class_getitem__", "__ror__", "__or__", "__reversed__", "__init__"}
            or name in {"copy", "fromkeys", "get", "items", "keys", "values"}
        }
        assert ways == harmless


def test_a_copy_is_plain_and_may_be_altered(kept: Quire) -> None:
    receipt = cast("Receipt", kept.assemble(QUERY).receipt)
    for copied in (
        copy.deepcopy(receipt),
        pickle.loads(pickle.dumps(receipt)),
        json.loads(json.dumps(receipt)),
    ):
        assert copied == receipt
        assert all(type(part) in {dict, list} for part in parts(copied))
        copied["sources"].clear()
        assert kept.verify(copied)
    assert kept.verify(receipt).problems == ()


def test_what_is_sealed_reads_as_before() -> None:
    data: dict[str, Any] = {"a": [1, {"b": "c"}], "d": {}, "e": None}
    found = freeze(data)
    assert found == data
    assert json.dumps(found, sort_keys=True) == json.dumps(data, sort_keys=True)
    assert {**found, "a": 1} == {"a": 1, "d": {}, "e": None}
    assert found | {"e": 2} == {**data, "e": 2}
    data["d"]["later"] = 1
    assert found["d"] == {}


def put_together() -> tuple[LazyDict, dict[str, Any], list[str]]:
    """Give a dictionary in parts, the same as a plain one, and a list of the parts that were read."""
    read: list[str] = []

    def part(name: str) -> list[Any]:
        read.append(name)
        return [name, {"of": [1, 2]}]

    data = {"a": 1, "b": part("b"), "c": {"d": []}, "e": part("e")}
    read.clear()
    made = LazyDict({**freeze(data), "b": partial(part, "b"), "e": partial(part, "e")})
    return made, data, read


def given(**data: Any) -> dict[str, Any]:
    return data


READING: tuple[Callable[[Any], object], ...] = (
    lambda data: data["b"],
    lambda data: data.get("b"),
    lambda data: data.get("z", 7),
    list,
    lambda data: list(data.keys()),
    lambda data: list(data.values()),
    lambda data: list(data.items()),
    lambda data: list(reversed(data)),
    lambda data: ("b" in data, "z" in data, len(data), bool(data)),
    lambda data: {**data, "z": 1},
    dict,
    lambda data: given(**data),
    lambda data: data | {"z": 1},
    lambda data: {"z": 1} | data,
    lambda data: data.copy(),
    copy.copy,
    copy.deepcopy,
    lambda data: pickle.loads(pickle.dumps(data)),
    repr,
    str,
    json.dumps,
    lambda data: json.dumps(data, indent=1),
    lambda data: json.dumps([data], sort_keys=True),
)


@pytest.mark.parametrize("reading", READING)
def test_what_is_in_parts_reads_as_if_it_were_whole(reading: Callable[[Any], object]) -> None:
    made, data, _ = put_together()
    assert reading(made) == reading(data)


def test_what_is_in_parts_equals_what_is_whole_and_nothing_else() -> None:
    made, data, _ = put_together()
    other, _, _ = put_together()
    assert made == data
    assert data == made
    assert made == other
    assert not made != data  # noqa: SIM202 - `!=` is a method of its own
    assert not data != made  # noqa: SIM202
    data["e"] = []
    assert made != data
    assert data != made
    with pytest.raises(KeyError, match="z"):
        made["z"]
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)


def test_a_part_is_put_together_when_it_is_read_and_stays_for_a_while() -> None:
    made, _, read = put_together()
    assert made["a"] == 1
    assert len(made) == 4
    assert read == []
    assert made["b"] is made["b"]
    assert read == ["b"]
    assert {type(part) for part in parts(made["b"])} == {FrozenList, FrozenDict}
    for _ in range(CACHE_SIZE):
        other, _, _ = put_together()
        assert other["e"]
    assert made["b"] == ["b", {"of": [1, 2]}]
    assert read == ["b", "b"]


def test_a_kept_context_is_little_work_for_the_garbage_collector(kept: Quire) -> None:
    """Its decisions, sources and chunks are there; what a receipt tells of them, once it is read."""

    def tracked() -> int:
        gc.collect()
        return len(gc.get_objects())

    kept.assemble(QUERY)
    before = tracked()
    made = [kept.assemble(QUERY, budget=budget) for budget in range(3000, 3020)]
    grown = tracked() - before
    decided = sum(len(one.decisions) for one in made)
    sources = sum(len(one.sources) for one in made)
    assert grown < 2 * decided + 7 * sources + 60 * len(made)
    for one in made:
        assert json.dumps(one.receipt)
    assert tracked() - before < grown + CACHE_SIZE * 400, "and what was read does not stay for long"


def test_proofs_are_written_as_they_are_read(kept: Quire) -> None:
    context = kept.assemble(QUERY)
    with kept.store.view(OWNER) as view:
        proofs = [view.prove(source.chunk_id) for source in context.sources]
    text = proof_encoding.encode(proofs)
    told = proof_encoding.decode(text, [one.chunk_id for one in proofs])
    assert len(told["tops"]) > 1, "there are several classes"
    assert text == canonical(told)
    assert list(told["chunks"]) == [one.chunk_id for one in proofs]
    assert [proof_encoding.proof_of({"proofs": told}, one.chunk_id) for one in proofs] == proofs
    assert proof_encoding.decode(proof_encoding.encode([]), []) == {
        "classes": [],
        "tops": {},
        "chunks": {},
    }
