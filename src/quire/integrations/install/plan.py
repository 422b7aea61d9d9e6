"""Plan an installation, carry it out, and record it.

Everything is planned before anything is written. A record of the edits of an installation, never a
copy of a file, lets an uninstall restore each file to the byte. If a file was changed since, only
the entries of Quire are removed from it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from quire.core import hashing
from quire.errors import InputError
from quire.integrations.clients import SERVER_NAME, Client, UserFile
from quire.integrations.install import entries
from quire.integrations.install.edits import Edit, EditedText, Keys, revert_all
from quire.integrations.install.entries import LaunchOptions
from quire.integrations.install.json_text import Entry, JsonText, Member
from quire.integrations.install.toml_text import TomlText
from quire.system import platform

RECORD_FILE = "installed.json"
MAX_RECORD_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class InstalledFile:
    """What an installation did to a file."""

    path: str
    hash: str
    """The hash of the file after the installation."""
    created: bool
    edits: tuple[Edit, ...]
    containers: tuple[Keys, ...]
    """The objects and lists that were created for the entries."""
    folders: tuple[str, ...] = ()
    """The folders that were created for the file, the outermost first."""


@dataclass(frozen=True, slots=True)
class InstallRecord:
    """What was installed for each client, and the folders that were created for this record."""

    clients: Mapping[str, tuple[InstalledFile, ...]] = field(default_factory=dict)
    folders: tuple[str, ...] = ()

    def files(self, client: str) -> tuple[InstalledFile, ...]:
        """Return what was installed for a client."""
        return self.clients.get(client, ())


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after; None: it does not exist."""

    path: Path
    before: str | None
    after: str | None
    installed: InstalledFile | None = None
    folders: tuple[str, ...] = ()
    """Folders to delete with the file if they are empty then."""

    @property
    def needed(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after


class SettingsFormat(Protocol):
    """The entries of Quire in one settings file, whatever its format."""

    def holds(self, text: str) -> bool:
        """Return whether the text holds all entries."""

    def add(self, text: str) -> EditedText:
        """Add the entries."""

    def remove(self, text: str, containers: Sequence[Keys]) -> str:
        """Remove the entries, and the containers created for them that are empty then."""

    def is_empty(self, text: str) -> bool:
        """Return whether the text holds nothing else."""


@dataclass(frozen=True, slots=True)
class _Json:
    name: str
    comments: bool
    entries: Sequence[Entry]

    def _text(self, text: str) -> JsonText:
        return JsonText(text, self.name, self.comments)

    def holds(self, text: str) -> bool:
        return self._text(text).holds(self.entries)

    def add(self, text: str) -> EditedText:
        return self._text(text).add(self.entries)

    def remove(self, text: str, containers: Sequence[Keys]) -> str:
        return self._text(text).remove(self.entries, containers)

    def is_empty(self, text: str) -> bool:
        return self._text(text).is_empty(self.entries)


@dataclass(frozen=True, slots=True)
class _Toml:
    name: str
    keys: Keys
    table: Mapping[str, Any]

    def holds(self, text: str) -> bool:
        return TomlText(text, self.name).holds(self.keys, self.table)

    def add(self, text: str) -> EditedText:
        return TomlText(text, self.name).add(self.keys, self.table)

    def remove(self, text: str, containers: Sequence[Keys]) -> str:  # noqa: ARG002  # a table needs no container
        return TomlText(text, self.name).remove(self.keys)

    def is_empty(self, text: str) -> bool:
        return TomlText(text, self.name).is_empty()


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose settings are changed: a project's, or the user's own."""

    root: Path | None
    """The project; None: the user's own settings."""
    home: Path
    environment: Mapping[str, str]

    def path(self, project: str, user: UserFile) -> Path:
        """Return the path of a settings file."""
        if self.root is not None:
            return self._inside(self.root, self.root / project)
        folder = self.environment.get(user.variable) if user.variable else ""
        system = {"darwin": user.mac, "win32": user.windows}.get(sys.platform, "")
        if folder and not (system and user.variable.startswith("XDG_")):
            return Path(folder) / user.below_variable
        return self.home / (system or user.default)

    @staticmethod
    def _inside(root: Path, path: Path) -> Path:
        """Refuse a file of a project that a link leads out of it."""
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(os.path.realpath(root)):
            raise InputError(
                f"leads to {real}, outside the project",
                place=str(path),
                hint="remove the link; nothing was written",
            )
        return path

    @property
    def record_file(self) -> Path:
        """The path of the installation record."""
        if self.root is not None:
            return self._inside(self.root, self.root / ".quire" / RECORD_FILE)
        return Path(
            self.environment.get("XDG_CONFIG_HOME") or self.home / ".config", "quire", RECORD_FILE
        )


def client_files(
    name: str, client: Client, launch: LaunchOptions, scope: Scope
) -> list[tuple[Path, SettingsFormat]]:
    """Return the files of a client, each with the entries of Quire in it."""
    servers, hooks = client.servers, client.hooks
    path = scope.path(servers.project, servers.user)
    server = entries.server_entry(servers, launch)
    keys = (servers.key, SERVER_NAME)
    files: list[tuple[Path, SettingsFormat]] = [
        (
            path,
            _Toml(str(path), keys, server)
            if servers.toml
            else _Json(str(path), servers.comments, [Member(keys, server)]),
        )
    ]
    if hooks is not None:
        path = scope.path(hooks.project, hooks.user)
        hook_entries = entries.hook_entries(name, client, launch)
        files.append((path, _Json(str(path), hooks.comments, hook_entries)))
    return files


def plan_install(
    files: Sequence[tuple[Path, SettingsFormat]], record: Sequence[InstalledFile]
) -> list[FileChange]:
    """Plan the changes that add all entries."""
    return [_install(path, entries, _previous(path, record)) for path, entries in files]


def plan_uninstall(
    files: Sequence[tuple[Path, SettingsFormat]], record: Sequence[InstalledFile]
) -> list[FileChange]:
    """Plan the changes that restore every file."""
    return [_uninstall(path, entries, _previous(path, record)) for path, entries in files]


def _install(path: Path, entries: SettingsFormat, previous: InstalledFile | None) -> FileChange:
    before = read(path)
    if before is not None and entries.holds(before):
        return FileChange(path, before, before, previous)
    # Entries without a recorded installation are somebody's own: an uninstall brings them back.
    base = (
        FileChange(path, before, before)
        if previous is None
        else _uninstall(path, entries, previous)
    )
    edited = entries.add(base.after or "")
    installed = InstalledFile(
        str(path),
        _hash(edited.text),
        base.after is None,
        edited.edits,
        edited.created,
        base.folders or _missing_folders(path),
    )
    return FileChange(path, before, edited.text, installed)


def _uninstall(path: Path, entries: SettingsFormat, previous: InstalledFile | None) -> FileChange:
    before = read(path)
    folders = () if previous is None else previous.folders
    if before is None:
        return FileChange(path, None, None, folders=folders)
    if previous is not None and _hash(before) == previous.hash:
        after = None if previous.created else revert_all(before, previous.edits)
        return FileChange(path, before, after, folders=folders)
    rest = entries.remove(before, () if previous is None else previous.containers)
    if previous is not None and previous.created and rest != before and entries.is_empty(rest):
        return FileChange(path, before, None, folders=folders)
    return FileChange(path, before, rest, folders=folders)


def _previous(path: Path, record: Sequence[InstalledFile]) -> InstalledFile | None:
    return next((file for file in record if file.path == str(path)), None)


def _missing_folders(path: Path) -> tuple[str, ...]:
    """Return the folders that must be created for a file, the outermost first."""
    missing = [str(folder) for folder in path.parents if not folder.exists()]
    return tuple(reversed(missing))


def _hash(text: str) -> str:
    return hashing.text_hash(text).hex()


# --- disk ----------------------------------------------------------------------------------------


def read(path: Path) -> str | None:
    """Read a file to the byte; None: it does not exist."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 text ({error})", place=str(path), hint="nothing was written"
        ) from error
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", place=str(path), hint="nothing was written"
        ) from error


def apply_changes(changes: Sequence[FileChange]) -> None:
    """Write all files, each whole or not at all."""
    for change in changes:
        if not change.needed:
            continue
        if change.after is None:
            change.path.unlink(missing_ok=True)
            _remove_empty(change.path, change.folders)
        else:
            write(change.path, change.after, platform.SHARED)


def write(path: Path, text: str, mode: int = platform.OWNER_ONLY) -> None:
    """Write a file whole or not at all; a link stays a link, and permissions are kept."""
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        platform.replace_file(target, text.encode(), mode)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", place=str(path)) from error


def _remove_empty(path: Path, folders: Sequence[str]) -> None:
    """Delete empty folders around a file, the innermost first.

    The record that names them may be that of a project somebody else wrote.
    """
    for folder in reversed(folders):
        if Path(folder) not in path.parents:
            continue
        try:
            Path(folder).rmdir()
        except OSError:  # it is not empty, or it does not exist
            continue


# --- the record, in the form of its file ----------------------------------------------------------


def load_record(file: Path) -> InstallRecord:
    """Read the record; one that cannot be read counts as empty."""
    try:
        data = json.loads(platform.read_regular(file, MAX_RECORD_BYTES)[0])
        clients = {name: tuple(map(_parse_file, files)) for name, files in data["clients"].items()}
        return InstallRecord(clients, tuple(data["folders"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return InstallRecord()


def save_record(
    file: Path, before: InstallRecord, client: str, installed: Sequence[InstalledFile]
) -> None:
    """Record what is installed for a client; without any client, delete the record."""
    clients = {**before.clients, client: tuple(installed)}
    record = InstallRecord(
        {name: clients[name] for name in sorted(clients) if clients[name]},
        before.folders or _missing_folders(file),
    )
    if record.clients:
        data = {
            "clients": {
                name: [_file_data(item) for item in files] for name, files in record.clients.items()
            },
            "folders": record.folders,
        }
        write(file, json.dumps(data, indent=1) + "\n")
        return
    file.unlink(missing_ok=True)
    _remove_empty(file, record.folders)


def _file_data(file: InstalledFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "hash": file.hash,
        "created": file.created,
        "edits": [
            {"at": edit.at, "removed": edit.removed, "put": edit.inserted} for edit in file.edits
        ],
        "made": file.containers,
        "folders": file.folders,
    }


def _parse_file(data: Mapping[str, Any]) -> InstalledFile:
    return InstalledFile(
        data["path"],
        data["hash"],
        data["created"],
        tuple(
            Edit(int(edit["at"]), str(edit["removed"]), str(edit["put"])) for edit in data["edits"]
        ),
        tuple(tuple(keys) for keys in data["made"]),
        tuple(data["folders"]),
    )
