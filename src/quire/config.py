"""What has been set, and where?

Each setting is looked up on the command line, in `QUIRE_*` variables, in the project's
`quire.toml`, in the user's own file, and last in the defaults of its type. A setting that does
not exist, or has a value of the wrong type, is refused by name.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from quire.errors import ConfigError
from quire.values import (
    MAIN,
    PUBLIC,
    AccessRule,
    EmbedSettings,
    IngestSettings,
    SearchSettings,
)

FILE = "quire.toml"
MARKS = (FILE, ".quire", ".git")
"""A directory that holds one of these is a project's root."""
DEFAULT_STORE = Path(".quire") / "store.db"

Settings = TypeVar("Settings", IngestSettings, EmbedSettings, SearchSettings)


@dataclass(frozen=True, slots=True)
class Config:
    """All settings in force."""

    root: Path
    """The project's directory: paths in the store are relative to it."""
    store: Path
    space: str = MAIN
    viewer: str | None = None
    ingest: IngestSettings = field(default_factory=IngestSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    rules: tuple[AccessRule, ...] = ()
    access_default: tuple[str, ...] = (PUBLIC,)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file: Path | None = None
    """The project's quire.toml, if there is one."""
    own_store: bool = True
    """Whether the store is the project's own, rather than named by the caller."""


def load(
    start: Path | None = None,
    *,
    store: Path | None = None,
    space: str | None = None,
    viewer: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Read all settings that hold in a directory."""
    env = os.environ if environment is None else environment
    start = (start or Path.cwd()).resolve()
    root = project_root(start)
    file = root / FILE
    layers = [
        (path, _read(path))
        for path in (_user_file(env), file)
        if path is not None and path.is_file()
    ]
    config = Config(root=root, store=root / DEFAULT_STORE, file=file if file.is_file() else None)
    for path, table in layers:
        config = _apply(config, path, table)
    config = _apply_environment(config, env)
    return replace(
        config,
        store=config.store if store is None else store.absolute(),
        own_store=config.own_store and store is None,
        space=space or config.space,
        viewer=viewer if viewer is not None else config.viewer,
    )


def project_root(start: Path) -> Path:
    """Find the nearest directory above that is marked as a project; else it is `start`."""
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in MARKS):
            return folder
    return start


def _user_file(env: Mapping[str, str]) -> Path | None:
    if env.get("QUIRE_CONFIG"):
        return Path(env["QUIRE_CONFIG"])
    home = env.get("XDG_CONFIG_HOME") or (env.get("HOME", "") and str(Path(env["HOME"], ".config")))
    return Path(home, "quire", "config.toml") if home else None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def _apply(config: Config, path: Path, table: Mapping[str, Any]) -> Config:
    known = ("store", "space", "viewer", "ingest", "embed", "search", "access", "groups")
    for key in table:
        if key not in known:
            raise ConfigError(f"{path}: {_unknown(key, known)}")
    changes: dict[str, Any] = {}
    if "store" in table:
        changes["store"] = path.parent / _text(path, "store", table["store"])
    for key in ("space", "viewer"):
        if key in table:
            changes[key] = _text(path, key, table[key])
    for key in ("ingest", "embed", "search"):
        if key in table:
            changes[key] = _section(path, key, getattr(config, key), table[key])
    if "access" in table:
        changes |= _access(path, table["access"])
    if "groups" in table:
        groups = _table(path, "groups", table["groups"])
        changes["groups"] = {
            name: _names(path, f"[groups] {name}", users) for name, users in groups.items()
        }
    return replace(config, **changes)


def _section(path: Path, name: str, settings: Settings, table: Any) -> Settings:
    kinds = {item.name: item.type for item in fields(settings)}
    changes: dict[str, Any] = {}
    for key, value in _table(path, name, table).items():
        if key not in kinds:
            raise ConfigError(f"{path}: [{name}] {_unknown(key, kinds)}")
        changes[key] = _value(f"{path}: [{name}] {key}", str(kinds[key]), value)
    return replace(settings, **changes)


def _value(place: str, kind: str, value: Any) -> Any:
    """Check a value against the type that its setting is declared with."""
    if kind == "tuple[str, ...]" and isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            return tuple(value)
    elif kind == "bool":
        if isinstance(value, bool):
            return value
    elif kind in {"int", "float"}:
        right = isinstance(value, int if kind == "int" else int | float)
        if right and not isinstance(value, bool):
            if value < 0:
                raise ConfigError(f"{place} is {value}: it must not be negative")
            return value
    elif isinstance(value, str):
        return value
    wanted = {
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "tuple[str, ...]": "a list of texts",
    }.get(kind, "a text")
    raise ConfigError(f"{place} is {value!r}: expected {wanted}")


def _access(path: Path, table: Any) -> dict[str, Any]:
    rules: list[AccessRule] = []
    changes: dict[str, Any] = {}
    for glob, principals in _table(path, "access", table).items():
        names = _names(path, f"[access] {glob!r}", principals)
        if glob == "default":
            changes["access_default"] = names
        else:
            rules.append(AccessRule(glob, names))
    return {**changes, "rules": tuple(rules)}


def _names(path: Path, place: str, value: Any) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise ConfigError(f"{path}: {place} is {value!r}: expected a list of names")
    return tuple(listed)


def _table(path: Path, name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: {name} is {value!r}: expected a table, [{name}]")
    return value


def _text(path: Path, key: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{path}: {key} is {value!r}: expected a text")
    return value


def _unknown(key: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    near = get_close_matches(key, list(known), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
    return f"there is no setting {key!r}{hint}"


def _apply_environment(config: Config, env: Mapping[str, str]) -> Config:
    changes: dict[str, Any] = {}
    if env.get("QUIRE_STORE"):
        changes |= {"store": Path(env["QUIRE_STORE"]).absolute(), "own_store": False}
    for key in ("space", "viewer"):
        if env.get(f"QUIRE_{key.upper()}"):
            changes[key] = env[f"QUIRE_{key.upper()}"]
    for section in ("ingest", "embed", "search"):
        settings = getattr(config, section)
        found = {
            item.name: _from_text(variable, str(item.type), env[variable])
            for item in fields(settings)
            if (variable := f"QUIRE_{section.upper()}_{item.name.upper()}") in env
        }
        if found:
            changes[section] = replace(settings, **found)
    return replace(config, **changes)


def _from_text(variable: str, kind: str, text: str) -> Any:
    value: Any = text
    if kind == "tuple[str, ...]":
        value = [part.strip() for part in text.split(",") if part.strip()]
    elif kind == "bool":
        value = {"1": True, "true": True, "0": False, "false": False}.get(text.lower(), text)
    elif kind in {"int", "float"}:
        try:
            value = int(text) if kind == "int" else float(text)
        except ValueError:
            value = text
    return _value(variable, kind, value)
