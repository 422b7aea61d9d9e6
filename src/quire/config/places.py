"""Where settings stand, and whether other users could have written them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quire.config import trust
from quire.config.settings import ROOT_MARKERS
from quire.core import toml
from quire.errors import ConfigError
from quire.system import platform

MAX_BYTES = 1024 * 1024
"""A larger settings file is refused."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file as it was read."""

    path: Path
    content: bytes
    table: Mapping[str, Any]
    owners: tuple[int, ...] = ()
    """Other users to whom the file, or a link to it, belongs."""
    writable: bool = False
    """Whether users other than its owner can write it."""

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the file may not be what the user, or the superuser, wrote."""
        return doubts(self.owners, writable=self.writable)


def doubts(owners: tuple[int, ...], *, writable: bool) -> tuple[str, ...]:
    """Word why a file may not be what the user, or the superuser, wrote."""
    return (
        *(f"belongs to the user {platform.owner_name(owner)}" for owner in owners),
        *(("can be written by other users",) if writable else ()),
    )


def user_file(environment: Mapping[str, str]) -> Path | None:
    """Return the user's own settings file; None: there is none."""
    if environment.get("QUIRE_CONFIG"):
        path = Path(environment["QUIRE_CONFIG"])
        if not path.is_file():
            raise ConfigError(f"{path} does not exist", value=str(path), place="QUIRE_CONFIG")
        return path
    file = _default_user_file(environment)
    return file if file is not None and os.path.isfile(file) else None  # noqa: PTH113


def unreadable_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of the user's settings if this process may not look into it."""
    file = None if environment.get("QUIRE_CONFIG") else _default_user_file(environment)
    if file is None:
        return None
    try:
        file.stat()
    except PermissionError:
        return file.parent
    except (OSError, ValueError):
        return None
    return None


def _default_user_file(environment: Mapping[str, str]) -> Path | None:
    folder = platform.user_config_folder(environment)
    return None if folder is None else folder / "quire" / "config.toml"


def read(path: Path) -> SettingsFile:
    """Read a settings file, and who could have written it."""
    try:
        content, status = platform.read_regular(path, MAX_BYTES)
        link = path.lstat()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", place=str(path)) from error
    foreign = {each.st_uid for each in (link, status) if platform.is_foreign(each)}
    return SettingsFile(
        path,
        content,
        toml.parse(content, str(path)),
        owners=tuple(sorted(foreign)),
        writable=platform.is_writable_by_others(status),
    )


def refuse_doubtful(file: SettingsFile, hint: str) -> None:
    """Refuse a settings file that another user could have written."""
    if file.doubts:
        raise ConfigError(
            f"{' and '.join(file.doubts)}, so it is not obeyed", place=str(file.path), hint=hint
        )


def find_root(start: Path, environment: Mapping[str, str]) -> tuple[Path, tuple[str, ...]]:
    """Return the nearest project root at or above a directory, and notes on what was passed over.

    A marker in a folder above counts only if it belongs to the user or the superuser: whoever can
    write there could otherwise put the user's files under settings, and into a store, of theirs.
    The directory itself is the root if no marker counts.
    """
    notes: list[str] = []
    for folder in (start, *start.parents):
        owners = marker_owners(folder)
        if owners is None:
            continue
        if folder == start or not owners or _accepts(folder, owners, environment):
            return folder, tuple(notes)
        names = ", ".join(name for name in ROOT_MARKERS if (folder / name).exists())
        notes.append(
            f"{names} in {folder} {' and '.join(doubts(owners, writable=False))}, so it is not "
            f"obeyed: run `quire trust {folder}` to accept it"
        )
    return start, tuple(notes)


def nearest_root(start: Path) -> Path:
    """Return the nearest directory at or above `start` with a marker, whoever it belongs to."""
    for folder in (start, *start.parents):
        if marker_owners(folder) is not None:
            return folder
    return start


def marker_owners(folder: Path) -> tuple[int, ...] | None:
    """Return the other users to whom all markers in a folder belong; None: there is no marker.

    One marker that belongs to the user or the superuser is enough for none to be returned.
    """
    statuses = list(_markers(folder))
    if not statuses:
        return None
    foreign = {status.st_uid for status in statuses if platform.is_foreign(status)}
    own = any(not platform.is_foreign(status) for status in statuses)
    return () if own else tuple(sorted(foreign))


def _markers(folder: Path) -> Iterator[os.stat_result]:
    for name in ROOT_MARKERS:
        if os.path.exists(folder / name):  # noqa: PTH110 - which never raises, whatever the name is
            yield (folder / name).lstat()


def _accepts(folder: Path, owners: tuple[int, ...], environment: Mapping[str, str]) -> bool:
    record = trust.find(folder, environment)
    return record is not None and set(owners) <= set(record.owners)
