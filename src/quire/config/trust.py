"""Records of the projects that a user trusts.

One file for each project in the user's own configuration folder, readable and writable by the user
alone: which directory, which content of its settings (a hash), and what was accepted with it. A
project whose settings were changed since is not trusted any more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from quire.core import hashing
from quire.errors import ConfigError
from quire.system import platform

FOLDER = "trusted"


@dataclass(frozen=True, slots=True)
class TrustRecord:
    """A project that the user trusts."""

    root: str
    fingerprint: str
    """The hash of the settings, and of what they refer to, that the user saw."""
    at: int
    """When, in seconds since 1970."""
    settings: tuple[str, ...] = ()
    """The names of the sensitive settings."""
    owners: tuple[int, ...] = ()
    """The other users whose files were accepted."""
    writable: bool = False
    """Whether it was accepted that other users can write the settings."""


def folder(environment: Mapping[str, str]) -> Path | None:
    """Return where the records are kept; None: the user has no configuration folder."""
    above = platform.user_config_folder(environment)
    return None if above is None else above / "quire" / FOLDER


def find(root: Path, environment: Mapping[str, str]) -> TrustRecord | None:
    """Return the record of a project, by its resolved root."""
    where = folder(environment)
    record = None if where is None else _read(where / _file_name(root))
    return record if record is not None and record.root == str(root) else None


def content(root: Path, environment: Mapping[str, str]) -> bytes | None:
    """Return the bytes of a project's record, to notice a change."""
    where = folder(environment)
    try:
        return None if where is None else (where / _file_name(root)).read_bytes()
    except OSError:
        return None


def records(environment: Mapping[str, str]) -> list[TrustRecord]:
    """List all records by root."""
    where = folder(environment)
    files = sorted(where.glob("*.json")) if where is not None and where.is_dir() else []
    found = [record for file in files if (record := _read(file)) is not None]
    return sorted(found, key=lambda record: record.root)


def save(record: TrustRecord, environment: Mapping[str, str]) -> None:
    """Record that a project is trusted."""
    where = folder(environment)
    if where is None:
        raise ConfigError(
            "there is no place to record what is trusted", hint="set HOME or XDG_CONFIG_HOME"
        )
    target = where / _file_name(Path(record.root))
    text = json.dumps({"version": 1, **asdict(record)}, indent=1) + "\n"
    try:
        platform.make_private_folder(where)
        platform.restrict(where)
        platform.replace_file(target, text.encode())
    except OSError as error:
        raise ConfigError(
            f"cannot be written: {error.strerror or error}", place=str(target)
        ) from error


def revoke(root: Path, environment: Mapping[str, str]) -> bool:
    """Delete the record of a project; return whether there was one."""
    where = folder(environment)
    if where is None:
        return False
    try:
        (where / _file_name(root)).unlink()
    except FileNotFoundError:
        return False
    return True


def _file_name(root: Path) -> str:
    return f"{hashing.identifier('trusted project', str(root))}.json"


def _read(file: Path) -> TrustRecord | None:
    """Read a record; one that another user could have written is refused by name."""
    try:
        data, status = platform.read_regular(file)
    except OSError:
        return None
    if platform.is_foreign(status) or platform.is_writable_by_others(status):
        raise ConfigError(
            "another user could have written this record of trust",
            place=str(file),
            hint="delete it, and run `quire trust` again",
        )
    try:
        return _parse(json.loads(data))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _parse(values: Mapping[str, Any]) -> TrustRecord:
    return TrustRecord(
        root=str(values["root"]),
        fingerprint=str(values["fingerprint"]),
        at=int(values["at"]),
        settings=tuple(map(str, values["settings"])),
        owners=tuple(map(int, values["owners"])),
        writable=values["writable"] is True,
    )
