"""TOML tables that fill dataclasses: settings and recipes.

A key that does not exist and a value of the wrong type are refused, with the place of the error.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from quire.core.types import ALL
from quire.errors import ConfigError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MAX_KEY_PARTS = 32
_COMMENT_OR_STRING = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?'''
    r"|'''(?:[^']|'(?!''))*+(?:''')?"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+",
    re.DOTALL,
)
"""A comment or a string, also one that is not closed: each character is looked at once."""
_BETWEEN_KEYS = re.compile(r"[,=\[\]{}]")

Target = TypeVar("Target", bound="DataclassInstance")


def read_file(path: Path) -> dict[str, Any]:
    """Read a TOML file; raises ConfigError if that fails."""
    try:
        return parse(path.read_bytes(), str(path))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", place=str(path)) from error


def parse(content: bytes, place: str) -> dict[str, Any]:
    """Parse the bytes of a TOML file; raises ConfigError if that fails."""
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        _refuse_long_keys(text, place)
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"not valid TOML: {error}", place=place) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"not UTF-8 text: {error}", place=place, hint="save it as UTF-8"
        ) from error
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else error
        raise ConfigError(f"not valid TOML: {reason}", place=place) from error


def _refuse_long_keys(text: str, place: str) -> None:
    """Refuse a dotted key of very many parts, for which the parser takes quadratic time."""
    for line in _COMMENT_OR_STRING.sub("", text).split("\n"):
        if any(part.count(".") >= MAX_KEY_PARTS for part in _BETWEEN_KEYS.split(line)):
            raise ConfigError(f"a key has more than {MAX_KEY_PARTS} parts", place=place)


def fill(place: str, target: Target, table: Any) -> Target:
    """Return a dataclass with the values of a table; other fields stay as they are."""
    types = {item.name: str(item.type) for item in fields(target)}
    changes = {
        key: check_value(f"{place} {key}", types.get(key) or reject_key(place, key, types), value)
        for key, value in read_table(place, table).items()
    }
    return replace(target, **changes)


def check_value(place: str, kind: str, value: Any) -> Any:
    """Return a value of the type that its setting is declared with; refuse another one."""
    if kind.startswith("Mapping[str, int]"):
        return {
            name: check_value(f"{place}.{name}", "int", number)
            for name, number in read_table(place, value).items()
        }
    if kind == "tuple[str, ...]" and isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            return tuple(value)
    elif kind == "bool":
        if isinstance(value, bool):
            return value
    elif kind in {"int", "float", "Limit"}:
        if (number := _read_number(place, kind, value)) is not None:
            return number
    elif kind.startswith("str") and isinstance(value, str):
        return value
    expected = {
        "int": "a whole number",
        "float": "a number",
        "Limit": 'a whole number or "all"',
        "bool": "true or false",
        "tuple[str, ...]": "a list of texts",
    }.get(kind, "a text")
    raise _unexpected(place, value, expected)


def _read_number(place: str, kind: str, value: Any) -> int | float | None:
    """Return a number; None if the value is not one."""
    if kind == "Limit" and value == "all":
        return ALL
    is_number = isinstance(value, int | float if kind == "float" else int)
    if not is_number or isinstance(value, bool):
        return None
    if value < 0:
        raise ConfigError(f"must be at least 0, not {value}", value=value, place=place)
    number: int | float = value
    return number


def read_names(place: str, value: Any) -> tuple[str, ...]:
    """Return a list of names; a single name may be given without a list."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
        raise _unexpected(place, value, "a list of names")
    return tuple(names)


def read_table(place: str, value: Any) -> Mapping[str, Any]:
    """Return a table; refuse another value."""
    if not isinstance(value, dict):
        raise _unexpected(place, value, "a table")
    return value


def as_table(place: str, mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping of a caller as a TOML file would give it: tables, lists and plain values."""
    table = {}
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise ConfigError(f"expected a name, not {key!r}", value=key, place=place)
        table[key] = _as_toml(f"{place}: {key}", value)
    return table


def _as_toml(place: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return as_table(place, value)
    if isinstance(value, list | tuple):
        return [_as_toml(place, item) for item in value]
    return value


def read_text(place: str, value: Any) -> str:
    """Return a text that is not empty; refuse another value."""
    if not isinstance(value, str) or not value:
        raise _unexpected(place, value, "a text that is not empty")
    return value


def reject_key(place: str, key: str, known: Iterable[str]) -> NoReturn:
    """Refuse a key that does not exist; the error suggests the nearest one."""
    raise ConfigError(f"unknown setting {key!r}", value=key, allowed=known, place=place)


def _unexpected(place: str, value: Any, expected: str) -> ConfigError:
    return ConfigError(f"expected {expected}, not {value!r}", value=value, place=place)
