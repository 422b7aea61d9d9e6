"""Keep answers in step with the disk: compare the files that an answer quotes, read what changed.

Only quoted files are looked at: their status first, as an index does, and their bytes if the status
has changed. What changed is read again, words at once and vectors later, and the answer is made
again over the new text. How much is read for one answer is limited; what is over the limit, or may
not be read by whoever asks, is named as stale.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeVar

from quire.core.lru import LRUCache
from quire.core.paths import is_under
from quire.core.protocols import Store
from quire.core.types import OWN_TIME, FileEntry, Progress, Stamp
from quire.core.types.records import CHANGED, DELETED
from quire.errors import InputError, QuireError
from quire.indexing import files
from quire.indexing.git_history import known_times
from quire.indexing.imported_pages import ImportedFile, ImportedPages
from quire.indexing.project import Project
from quire.indexing.workers import InlineWorkers
from quire.ingest import compute_digest, walk
from quire.ingest.paths import resolve_paths
from quire.store import open_store
from quire.system import clock, events

Answer = TypeVar("Answer")
Stale = tuple[tuple[str, str], ...]
"""Files that are not as they were indexed, and what became of each."""

MAX_ROUNDS = 6
"""How often an answer is made: new text may bring in other files, which may have changed too."""
MAX_FILES = 32
"""Files that are read again for one answer."""
MAX_BYTES = 16 << 20
"""Bytes that are read again, and as many that are compared, for one answer."""
MAX_SECONDS = 1.0
"""After this time no further file is read for an answer; what the answer itself takes (a model that
is loaded first) does not count."""
MAX_NAMED_FILES = 500
"""Files that one call may name, by themselves or by their folders."""
MAX_REMEMBERED = 4096
VIRTUAL = (".git", ".quire")
"""Folders of records that are no files."""


@dataclass(slots=True)
class _Spent:
    """What was spent on one answer so far."""

    until: float
    files: int = 0
    read: int = 0
    compared: int = 0

    def may_read(self, path: Path) -> bool:
        """Count a file that is to be read; return whether that is within the limits."""
        self.files += 1
        with suppress(OSError):
            self.read += path.lstat().st_size
        is_over = self.files > MAX_FILES or self.read > MAX_BYTES
        return not is_over and clock.seconds_passed() <= self.until


class _State(NamedTuple):
    """What the system says of a file."""

    size: int = 0
    mtime: int = 0
    inode: int = 0
    is_file: bool = False

    @classmethod
    def of(cls, status: os.stat_result | None) -> _State:
        if status is None:
            return cls()
        is_file = stat.S_ISREG(status.st_mode)
        return cls(status.st_size, status.st_mtime_ns, status.st_ino, is_file)


class Freshness:
    """Compares the store of an open project with its files."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._unchanged: LRUCache[tuple[Path, str, str], _State] = LRUCache(MAX_REMEMBERED)
        """Files as they were when they had the size and the time of their stamps."""
        self._pages = ImportedPages(project)

    def answer(
        self,
        make: Callable[[Stale], Answer],
        quoted: Callable[[Answer], Iterable[str]],
        *,
        may_write: bool,
    ) -> Answer:
        """Return an answer whose sources are as on disk, or that says which are not.

        Args:
            make: Makes the answer, given the files that it has to call stale.
            quoted: Returns the paths of an answer's sources.
            may_write: Whether files may be read again.
        """
        spent = _Spent(clock.seconds_passed() + MAX_SECONDS)

        def make_timed(stale: Stale) -> Answer:
            before = clock.seconds_passed()
            made = make(stale)
            spent.until += clock.seconds_passed() - before
            return made

        stale: dict[str, str] = {}
        answer = make_timed(())
        root = self._project.root()
        for _ in range(MAX_ROUNDS):
            paths = set(quoted(answer)) - stale.keys()
            found = self._find_stale(root, paths, spent)
            imported = self._find_stale_pages(root, paths, spent)
            if not found and not imported:
                break
            read = self._read_changed(root, found, spent) if found and may_write else set()
            if imported and may_write:
                read |= self._import_changed(imported, spent)
            found |= {path: state for path, (_, state) in imported.items()}
            stale |= {path: found[path] for path in found if path not in read}
            answer = make_timed(tuple(sorted(stale.items())))
        return answer

    def read_again(self, paths: Sequence[str | os.PathLike[str]]) -> files.Tally:
        """Bring the store up to date with some files and folders, by words alone.

        Neither the git history nor any other file is looked at.
        """
        root = self._project.existing_root()
        under = resolve_paths(root, paths, must_exist=False)
        settings = self._project.ingest_settings(root)
        store, space = self._project.store, self._project.config.space
        known = sum(len(store.stamps(space, part)) for part in under)
        count = max(known, sum(1 for _ in walk(root, under, settings)))
        if count > MAX_NAMED_FILES:
            raise InputError(
                f"these are {count} files; at most {MAX_NAMED_FILES} are read at a time",
                field="paths",
                hint="name fewer, or run `quire index`",
            )
        tally = self._index(store, root, under)
        tally.add(self._pages.update(under, _ignore))
        return tally

    def _index(self, store: Store, root: Path, under: Sequence[str]) -> files.Tally:
        project = self._project
        space = project.config.space
        with closing(InlineWorkers(project.embedder)) as workers:
            return files.index_files(
                store,
                space,
                root,
                under,
                settings=project.ingest_settings(root),
                times=known_times(store, space),
                workers=workers,
                report=_ignore,
            )

    def _find_stale(self, root: Path, paths: Iterable[str], spent: _Spent) -> dict[str, str]:
        """Return those of some files that are not as they were indexed."""
        # Nothing can be compared with a directory that is gone, or that another store is about.
        if not root.is_dir() or not self._project.is_about(root):
            return {}
        found = {}
        for path in sorted(paths):
            if not _is_virtual(path):
                state = self._compare(root, path, spent)
                if state is not None:
                    found[path] = state
        return found

    def _find_stale_pages(
        self, root: Path, paths: Iterable[str], spent: _Spent
    ) -> dict[str, tuple[ImportedFile, str]]:
        """Return those of some records whose imported files are not as they were, and how."""
        if not root.is_dir() or not self._project.is_about(root):
            return {}
        states: dict[str, str | None] = {}
        found = {}
        for path, file in sorted(self._pages.find_files(paths).items()):
            name = f"{file.of.prefix}{file.path}"
            if _is_virtual(name):
                continue
            if name not in states:
                states[name] = self._compare(root, name, spent, file.stamp)
            state = states[name]
            if state is not None:
                found[path] = file, state
        return found

    def _import_changed(
        self, found: Mapping[str, tuple[ImportedFile, str]], spent: _Spent
    ) -> set[str]:
        """Import files again, if their folders are within the limits; return what is fresh now."""
        fresh: set[str] = set()
        sources = {file.of.source: file.of for file, _ in found.values()}
        try:
            for _, of in sorted(sources.items()):
                paths = {path: file for path, (file, _) in found.items() if file.of == of}
                count, size = self._pages.count_files(of)
                spent.read += size  # what a link means depends on all pages of a folder
                is_over = count > MAX_NAMED_FILES or spent.read > MAX_BYTES
                is_over = is_over or not self._pages.may_import(of)
                if is_over or clock.seconds_passed() > spent.until:
                    continue
                self._wait_for_turn()
                self._pages.import_touched(of, {file.path for file in paths.values()})
                fresh |= paths.keys()
        except (QuireError, OSError) as error:  # such as a store that cannot be written
            events.emit("refresh_failed", events.WARNING, error=type(error).__name__)
        return fresh

    def _wait_for_turn(self) -> None:
        """Wait for another writer, but not for long: somebody waits for the answer."""
        place = self._project.config.location
        with (
            closing(open_store(place, create=False, wait=MAX_SECONDS)) as store,
            store.write(self._project.config.space),
        ):
            pass

    def _compare(
        self, root: Path, path: str, spent: _Spent, stamp: Stamp | None = None
    ) -> str | None:
        """Return what became of a file since its stamp; None: nothing, or it cannot be told."""
        location, space = root / path, self._project.config.space
        try:
            status: os.stat_result | None = os.lstat(location)
        except (FileNotFoundError, NotADirectoryError):
            status = None
        except (OSError, ValueError):
            return None
        state = _State.of(status)
        if status is not None and self._unchanged.get((root, space, path)) == state:
            return None
        stamp = stamp or self._project.store.stamps(space, path).get(path)
        if stamp is None or status is None:
            return None if stamp is None else DELETED
        if (state.size, state.mtime) == (stamp.size, stamp.mtime) and state.is_file:
            self._unchanged.put((root, space, path), state)
            return None
        entry = FileEntry(path, str(location), state.size, state.mtime)
        return CHANGED if not state.is_file or _has_changed(entry, stamp, spent) else None

    def _read_changed(self, root: Path, found: Mapping[str, str], spent: _Spent) -> set[str]:
        """Read files again, as many as the limits allow; return those that are as on disk now."""
        read: set[str] = set()
        try:
            # One that does not wait long for another writer: somebody waits for the answer.
            config = self._project.config
            with closing(
                open_store(config.location, create=False, wait=MAX_SECONDS, vectors=config.vectors)
            ) as store:
                for path in sorted(found):
                    if not spent.may_read(root / path):
                        break
                    tally = self._index(store, root, [path])
                    if not any(skip.is_temporary for skip in tally.skipped):
                        read.add(path)
        except (QuireError, OSError) as error:  # such as a store that cannot be written
            events.emit("refresh_failed", events.WARNING, error=type(error).__name__)
        return read


def _has_changed(file: FileEntry, stamp: Stamp, spent: _Spent) -> bool:
    """Tell whether a file has other bytes than it had; not of one that cannot be read."""
    if file.size != stamp.size:
        return True
    spent.compared += file.size
    if spent.compared > MAX_BYTES:
        return True
    digest = compute_digest(file)
    return isinstance(digest, str) and not stamp.digest.removesuffix(OWN_TIME).endswith(digest)


def _is_virtual(path: str) -> bool:
    """Tell whether a path is none of a file below the root; a store may come from anybody."""
    pure = PurePosixPath(path)
    outside = pure.is_absolute() or ".." in pure.parts
    return outside or any(is_under(path, folder) for folder in VIRTUAL)


def _ignore(_: Progress) -> None:
    """Ignore progress reports."""
