"""What is to be changed on disk, and what was?

Everything is planned before anything is written. What an installation changed is kept in a record,
so that it can be undone to the byte: as edits, never as a copy. If a file is another one since,
only what belongs to Quire is taken out of it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from quire.core import hashing
from quire.errors import InputError
from quire.integrations.clients import NAME, Client, Home
from quire.integrations.install import entries
from quire.integrations.install.edits import Changed, Edit, undone
from quire.integrations.install.edits import Path as Keys
from quire.integrations.install.entries import Calling
from quire.integrations.install.json_text import Entry, JsonText, Member
from quire.integrations.install.toml_text import TomlText

RECORD = "installed.json"


@dataclass(frozen=True, slots=True)
class Done:
    """What an installation did to a file."""

    path: str
    hash: str
    """Of the file as it was left."""
    created: bool
    edits: tuple[Edit, ...]
    made: tuple[Keys, ...]
    folders: tuple[str, ...] = ()
    """The folders that were made for it, the outermost first."""


@dataclass(frozen=True, slots=True)
class Record:
    """What was done for each client, and the folders that were made to keep this record in."""

    clients: Mapping[str, tuple[Done, ...]] = field(default_factory=dict)
    folders: tuple[str, ...] = ()

    def done(self, client: str) -> tuple[Done, ...]:
        """Tell what was done for a client."""
        return self.clients.get(client, ())


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; None: it is not there."""

    path: Path
    before: str | None
    after: str | None
    done: Done | None = None
    folders: tuple[str, ...] = ()
    """The folders to be taken away with it, where they are empty then."""

    @property
    def needed(self) -> bool:
        """Tell whether there is anything to write."""
        return self.before != self.after


class Format(Protocol):
    """What a file of a client can be asked, whatever it is written in."""

    def holds(self, text: str) -> bool:
        """Tell whether all that Quire writes stands in it."""

    def with_(self, text: str) -> Changed:
        """Put it in."""

    def without(self, text: str, made: Sequence[Keys]) -> str:
        """Take it out."""

    def is_bare(self, text: str) -> bool:
        """Tell whether nothing else is in it."""


@dataclass(frozen=True, slots=True)
class _Json:
    name: str
    comments: bool
    entries: Sequence[Entry]

    def _text(self, text: str) -> JsonText:
        return JsonText(text, self.name, self.comments)

    def holds(self, text: str) -> bool:
        return self._text(text).holds(self.entries)

    def with_(self, text: str) -> Changed:
        return self._text(text).with_(self.entries)

    def without(self, text: str, made: Sequence[Keys]) -> str:
        return self._text(text).without(self.entries, made)

    def is_bare(self, text: str) -> bool:
        return self._text(text).is_bare(self.entries)


@dataclass(frozen=True, slots=True)
class _Toml:
    name: str
    keys: Keys
    table: Mapping[str, Any]

    def holds(self, text: str) -> bool:
        return TomlText(text, self.name).holds(self.keys, self.table)

    def with_(self, text: str) -> Changed:
        return TomlText(text, self.name).with_(self.keys, self.table)

    def without(self, text: str, made: Sequence[Keys]) -> str:  # noqa: ARG002  # a table needs no container
        return TomlText(text, self.name).without(self.keys)

    def is_bare(self, text: str) -> bool:
        return TomlText(text, self.name).is_bare()


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose settings are changed: a project's, or the user's own."""

    root: Path | None
    """The project; None: the user's own."""
    home: Path
    environment: Mapping[str, str]

    def place(self, project: str, home: Home) -> Path:
        """Tell where a file is."""
        if self.root is not None:
            return self.root / project
        folder = self.environment.get(home.variable) if home.variable else ""
        system = {"darwin": home.mac, "win32": home.windows}.get(sys.platform, "")
        if folder and not (system and home.variable.startswith("XDG_")):
            return Path(folder) / home.named
        return self.home / (system or home.usual)

    @property
    def record(self) -> Path:
        """Tell where it is kept what was done."""
        if self.root is not None:
            return self.root / ".quire" / RECORD
        return Path(
            self.environment.get("XDG_CONFIG_HOME") or self.home / ".config", "quire", RECORD
        )


def files(name: str, client: Client, calling: Calling, scope: Scope) -> list[tuple[Path, Format]]:
    """Name the files of a client, and what Quire writes into each."""
    servers, hooks = client.servers, client.hooks
    place = scope.place(servers.project, servers.user)
    said = entries.server(servers, calling)
    keys = (servers.key, NAME)
    found: list[tuple[Path, Format]] = [
        (
            place,
            _Toml(str(place), keys, said)
            if servers.toml
            else _Json(str(place), servers.comments, [Member(keys, said)]),
        )
    ]
    if hooks is not None:
        place = scope.place(hooks.project, hooks.user)
        wanted = entries.listed(name, client, calling)
        found.append((place, _Json(str(place), hooks.comments, wanted)))
    return found


def install(wanted: Sequence[tuple[Path, Format]], record: Sequence[Done]) -> list[Change]:
    """Plan what is to be written so that all stands where it should."""
    return [_installed(path, form, _known(path, record)) for path, form in wanted]


def uninstall(wanted: Sequence[tuple[Path, Format]], record: Sequence[Done]) -> list[Change]:
    """Plan how everything becomes what it was."""
    return [_uninstalled(path, form, _known(path, record)) for path, form in wanted]


def _installed(path: Path, form: Format, known: Done | None) -> Change:
    before = read(path)
    if before is not None and form.holds(before):
        return Change(path, before, before, known)
    # What was not put there by an installation that is known of is somebody's own: it comes back.
    base = Change(path, before, before) if known is None else _uninstalled(path, form, known)
    created = base.after is None
    changed = form.with_(base.after or "")
    done = Done(
        str(path),
        _hash(changed.text),
        created,
        changed.edits,
        changed.made,
        base.folders or _missing(path),
    )
    return Change(path, before, changed.text, done)


def _uninstalled(path: Path, form: Format, known: Done | None) -> Change:
    before = read(path)
    folders = () if known is None else known.folders
    if before is None:
        return Change(path, None, None, folders=folders)
    if known is not None and _hash(before) == known.hash:
        after = None if known.created else undone(before, known.edits)
        return Change(path, before, after, folders=folders)
    left = form.without(before, () if known is None else known.made)
    if known is not None and known.created and left != before and form.is_bare(left):
        return Change(path, before, None, folders=folders)
    return Change(path, before, left, folders=folders)


def _known(path: Path, record: Sequence[Done]) -> Done | None:
    return next((one for one in record if one.path == str(path)), None)


def _missing(path: Path) -> tuple[str, ...]:
    """Name the folders that are to be made for a file, the outermost first."""
    above = [str(folder) for folder in path.parents if not folder.exists()]
    return tuple(reversed(above))


def _hash(text: str) -> str:
    return hashing.text_hash(text).hex()


# --- disk ----------------------------------------------------------------------------------------


def read(path: Path) -> str | None:
    """Read a file as it is to the byte; None: it is not there."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no UTF-8 text ({error}); nothing was written") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; nothing was written") from error


def carry_out(changes: Sequence[Change]) -> None:
    """Write all files, each whole or not at all."""
    for change in changes:
        if not change.needed:
            continue
        if change.after is None:
            change.path.unlink(missing_ok=True)
            for folder in reversed(change.folders):
                _drop(Path(folder))
        else:
            write(change.path, change.after)


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all; a link stays a link, and rights stay as they are."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.quire-new")
    try:
        beside.write_bytes(text.encode())
        if target.exists():
            beside.chmod(target.stat().st_mode)
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written: {error.strerror}") from error


def load_record(file: Path) -> Record:
    """Read what was done before; what cannot be read was not."""
    try:
        told = json.loads(file.read_bytes())
        clients = {name: tuple(map(_done, files)) for name, files in told["clients"].items()}
        return Record(clients, tuple(told["folders"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Record()


def _done(told: Mapping[str, Any]) -> Done:
    return Done(
        told["path"],
        told["hash"],
        told["created"],
        tuple(Edit(**edit) for edit in told["edits"]),
        tuple(tuple(keys) for keys in told["made"]),
        tuple(told["folders"]),
    )


def keep_record(file: Path, before: Record, client: str, done: Sequence[Done]) -> None:
    """Keep what was done for a client; if nothing is for any, forget it with its folders."""
    clients = {**before.clients, client: tuple(done)}
    record = Record(
        {name: clients[name] for name in sorted(clients) if clients[name]},
        before.folders or _missing(file),
    )
    if record.clients:
        write(file, json.dumps(asdict(record), indent=1) + "\n")
        return
    file.unlink(missing_ok=True)
    for folder in reversed(record.folders):
        _drop(Path(folder))


def _drop(folder: Path) -> None:
    """Delete a folder if it is empty."""
    try:
        folder.rmdir()
    except OSError:  # it is not, or it is gone
        return
