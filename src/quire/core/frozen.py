"""Frozen data classes that are made fast: the classes, when a process starts, and their objects.

`dataclass` of the standard library writes the source of six functions for each class and compiles
it, and fills frozen objects by a call for each field. Here one function is compiled. It fills an
object of a class that is not frozen, which then becomes one of the class that is. All else is the
same: fields, defaults, equality, hashes, copies, and the error of who sets a field.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, fields
from dataclasses import dataclass as standard_dataclass
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["dataclass"]

Class = TypeVar("Class", bound=type)


def _frozen(cls: Class) -> Class:
    """Make a class without bases a frozen data class with slots."""
    assert cls.__bases__ == (object,), "what inherits is no value of one kind"
    own = {**vars(cls)}
    made: Any = standard_dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    made.__dataclass_params__.frozen = True
    names = tuple([field.name for field in fields(made)])
    compared = [field for field in fields(made) if field.compare]
    hashed = [
        field for field in fields(made) if (field.compare if field.hash is None else field.hash)
    ]
    methods = {
        "__new__": _constructor(made, names),
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__repr__": _representation(tuple([field.name for field in fields(made) if field.repr])),
        "__eq__": _equality(made, _getter([field.name for field in compared])),
        "__hash__": _hash(_getter([field.name for field in hashed])),
        "__reduce__": lambda self: (made, tuple([getattr(self, name) for name in names])),
        "__init_subclass__": classmethod(_refuse_subclass),
    }
    for name, method in methods.items():
        if own.get(name) is None:  # a class with an `__eq__` of its own has None for a hash
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def _constructor(cls: Any, names: tuple[str, ...]) -> Any:
    """Compile the function that makes an object of its fields."""
    draft = type(f"{cls.__name__}Draft", (), {"__slots__": names, "__module__": cls.__module__})
    known: dict[str, Any] = {"_new": object.__new__, "_draft": draft, "_absent": MISSING}
    parameters, filled = [], []
    for field in fields(cls):
        value = field.name
        if field.default_factory is not MISSING:
            known[f"_factory_{field.name}"] = field.default_factory
            parameters.append(f"{field.name}=_absent")
            value = f"_factory_{value}() if {value} is _absent else {value}"
        elif field.default is not MISSING:
            known[f"_default_{field.name}"] = field.default
            parameters.append(f"{field.name}=_default_{field.name}")
        else:
            parameters.append(field.name)
        filled.append(f" _self.{field.name} = {value}\n")
    finished = " _self.__post_init__()\n" if hasattr(cls, "__post_init__") else ""
    source = (
        f"def __new__({', '.join(('_cls', *parameters))}):\n"
        f" _self = _new(_draft)\n{''.join(filled)} _self.__class__ = _cls\n{finished} return _self"
    )
    # It holds names of fields alone, which are those of this project.
    exec(source, known)  # noqa: S102  # nosec B102
    return known["__new__"]


def _getter(names: list[str]) -> Any:
    """Return a function that returns the values of fields as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _refuse_subclass(cls: type, /, **_: object) -> None:
    raise TypeError(f"{cls.__name__}: use `dataclasses.dataclass` for a class that others extend")


def _refuse_to_set(_self: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _equality(cls: type, values: Any) -> Any:
    def __eq__(self: object, other: object) -> bool:  # noqa: N807
        if other.__class__ is cls:
            return bool(values(self) == values(other))
        return NotImplemented

    return __eq__


def _hash(values: Any) -> Any:
    return lambda self: hash(values(self))


def _representation(names: tuple[str, ...]) -> Any:
    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, slots: bool) -> Any:
        """Return the decorator; its arguments are those of the standard library's."""
        assert frozen
        assert slots
        return _frozen
