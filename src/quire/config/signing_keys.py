"""The files of the user's signing key.

They lie in the user's own configuration folder, never in a project or a store: the key of today,
with its private part, and the public parts of earlier keys, so that receipts that were signed with
them still verify as one's own. Only the user can read or write them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quire.errors import ConfigError
from quire.system import platform

FOLDER = "keys"
CURRENT, RETIRED = "signing.json", "retired.json"
VERSION = 1
NO_FOLDER = "there is no place to keep a signing key"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key: a retired one has no private part any more."""

    public: bytes
    created: int
    """When it was made, in seconds since 1970."""
    private: bytes = b""
    retired: int | None = None
    """When it was replaced."""


def folder(environment: Mapping[str, str]) -> Path | None:
    """Return where the keys are kept; None: the user has no configuration folder."""
    above = platform.user_config_folder(environment)
    return None if above is None else above / "quire" / FOLDER


def current(environment: Mapping[str, str]) -> SigningKey | None:
    """Return the key of today, if there is one."""
    where = folder(environment)
    data = None if where is None else _read(where / CURRENT)
    return None if data is None else _parse(data, where / CURRENT if where else Path())


def retired(environment: Mapping[str, str]) -> list[SigningKey]:
    """List the earlier keys, the oldest first."""
    where = folder(environment)
    data = None if where is None else _read(where / RETIRED)
    if data is None or where is None:
        return []
    keys = data.get("keys")
    if not isinstance(keys, list):
        raise _broken(where / RETIRED)
    return [_parse(item, where / RETIRED) for item in keys]


def save_new(key: SigningKey, environment: Mapping[str, str]) -> SigningKey:
    """Write the first key; return the one that another process wrote meanwhile, if one did."""
    where = _made(environment)
    try:
        platform.create_new(where / CURRENT, _text(key))
    except FileExistsError:
        other = current(environment)
        if other is None:
            raise _broken(where / CURRENT) from None
        return other
    except OSError as error:
        raise _unwritable(where / CURRENT, error) from error
    return key


def replace_current(key: SigningKey, environment: Mapping[str, str], at: int) -> None:
    """Write a new key in place of today's, whose public part is kept."""
    where = _made(environment)
    before = current(environment)
    keys = retired(environment)
    if before is not None:
        keys.append(SigningKey(before.public, before.created, retired=at))
    data = {"version": VERSION, "keys": [_fields(item) for item in keys]}
    try:
        # The list first: a key that is in both is still one's own, one in neither is lost.
        platform.replace_file(where / RETIRED, f"{json.dumps(data, indent=1)}\n".encode())
        platform.replace_file(where / CURRENT, _text(key))
    except OSError as error:
        raise _unwritable(where, error) from error


def _made(environment: Mapping[str, str]) -> Path:
    where = folder(environment)
    if where is None:
        raise ConfigError(NO_FOLDER, hint="set HOME or XDG_CONFIG_HOME")
    try:
        platform.make_private_folder(where)
    except OSError as error:
        raise _unwritable(where, error) from error
    platform.restrict(where)
    return where


def _read(file: Path) -> dict[str, Any] | None:
    """Read a file of keys; one that another user could have written or read is refused by name."""
    try:
        data, status = platform.read_regular(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", place=str(file)) from error
    if platform.is_foreign(status) or platform.is_open_to_others(status):
        raise ConfigError(
            "other users could have read or written your signing key",
            place=str(file),
            hint="delete it and run `quire key rotate`, or take their permissions away (chmod 600)",
        )
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise _broken(file)
    return values


def _parse(values: Any, file: Path) -> SigningKey:
    try:
        until = values.get("retired")
        return SigningKey(
            public=bytes.fromhex(values["public"]),
            created=int(values["created"]),
            private=bytes.fromhex(values.get("private", "")),
            retired=None if until is None else int(until),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _broken(file) from None


def _fields(key: SigningKey) -> dict[str, Any]:
    fields = {
        "algorithm": "ed25519",
        "public": key.public.hex(),
        "private": key.private.hex(),
        "created": key.created,
        "retired": key.retired,
    }
    return {name: value for name, value in fields.items() if value not in ("", None)}


def _text(key: SigningKey) -> bytes:
    return f"{json.dumps({'version': VERSION, **_fields(key)}, indent=1)}\n".encode()


def _broken(file: Path) -> ConfigError:
    return ConfigError(
        "this is not a signing key", place=str(file), hint="move it away, or restore it"
    )


def _unwritable(place: Path, error: OSError) -> ConfigError:
    return ConfigError(f"cannot be written: {error.strerror or error}", place=str(place))
