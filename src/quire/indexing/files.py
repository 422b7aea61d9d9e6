"""The files of a directory in a store.

Walk, read what changed, write it in batches (each as a whole or not at all), remove what is gone;
then embed whatever has no vector. Each step may be interrupted anywhere: what was written stays,
and the next run continues from there.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

from quire.core.guard import OWN
from quire.core.paths import is_under
from quire.core.protocols import Store, Writer
from quire.core.types import (
    OWN_TIME,
    OWNER,
    Document,
    FileEntry,
    IngestSettings,
    Progress,
    Redaction,
    Skipped,
    Stamp,
)
from quire.errors import InputError, StoreError
from quire.indexing.progress import Report
from quire.indexing.workers import Content, Task, Workers
from quire.ingest import (
    close_readers,
    compute_digest,
    load,
    missing_grammars,
    read,
    settings_prefix,
    walk,
)
from quire.ingest.redact import redact_path
from quire.system import retry
from quire.system.clock import now_ns, seconds_passed

BATCH_CHARACTERS = 2_000_000
BATCH_FILES = 500
VECTORS_PER_COMMIT = 64
"""Texts that are embedded at once."""
MAX_PER_COMMIT = 1024
COMMIT_SECONDS = 1.0
FRESH_NANOSECONDS = 2_000_000_000
"""A file that was changed this recently may change again without another mtime."""

TAKEN = "a document was put under this path; `quire document delete` takes it away"
CONTROL_FILES = frozenset({".gitignore", ".quireignore", "quire.toml"})
"""Files that affect others: when one changes, everything is indexed again."""
WATCH_TIMEOUT = 1000
"""Milliseconds after which a watch has surely started."""
NO_TIMES: Mapping[str, int] = MappingProxyType({})


@dataclass(slots=True)
class Tally:
    """What became of the files so far."""

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    redacted: list[Redaction] = field(default_factory=list)
    chunks: int = 0
    """Of the files that were read."""

    def add(self, other: Tally) -> None:
        """Add what became of other files."""
        self.indexed += other.indexed
        self.unchanged += other.unchanged
        self.removed += other.removed
        self.skipped += other.skipped
        self.redacted += other.redacted
        self.chunks += other.chunks


def grammar_notes() -> list[str]:
    """Return a note on the languages whose grammars are not installed."""
    missing = ", ".join(missing_grammars())
    note = (
        f"no grammar for {missing}: such code is split by lines, without entities "
        "(the extra `code` installs the grammars)"
    )
    return [note] if missing else []


def index_files(
    store: Store,
    space: str,
    root: Path,
    under: Sequence[str],
    *,
    settings: IngestSettings,
    report: Report,
    workers: Workers,
    times: Mapping[str, int] = NO_TIMES,
) -> Tally:
    """Bring the store up to date with the files below some paths of a directory.

    A file that exists but cannot be read at the moment stays in the store as it was last read.
    `times` are the times of files that do not state one themselves.
    """
    tally = Tally()
    known = {
        path: stamp for part in under for path, stamp in _read_stamps(store, space, part).items()
    }
    changes = _Changes(known, tally, settings, times)
    contents = workers.read(changes.tasks(walk(root, under, settings)), settings)
    for batch in _make_batches(changes.documents(contents)):
        tally.skipped += _write_batch(store, space, batch, known, tally)
        paths = tuple(stamp.path for _, stamp in batch)
        tally.chunks += sum(len(document.chunks) for document, _ in batch if document)
        done = tally.indexed + tally.unchanged
        report(Progress("read", done, paths=paths, chunks=tally.chunks, workers=workers.count))
    tally.skipped.sort(key=lambda skip: (skip.path, skip.reason))  # workers run ahead of each other
    tally.redacted.sort(key=lambda redaction: (redaction.path, redaction.line))
    paths_removed = set(_find_removed(known, changes.seen, root, tally.skipped))
    removed = [stamp for path, stamp in known.items() if path in paths_removed]

    def remove(writer: Writer) -> int:
        count = writer.remove(stamp.record_id for stamp in removed)
        writer.unstamp(stamp.path for stamp in removed)
        return count

    tally.removed = retry.write(store, space, remove)
    report(Progress("read", tally.indexed + tally.unchanged))
    return tally


def _read_stamps(store: Store, space: str, under: str = "") -> dict[str, Stamp]:
    """Return the stamps of files; others are of commits, imported files and sources."""
    return {
        path: stamp
        for path, stamp in store.stamps(space, under).items()
        if not is_under(path, ".git") and not is_under(path, ".quire")
    }


def count_stale(store: Store, space: str, root: Path, settings: IngestSettings) -> dict[str, int]:
    """Count the files that are new, changed or gone since they were indexed."""
    known, prefix = _read_stamps(store, space), settings_prefix(settings)
    counts = {"new": 0, "changed": 0, "gone": 0}
    seen: set[str] = set()
    skipped: list[Skipped] = []
    for file in walk(root, ("",), settings):
        if isinstance(file, Skipped):
            skipped.append(file)
        else:
            seen.add(file.path)
            stamp = known.get(file.path)
            if stamp is None:
                counts["new"] += not isinstance(read(file, settings), Skipped)
            elif not stamp.digest.startswith(prefix):
                counts["changed"] += 1
            elif (stamp.size, stamp.mtime) != (file.size, file.mtime):
                counts["changed"] += f"{prefix}{compute_digest(file)}" != _content_digest(stamp)
    close_readers()
    counts["gone"] = sum(1 for _ in _find_removed(known, seen, root, skipped))
    return counts


def explain_missing(root: Path, path: str, settings: IngestSettings) -> str:
    """Return why a file is not in the store; empty if nothing speaks against it."""
    if not os.path.lexists(root / path):
        return ""
    try:
        named = {path, redact_path(path, settings)[0]}
        entry = next(
            (entry for entry in walk(root, (path,), settings) if entry.path in named), None
        )
        if isinstance(entry, FileEntry):
            content = read(entry, settings)
            return content.reason if isinstance(content, Skipped) else "not indexed yet"
    finally:
        close_readers()
    return "ignored, or a folder" if entry is None else entry.reason


def watch_changes(root: Path, under: Sequence[str]) -> Iterator[list[Path]]:
    """Yield the paths to index again whenever files change.

    The first time it yields them all, for changes before the watch had started are not reported.
    """
    from watchfiles import DefaultFilter, watch

    class Watched(DefaultFilter):
        ignore_dirs = (".git", ".quire", ".hg", ".svn")
        ignore_entity_patterns = (r"-(wal|shm|journal)$",)

    everything, wanted = [root / part for part in under], Watched()
    while True:
        started = False
        try:
            for events in watch(
                *everything, watch_filter=None, yield_on_timeout=True, rust_timeout=WATCH_TIMEOUT
            ):
                paths = sorted({Path(path) for change, path in events if wanted(change, path)})
                if not started or any(path.name in CONTROL_FILES for path in paths):
                    yield everything
                elif paths:
                    yield paths
                started = True
        except RuntimeError as error:
            # A name that is not UTF-8 ends a watch: start another one.
            if "decode path" not in str(error):
                raise InputError(f"{root} cannot be watched: {error}", value=str(root)) from error


def embed_missing(store: Store, space: str, model: str, workers: Workers, report: Report) -> int:
    """Embed every text without a vector; return how many were embedded."""

    def write(vectors: Mapping[str, bytes]) -> bool:
        retry.write(store, space, partial(_put_vectors, model=model, vectors=vectors))
        return True

    stored = store.model(space)
    if stored is not None and stored != model:
        own = model.startswith(f"{OWN}:")  # the command line does not know it
        way = "`q.index(reembed=True)`" if own else "`quire index --reembed`"
        raise StoreError(
            f"the store holds vectors of {stored}, but the configured model is {model}",
            hint=f"embed everything again with {way}, or set [embed] back",
        )
    missing = partial(store.missing_vectors, space)
    return _embed_all(missing, model, workers, write, report)


def embed_waiting(
    store: Store,
    space: str,
    model: str,
    workers: Workers,
    report: Report,
    *,
    wanted: Callable[[], bool],
) -> int:
    """Make the vectors that will replace all others; return how many were embedded.

    `wanted` tells whether they are still to be made: another process may have finished them.
    """

    def write(vectors: Mapping[str, bytes]) -> bool:
        def change(writer: Writer) -> bool:
            if not wanted():
                return False
            writer.put_waiting_vectors(model, vectors)
            return True

        return retry.write(store, space, change)

    missing = partial(store.missing_vectors, space, model)
    return _embed_all(missing, model, workers, write, report)


def _embed_all(
    missing_vectors: Callable[[], Iterator[list[tuple[str, str]]]],
    model: str,
    workers: Workers,
    write: Callable[[Mapping[str, bytes]], bool],
    report: Report,
) -> int:
    done, before = 0, set[str]()
    # Until none is missing: else a text that was written meanwhile would have a vector exactly if
    # others hold the same one.
    while (missing := {key for batch in missing_vectors() for key, _ in batch}) - before:
        before, total = missing, done + len(missing)
        report(Progress("embed", done, total, chunks=done, workers=workers.count))
        for vectors in _embed_batches(missing_vectors, model, workers):
            if not write(vectors):
                return done
            done += len(vectors)
            report(Progress("embed", done, total, chunks=done, workers=workers.count))
    return done


def _put_vectors(writer: Writer, *, model: str, vectors: Mapping[str, bytes]) -> None:
    writer.put_vectors(model, vectors)


def _embed_batches(
    missing_vectors: Callable[[], Iterator[list[tuple[str, str]]]], model: str, workers: Workers
) -> Iterator[dict[str, bytes]]:
    """Yield the vectors of texts that have none: a few each time, more with a fast model.

    A commit costs about as much for many vectors as for a few; but what is lost when a run is
    ended should never be the work of more than some seconds.
    """
    vectors: dict[str, bytes] = {}
    since = seconds_passed()
    keys: deque[list[str]] = deque()  # of the batches that are under way

    def texts() -> Iterator[list[str]]:
        for batch in missing_vectors():
            for at in range(0, len(batch), VECTORS_PER_COMMIT):
                part = batch[at : at + VECTORS_PER_COMMIT]
                keys.append([key for key, _ in part])
                yield [text for _, text in part]

    for made in workers.embed(texts(), model):
        vectors |= zip(keys.popleft(), made, strict=True)
        if len(vectors) >= MAX_PER_COMMIT or seconds_passed() - since >= COMMIT_SECONDS:
            yield vectors
            vectors, since = {}, seconds_passed()
    if vectors:
        yield vectors


class _Changes:
    """The files of a walk that are not as they were indexed."""

    def __init__(
        self,
        known: Mapping[str, Stamp],
        tally: Tally,
        settings: IngestSettings,
        times: Mapping[str, int],
    ) -> None:
        self.seen: set[str] = set()
        """The paths of files that are in the store, or will be."""
        self._known, self._tally, self._settings, self._times = known, tally, settings, times
        self._prefix = settings_prefix(settings)
        self._mtimes: dict[str, int] = {}
        self._touched: list[Stamp] = []

    def tasks(self, files: Iterable[FileEntry | Skipped]) -> Iterator[Task]:
        """Yield the files that must be read, with their bytes."""
        for file in files:
            if isinstance(file, Skipped):
                self._tally.skipped.append(file)
                continue
            mtime = file.mtime if file.mtime < now_ns() - FRESH_NANOSECONDS else -1
            stamp = self._known.get(file.path)
            if stamp is not None and self._is_same(file, stamp):
                self.seen.add(file.path)
                self._tally.unchanged += 1
                if stamp.mtime not in {file.mtime, mtime}:
                    self._touched.append(replace(stamp, mtime=mtime))
                continue
            data = load(file, self._settings)
            if isinstance(data, Skipped):
                self._tally.skipped.append(data)
                continue
            self._mtimes[file.path] = mtime
            yield Task(file, data)

    def documents(
        self, contents: Iterable[tuple[FileEntry, Content]]
    ) -> Iterator[tuple[Document | None, Stamp]]:
        """Yield what was read, then the stamps of files of which only the time has changed."""
        for file, content in contents:
            mtime = self._mtimes.pop(file.path)
            if isinstance(content, Skipped):
                self._tally.skipped.append(content)
                continue
            document, digest = content
            self._tally.redacted += document.redacted
            own_time = "" if document.record.modified is None else OWN_TIME
            if not own_time:
                from_disk = file.mtime // 1_000_000_000 if self._settings.use_mtime else None
                modified = self._times.get(file.path, from_disk)
                document = replace(document, record=replace(document.record, modified=modified))
            self.seen.add(file.path)
            self._tally.indexed += 1
            digest = f"{self._prefix}{digest}{own_time}"
            yield document, Stamp(file.path, file.size, mtime, digest, document.record.id)
        for stamp in self._touched:
            yield None, stamp

    def _is_same(self, file: FileEntry, stamp: Stamp) -> bool:
        """Tell whether a file is as its stamp says: by its size and its time, or by its bytes."""
        if stamp.size != file.size or not stamp.digest.startswith(self._prefix):
            return False
        if stamp.mtime == file.mtime:
            return True
        if self._settings.use_mtime:
            return False  # a file with another time has changed
        return f"{self._prefix}{compute_digest(file)}" == _content_digest(stamp)


def _content_digest(stamp: Stamp) -> str:
    return stamp.digest.removesuffix(OWN_TIME)


def _find_removed(
    known: Iterable[str], seen: set[str], root: Path, skipped: Iterable[Skipped]
) -> Iterator[str]:
    """Return the files that are deleted, ignored or unsupported now; not those to wait for."""
    waiting = {
        skip.path for skip in skipped if skip.is_temporary and os.path.lexists(root / skip.path)
    }
    return find_missing(known, seen, waiting)


def find_missing(known: Iterable[str], seen: Collection[str], waiting: set[str]) -> Iterator[str]:
    """Yield the paths that were not seen, unless they or a folder above them are waited for."""
    for path in known:
        prefixes = accumulate(path.split("/"), "{}/{}".format)
        if path not in seen and waiting.isdisjoint(prefixes):
            yield path


def _make_batches(
    documents: Iterable[tuple[Document | None, Stamp]],
) -> Iterator[list[tuple[Document | None, Stamp]]]:
    batch: list[tuple[Document | None, Stamp]] = []
    size = 0
    for document, stamp in documents:
        batch.append((document, stamp))
        size += document.chunks[-1].end if document and document.chunks else 0
        if size >= BATCH_CHARACTERS or len(batch) >= BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _write_batch(
    store: Store,
    space: str,
    batch: list[tuple[Document | None, Stamp]],
    known: dict[str, Stamp],
    tally: Tally,
) -> list[Skipped]:
    """Write a batch of files; return those whose paths documents have that were put."""
    ids = [stamp.record_id for _, stamp in batch if stamp.path not in known]

    def write(writer: Writer) -> set[str]:
        with store.view(OWNER, space) as view:
            put = {record.id for record in view.records(ids) if record.origin}
        for document, stamp in batch:
            if stamp.record_id in put:
                continue
            old = known.get(stamp.path)
            if old is not None and old.record_id != stamp.record_id:
                writer.remove([old.record_id])  # the same file is now read as another kind
            if document is not None:
                writer.put(document.record, document.chunks, document.links, document.outline)
            writer.stamp([stamp])
        return put

    put = retry.write(store, space, write)
    taken = [Skipped(stamp.path, TAKEN) for _, stamp in batch if stamp.record_id in put]
    tally.indexed -= len(taken)
    return taken
