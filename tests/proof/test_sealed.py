"""Can a caller alter what the next caller is given?"""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, cast

import pytest

from quire import Quire
from quire.proof import Receipt, sealed
from quire.proof.sealed import SealedDict, SealedList

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
    assert all(type(part) in {SealedDict, SealedList} for part in met)
    for part in met:
        for alter in DICT if isinstance(part, dict) else LIST:
            with pytest.raises(TypeError, match="cannot be altered"):
                alter(part)
    again = kept.assemble(QUERY)
    assert again is first
    assert json.dumps(asdict(again)) == before


def test_every_way_to_alter_a_dictionary_or_a_list_is_closed() -> None:
    for kind, plain in ((SealedDict, dict), (SealedList, list)):
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
    assert kept.verify(receipt) == []


def test_what_is_sealed_reads_as_before() -> None:
    data: dict[str, Any] = {"a": [1, {"b": "c"}], "d": {}, "e": None}
    found = sealed(data)
    assert found == data
    assert json.dumps(found, sort_keys=True) == json.dumps(data, sort_keys=True)
    assert {**found, "a": 1} == {"a": 1, "d": {}, "e": None}
    assert found | {"e": 2} == {**data, "e": 2}
    data["d"]["later"] = 1
    assert found["d"] == {}


def test_receipts_share_what_their_proofs_have_in_common(kept: Quire) -> None:
    first, other = (kept.assemble(QUERY, budget=budget).receipt for budget in (3000, 3500))
    assert first is not other
    mine, theirs = (
        [pair for top in cast("Receipt", receipt)["proofs"]["tops"].values() for pair in top]
        for receipt in (first, other)
    )
    assert len(mine) == len(theirs) > 5
    assert all(one is another for one, another in zip(mine, theirs, strict=True))
    copied = cast("Receipt", copy.deepcopy(first))
    assert copied == first
    assert not any(pair is mine[0] for top in copied["proofs"]["tops"].values() for pair in top)
