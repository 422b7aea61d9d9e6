"""What describes one option: its meaning, its type, and how each interface takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from quire.core.frozen import dataclass
from quire.core.types.recipe import Recipe

TEXT = "text"
INTEGER = "integer"
NUMBER = "number"
FLAG = "flag"
ON_OFF = "on/off"
"""A pair of flags: `--groups` and `--no-groups`."""
REPEATED = "repeated"
"""A flag that may be repeated, with one value each."""
LIST = "list"
"""Names with commas between them."""
PAIRS = "pairs"
"""Numbers by name, with commas between them: `system=200,response=500`."""
DATE = "date"
JSON = "JSON"
FILE = "file"
MESSAGES = "messages"
"""A file that holds a conversation."""
RECEIPT = "receipt"
"""A file that holds a receipt; its chunks are meant."""
NOT_TYPED = "-"
"""Not on the command line."""


@dataclass(frozen=True, slots=True)
class Tool:
    """How a tool that a language model calls takes an option."""

    name: str = ""
    """The argument's name; empty: the option's."""
    description: str = ""
    """What a model is told of it; empty: the option's help."""
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its meaning, where its value goes, and how each interface takes it."""

    help: str
    """What it does; `{choices}` stands for the values that its setting may have."""
    setting: str = ""
    """The setting of the recipe that it overrides: `budget.total`."""
    recorded: bool = False
    """It is a field of `Request`, which receipts record."""
    expected: str = ""
    """What its value must be, in words; empty: as its type says."""
    form: str = ""
    """How it is written on a command line; empty: as its type says."""
    flag: str = ""
    """Its flag on the command line; empty: the option's name."""
    value: bool = True
    """What a flag without a value sets it to."""
    metavar: str = ""
    example: str = ""
    tool: Tool | None = None
    """How tools take it; None: they do not."""
    used_by: Callable[[Recipe], bool] | None = None
    """Whether a recipe uses it, beside those of its sources that read it; None: all of them do."""
    name: str = ""
    """Its name, and below its type: as `Options` declares them."""
    type: Any = None

    def accepts(self, value: object) -> bool:
        """Tell whether a value is of the option's type."""
        return _matches(value, self.type)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its value, as programs without Python send it."""
        return {"type": "string"} if self.form == DATE else _schema(self.type)


_NAMED_TYPES = {
    int: (INTEGER, "a whole number"),
    float: (NUMBER, "a number"),
    bool: (FLAG, "true or false"),
    str: (TEXT, "a text"),
    Sequence: (REPEATED, "a list"),
    Mapping: (PAIRS, "whole numbers by name"),
}
"""How a type is written on a command line, and what it is called in an error."""
_SCHEMA_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}


def described(name: str, annotation: Any) -> Option:
    """Return an entry of the table with what its name and its type say."""
    option: Option
    kind, option = get_args(annotation)
    form, expected = _NAMED_TYPES.get(_plain_types(kind)[0], ("", ""))
    return replace(
        option,
        name=name,
        type=kind,
        form=option.form or form,
        expected=option.expected or expected,
        flag=option.flag or f"--{name.replace('_', '-')}",
    )


def _plain_types(annotation: Any) -> list[Any]:
    """List the types that a value may have, without what they contain."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else [annotation]
    return [get_origin(part) or part for part in parts]


def _matches(value: object, annotation: Any) -> bool:
    kinds = _plain_types(annotation)
    if isinstance(value, bool):  # which Python takes for a number
        return bool in kinds
    if isinstance(value, str):  # which Python takes for a sequence
        return str in kinds
    if isinstance(value, int) and float in kinds:
        return True
    if Sequence in kinds:
        return isinstance(value, list | tuple)
    return isinstance(value, tuple(kinds))


def _schema(annotation: Any) -> dict[str, Any]:
    kinds = [kind for kind in _plain_types(annotation) if kind is not NoneType]
    known = next((_SCHEMA_TYPES[kind] for kind in kinds if kind in _SCHEMA_TYPES), None)
    if known is not None:
        return {"type": known}
    inner = get_args(annotation)[-1]
    if Sequence in kinds:
        if get_origin(inner) is tuple:
            return {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}
        return {"type": "array", "items": _schema(inner)}
    return {"type": "object"} if inner is Any else _object_of(_schema(inner))


def _object_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": schema}
