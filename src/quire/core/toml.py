"""Does this table say only what it may?

Settings and recipes are TOML tables that fill dataclasses. A key that does not exist, or a value of
the wrong type, is refused by name, with the place where it stands.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
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
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        told = "nested too deep" if isinstance(error, RecursionError) else error
        raise ConfigError(f"{path} is not valid TOML: {told}") from error


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
    raise ConfigError(f"{place} is {value!r}: expected {wanted}")


def _number(place: str, kind: str, value: Any) -> int | float | None:
    """Read a number; None: it is none."""
    if kind == "Limit" and value == "all":
        return ALL
    right = isinstance(value, int | float if kind == "float" else int)
    if not right or isinstance(value, bool):
        return None
    if value < 0:
        raise ConfigError(f"{place} is {value}: it must not be negative")
    found: int | float = value
    return found


def listed(place: str, value: Any) -> tuple[str, ...]:
    """Read a list of names; a single one may stand for itself."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ConfigError(f"{place} is {value!r}: expected a list of names")
    return tuple(found)


def mapping(place: str, value: Any) -> Mapping[str, Any]:
    """Read a table."""
    if not isinstance(value, dict):
        raise ConfigError(f"{place} is {value!r}: expected a table")
    return value


def text(place: str, value: Any) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{place} is {value!r}: expected a text")
    return value


def refused(place: str, key: str, known: Iterable[str]) -> str:
    """Refuse a key that does not exist; a near one is suggested."""
    names = list(known)
    near = get_close_matches(key, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
    raise ConfigError(f"{place}: there is no setting {key!r}; {hint}")
