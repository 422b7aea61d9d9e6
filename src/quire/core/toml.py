"""Does this table say only what it may?

Settings and recipes are TOML tables that fill dataclasses. A key that does not exist, or a value of
the wrong type, is refused by name, with the place where it stands.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from quire.core.types import ALL
from quire.errors import ConfigError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Filled = TypeVar("Filled", bound="DataclassInstance")


def read(path: Path) -> dict[str, Any]:
    """Read a TOML file, or say what is wrong with it."""
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"not valid TOML: {error}", place=str(path)) from error
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", place=str(path)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"not UTF-8 text: {error}", place=str(path), hint="save it as UTF-8"
        ) from error
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else error
        raise ConfigError(f"not valid TOML: {reason}", place=str(path)) from error


def filled(place: str, target: Filled, table: Any) -> Filled:
    """Fill a dataclass from a table; what the table does not name stays as it is."""
    kinds = {item.name: str(item.type) for item in fields(target)}
    changes = {
        key: checked(f"{place} {key}", kinds.get(key) or refused(place, key, kinds), value)
        for key, value in mapping(place, table).items()
    }
    return replace(target, **changes)


def checked(place: str, kind: str, value: Any) -> Any:
    """Check a value against the type that its setting is declared with."""
    if kind.startswith("Mapping[str, int]"):
        return {
            name: checked(f"{place}.{name}", "int", number)
            for name, number in mapping(place, value).items()
        }
    if kind == "tuple[str, ...]" and isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            return tuple(value)
    elif kind == "bool":
        if isinstance(value, bool):
            return value
    elif kind in {"int", "float", "Limit"}:
        if (number := _number(place, kind, value)) is not None:
            return number
    elif kind.startswith("str") and isinstance(value, str):
        return value
    wanted = {
        "int": "a whole number",
        "float": "a number",
        "Limit": 'a whole number or "all"',
        "bool": "true or false",
        "tuple[str, ...]": "a list of texts",
    }.get(kind, "a text")
    raise _unexpected(place, value, wanted)


def _number(place: str, kind: str, value: Any) -> int | float | None:
    """Read a number; None: it is none."""
    if kind == "Limit" and value == "all":
        return ALL
    right = isinstance(value, int | float if kind == "float" else int)
    if not right or isinstance(value, bool):
        return None
    if value < 0:
        raise ConfigError(f"must be at least 0, not {value}", value=value, place=place)
    found: int | float = value
    return found


def listed(place: str, value: Any) -> tuple[str, ...]:
    """Read a list of names; a single one may stand for itself."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise _unexpected(place, value, "a list of names")
    return tuple(found)


def mapping(place: str, value: Any) -> Mapping[str, Any]:
    """Read a table."""
    if not isinstance(value, dict):
        raise _unexpected(place, value, "a table")
    return value


def text(place: str, value: Any) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise _unexpected(place, value, "a text that is not empty")
    return value


def refused(place: str, key: str, known: Iterable[str]) -> str:
    """Refuse a key that does not exist; the error suggests the nearest one."""
    raise ConfigError(f"unknown setting {key!r}", value=key, allowed=known, place=place)


def _unexpected(place: str, value: Any, expected: str) -> ConfigError:
    return ConfigError(f"expected {expected}, not {value!r}", value=value, place=place)
