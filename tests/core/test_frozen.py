"""A frozen data class is what the standard library makes of it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Any

import pytest

from quire.core import frozen


def declared() -> type[Any]:
    class Declared:
        """Fields of all kinds."""

        name: str
        number: int
        items: tuple[int, ...] = ()
        known: dict[str, int] = field(default_factory=dict, hash=False)
        created: str = field(default="", compare=False)
        hidden: str = field(default="secret", repr=False)

        @property
        def double(self) -> int:
            return 2 * self.number

        def __post_init__(self) -> None:
            object.__setattr__(self, "name", self.name.strip())

    return Declared


Ours: Any = frozen.dataclass(frozen=True, slots=True)(declared())
Theirs: Any = dataclasses.dataclass(frozen=True, slots=True)(declared())
ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    (("a", 1), {}),
    ((" a ", 1, (2,)), {"created": "today"}),
    (("b",), {"number": 3, "known": {"x": 1}}),
    (("b", 3, (), {"x": 1}, "", "other"), {}),
]
PAIRS = [
    (Ours(*positional, **named), Theirs(*positional, **named)) for positional, named in ARGUMENTS
]


@frozen.dataclass(frozen=True, slots=True)
class Point:
    """Can be pickled by its name."""

    x: int
    y: int = 0


def test_it_has_the_fields_of_the_other() -> None:
    assert [each.name for each in fields(Ours)] == [each.name for each in fields(Theirs)]
    assert Ours.__match_args__ == Theirs.__match_args__
    assert sorted(Ours.__slots__) == sorted(Theirs.__slots__)
    assert Ours.__dataclass_params__.frozen
    assert [*inspect.signature(Ours).parameters] == [*inspect.signature(Theirs).parameters]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_an_object_shows_and_copies_as_the_other(ours: Any, theirs: Any) -> None:
    assert repr(ours) == repr(theirs)
    assert asdict(ours) == asdict(theirs)
    assert ours.double == theirs.double
    assert hash(ours) == hash(theirs)
    assert type(ours) is Ours
    assert copy.copy(ours) == ours
    assert copy.deepcopy(ours) == ours
    assert copy.deepcopy(ours).known is not ours.known
    assert repr(replace(ours, number=9)) == repr(replace(theirs, number=9))
    assert not hasattr(ours, "__dict__")


def test_the_same_are_equal_as_of_the_other() -> None:
    for ours, theirs in PAIRS:
        assert [ours == other for other, _ in PAIRS] == [theirs == other for _, other in PAIRS]
        assert ours != theirs
        assert ours.__eq__(3) is NotImplemented


def test_no_two_share_what_a_factory_made() -> None:
    assert Ours("a", 1).known is not Ours("a", 1).known


def test_nobody_sets_or_deletes_a_field() -> None:
    made = Ours("a", 1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        made.name = "b"
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'other'"):
        made.other = "b"
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del made.name


@pytest.mark.parametrize("arguments", [(), ("a",), ("a", 1, (), {}, "", "", "too many")])
def test_wrong_arguments_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        Ours(*arguments)
    with pytest.raises(TypeError):
        Ours("a", 1, unknown=1)


def test_it_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)


def test_nothing_inherits_from_it() -> None:
    with pytest.raises(TypeError, match="a class that others extend"):
        type("Child", (Point,), {})


def test_an_equality_and_a_hash_of_its_own_stay() -> None:
    @frozen.dataclass(frozen=True, slots=True)
    class Own:
        """Compares by length."""

        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and len(self.text) == len(other.text)

        def __hash__(self) -> int:
            return len(self.text)

    assert Own("ab") == Own("cd")
    assert hash(Own("ab")) == 2
