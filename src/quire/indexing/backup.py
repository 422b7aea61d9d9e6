"""Backups: the whole store in one file, which is itself a store.

A store in a file is copied page by page as of one moment, while others write. One on a server is
read space by space, each in one transaction, and written to a file. Beside the backup lies its
checksum, in the form that `sha256sum -c` reads.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from quire.config import Config
from quire.core import servers
from quire.core.protocols import Store
from quire.core.types import Progress, Roots
from quire.errors import (
    InputError,
    NoStoreError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
)
from quire.indexing.copy_store import CopiedSpace, copy_store, readable_spaces
from quire.indexing.progress import Report
from quire.store import SqliteStore, end_log, open_store, settle
from quire.system import platform

CHECKSUM = ".sha256"
"""The end of the name of the file with the checksum of a backup."""
TEMPORARY = ".quire-new"
LOGS = ("-wal", "-shm")
MAX_PROBLEMS = 3


@dataclass(frozen=True, slots=True)
class SavedSpace:
    """A space in a backup."""

    space: str
    records: int
    chunks: int
    vectors: int
    roots: Roots


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was written or restored."""

    file: str
    bytes: int
    sha256: str
    spaces: tuple[SavedSpace, ...]
    notes: tuple[str, ...] = ()


def backup(
    settings: Config, file: Path, spaces: Sequence[str] = (), *, force: bool, report: Report
) -> Backup:
    """Write the store of a project to a file, with its checksum beside it.

    Args:
        settings: The settings of the project.
        file: The file to write.
        spaces: The names of the spaces; none: all of them.
        force: Whether an older backup of that name is replaced.
        report: Called with each step.
    """
    if servers.is_sharded(file.name):
        raise InputError(
            f"a backup is one file, and the name of {file} is that of a store in shards",
            value=str(file),
            hint="name a file, such as NAME.db, or copy the store with `quire copy`",
        )
    if not file.parent.is_dir():
        raise InputError(
            f"{file.parent} is not a directory", value=str(file.parent), hint="create it first"
        )
    if not force:
        for path in (file, _checksum_file(file)):
            if path.exists():
                raise InputError(f"{path} already exists", hint="name another, or add {force}")
    if not settings.server and file.exists() and file.samefile(settings.store):
        raise InputError(f"{file} is the store itself", hint="name another file")
    temporary = _temporary(file)
    try:
        with closing(open_store(settings.location, create=False)) as store:
            _write(store, temporary, spaces, report)
        with closing(open_store(temporary, create=False)) as written:
            saved = _saved_spaces(written)
        settle(temporary)
        digest = _sha256(temporary)
        platform.replace_file(_checksum_file(file), f"{digest}  {file.name}\n".encode())
        temporary.replace(file)
    finally:
        _remove(temporary)
    return Backup(str(file), file.stat().st_size, digest, saved)


def restore(
    settings: Config, file: Path, spaces: Sequence[str] = (), *, force: bool, report: Report
) -> Backup:
    """Put a backup in the place of the store of a project, after all of it was checked.

    Args:
        settings: The settings of the project.
        file: The backup.
        spaces: The names of the spaces that are made equal to it; none: all of it replaces a file.
        force: Whether a store that exists is replaced.
        report: Called with each step.

    Raises:
        InputError: There is no such backup, or the store exists and `force` is not set.
        StoreDamagedError: The backup is not as it was written.
        StoreBusyError: Another process has the store open.
    """
    if file.is_dir():
        raise InputError(
            f"{file} is a folder, and a backup is one file",
            value=str(file),
            hint="name the file that `quire backup` wrote, or copy a store with `quire copy`",
        )
    if not file.is_file():
        raise InputError(
            f"no backup at {file}",
            value=str(file),
            hint="name the file that `quire backup` wrote",
        )
    digest, notes = _compare_checksum(file)
    if settings.server or spaces or servers.is_sharded(settings.store.name):
        with tempfile.TemporaryDirectory(prefix="quire-restore-") as folder:
            temporary = Path(folder, file.name)
            saved = _checked_copy(file, temporary, report)
            copied = copy_to(temporary, settings.location, spaces, force=force, report=report)
        names = {each.space for each in copied}
        saved = tuple(each for each in saved if each.space in names)
    else:
        saved = _restore_file(settings.store, file, force=force, report=report)
    return Backup(str(file), file.stat().st_size, digest, saved, notes)


def copy_to(
    source: Path | str,
    target: Path | str,
    spaces: Sequence[str] = (),
    *,
    force: bool,
    report: Report,
) -> list[CopiedSpace]:
    """Copy spaces, or all, from one place to another; see `copy_store`."""
    if _name(source) == _name(target):
        raise InputError("source and target are the same store", value=_name(source))
    with closing(_open(source, create=False)) as read:
        readable_spaces(read, spaces)  # before the target is created
        with closing(_open(target, create=True)) as written:
            return copy_store(read, written, spaces, force=force, report=report)


def _open(place: Path | str, *, create: bool) -> Store:
    """Open one of the two stores of a copy, which no option names."""
    try:
        return open_store(place, create=create)
    except NoStoreError as error:
        error.hint = "name the place of a store that there is"
        raise
    except StoreError as error:
        error.hint = error.hint.replace(" with {store}", "")
        raise


def _name(place: Path | str) -> str:
    return str(place.resolve()) if isinstance(place, Path) else servers.public_name(place)


def _write(store: Store, path: Path, spaces: Sequence[str], report: Report) -> None:
    """Write a store to a new file."""
    _remove(path)  # of a process that was killed
    if isinstance(store, SqliteStore) and not spaces:
        store.backup(path, lambda done, total: report(Progress("backup", done, total)))
        return
    with closing(open_store(path)) as target:
        copy_store(store, target, spaces, report=report)
    end_log(path)


def _restore_file(
    store: Path, file: Path, *, force: bool, report: Report
) -> tuple[SavedSpace, ...]:
    if store.exists() and file.samefile(store):
        raise InputError(f"{file} is the store itself", hint="name a backup")
    if store.exists() and not force:
        raise InputError(
            f"{store} already exists", hint="move it away, or replace it by the backup with {force}"
        )
    temporary = _temporary(store)
    try:
        platform.make_private_folder(store.parent)
        spaces = _checked_copy(file, temporary, report)
        if store.exists() and not end_log(store):
            raise StoreBusyError(
                "another process has this store open",
                place=str(store),
                hint="end it (`quire serve`, `quire watch`, MCP servers), then run this again",
            )
        for end in LOGS:  # of a store that could not be opened any more
            Path(f"{store}{end}").unlink(missing_ok=True)
        temporary.replace(store)
    finally:
        _remove(temporary)
    return spaces


def _checked_copy(file: Path, temporary: Path, report: Report) -> tuple[SavedSpace, ...]:
    """Copy a backup, which stays as it is, and check the copy: pages, content, roots."""
    _remove(temporary)
    platform.create_private(temporary)
    shutil.copyfile(file, temporary)
    report(Progress("check", 0))
    try:
        with closing(open_store(temporary, create=False)) as store:
            problems = [problem.detail for problem in store.check()]
            spaces = () if problems else _saved_spaces(store)
    except StoreDamagedError as error:
        problems = [error.message]
    except StoreFullError:
        raise
    except StoreError as error:
        error.place = str(file)  # the copy is none of the user's
        raise
    if problems:
        raise StoreDamagedError(
            f"the backup is not as it was written: {'; '.join(problems[:MAX_PROBLEMS])}",
            place=str(file),
            hint="nothing was changed; restore another backup",
        )
    end_log(temporary)
    return spaces


def _saved_spaces(store: Store) -> tuple[SavedSpace, ...]:
    spaces = []
    for name in store.spaces():
        with store.export(name) as export:
            count, records = export.count(), sum(1 for _ in export.places())
            roots = export.roots()
        spaces.append(SavedSpace(name, records, count.chunks, count.vectors, roots))
    return tuple(spaces)


def _compare_checksum(file: Path) -> tuple[str, tuple[str, ...]]:
    """Return the checksum of a backup, and notes; refuse one that is not as it was written."""
    digest = _sha256(file)
    beside = _checksum_file(file)
    if not beside.is_file():
        return digest, (f"there is no {beside.name} beside it: only its content was checked",)
    wanted = beside.read_text("ascii", errors="replace").split()[:1]
    if wanted != [digest]:
        raise StoreDamagedError(
            f"its checksum is not the one in {beside.name}",
            place=str(file),
            hint="nothing was changed; restore another backup, or delete that file to let the "
            "content alone decide",
        )
    return digest, ()


def _sha256(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _checksum_file(file: Path) -> Path:
    return file.with_name(f"{file.name}{CHECKSUM}")


def _temporary(file: Path) -> Path:
    return file.with_name(f".{file.name}{TEMPORARY}")


def _remove(path: Path) -> None:
    for end in ("", *LOGS, "-journal"):
        Path(f"{path}{end}").unlink(missing_ok=True)
