"""The files of a directory in a store.

Walk, read what changed, write it in batches (each as a whole or not at all), remove what is gone;
then embed whatever has no vector. Each step may be interrupted anywhere: what was written stays,
and the next run continues from there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

from quire.core import hashing
from quire.core.paths import is_under
from quire.core.protocols import Embedder, Store
from quire.core.types import OWN_TIME, Document, FileEntry, IngestSettings, Progress, Skipped, Stamp
from quire.errors import InputError, StoreError
from quire.ingest import VERSION, close_readers, compute_digest, missing_grammars, read, walk
from quire.system.clock import now_ns

BATCH_CHARACTERS = 2_000_000
BATCH_FILES = 500
VECTORS_PER_COMMIT = 64
FRESH_NANOSECONDS = 2_000_000_000
"""A file that was changed this recently may change again without another mtime."""

CONTROL_FILES = frozenset({".gitignore", ".quireignore", "quire.toml"})
"""Files that affect others: when one changes, everything is indexed again."""
WATCH_TIMEOUT = 1000
"""Milliseconds after which a watch has surely started."""
Report = Callable[[Progress], None]
NO_TIMES: Mapping[str, int] = MappingProxyType({})


@dataclass(slots=True)
class Tally:
    """What became of the files so far."""

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: list[Skipped] = field(default_factory=list)


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
    seen: set[str] = set()
    changed = _read_changed(
        walk(root, under, settings), known, seen, tally, settings=settings, times=times
    )
    try:
        for batch in _make_batches(changed):
            _write_batch(store, space, batch, known)
            paths = tuple(stamp.path for _, stamp in batch)
            report(Progress("read", tally.indexed + tally.unchanged, paths=paths))
    finally:
        close_readers()
    paths_removed = set(_find_removed(known, seen, root, tally.skipped))
    removed = [stamp for path, stamp in known.items() if path in paths_removed]
    with store.write(space) as writer:
        tally.removed = writer.remove(stamp.record_id for stamp in removed)
        writer.unstamp(stamp.path for stamp in removed)
    report(Progress("read", tally.indexed + tally.unchanged))
    return tally


def _read_stamps(store: Store, space: str, under: str = "") -> dict[str, Stamp]:
    """Return the stamps of files; those under `.git` are of commits."""
    return {
        path: stamp
        for path, stamp in store.stamps(space, under).items()
        if not is_under(path, ".git")
    }


def count_stale(store: Store, space: str, root: Path, settings: IngestSettings) -> dict[str, int]:
    """Count the files that are new, changed or gone since they were indexed."""
    known, prefix = _read_stamps(store, space), _settings_prefix(settings)
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


def embed_missing(store: Store, space: str, embedder: Embedder, report: Report) -> int:
    """Embed every text without a vector; return how many were embedded."""
    stored = store.model(space)
    if stored is not None and stored != embedder.model:
        raise StoreError(
            f"the store holds vectors of {stored}, but the configured model is {embedder.model}",
            hint="embed everything again with `quire index --reembed`, or set [embed] back",
        )
    done, before = 0, set[str]()
    # Until none is missing: else a text that was written meanwhile would have a vector exactly if
    # others hold the same one.
    while (missing := _missing_keys(store, space)) - before:
        before, total = missing, done + len(missing)
        for batch in store.missing_vectors(space):
            for at in range(0, len(batch), VECTORS_PER_COMMIT):
                part = batch[at : at + VECTORS_PER_COMMIT]
                vectors = embedder.embed([text for _, text in part])
                with store.write(space) as writer:
                    keys = (key for key, _ in part)
                    writer.put_vectors(embedder.model, dict(zip(keys, vectors, strict=True)))
                done += len(part)
                report(Progress("embed", done, total))
    return done


def _missing_keys(store: Store, space: str) -> set[str]:
    return {key for batch in store.missing_vectors(space) for key, _ in batch}


def _read_changed(
    files: Iterable[FileEntry | Skipped],
    known: dict[str, Stamp],
    seen: set[str],
    tally: Tally,
    *,
    settings: IngestSettings,
    times: Mapping[str, int],
) -> Iterator[tuple[Document | None, Stamp]]:
    """Read the files that have changed; None for a document: only its time has changed."""
    prefix = _settings_prefix(settings)
    for file in files:
        if isinstance(file, Skipped):
            tally.skipped.append(file)
            continue
        stamp = known.get(file.path)
        if stamp is not None and not (stamp.size == file.size and stamp.digest.startswith(prefix)):
            stamp = None
        if stamp is not None and stamp.mtime == file.mtime:
            seen.add(file.path)
            tally.unchanged += 1
            continue
        now = now_ns()
        mtime = file.mtime if file.mtime < now - FRESH_NANOSECONDS else -1
        ignores_time = not settings.use_mtime  # else a file with another time has changed
        if (
            stamp is not None
            and ignores_time
            and f"{prefix}{compute_digest(file)}" == _content_digest(stamp)
        ):
            seen.add(file.path)
            tally.unchanged += 1
            if mtime != stamp.mtime:
                yield None, replace(stamp, mtime=mtime)
            continue
        content = read(file, settings)
        if isinstance(content, Skipped):
            tally.skipped.append(content)
            continue
        document, digest = content
        own_time = "" if document.record.modified is None else OWN_TIME
        if not own_time:
            from_disk = file.mtime // 1_000_000_000 if settings.use_mtime else None
            record = replace(document.record, modified=times.get(file.path, from_disk))
            document = replace(document, record=record)
        seen.add(file.path)
        tally.indexed += 1
        digest = f"{prefix}{digest}{own_time}"
        yield document, Stamp(file.path, file.size, mtime, digest, document.record.id)


def _content_digest(stamp: Stamp) -> str:
    return stamp.digest.removesuffix(OWN_TIME)


def _find_removed(
    known: Iterable[str], seen: set[str], root: Path, skipped: Iterable[Skipped]
) -> Iterator[str]:
    """Yield the files that are deleted, ignored or unsupported now; not those to wait for."""
    waiting = {
        skip.path for skip in skipped if skip.is_temporary and os.path.lexists(root / skip.path)
    }
    for path in known:
        prefixes = accumulate(path.split("/"), "{}/{}".format)
        if path not in seen and waiting.isdisjoint(prefixes):
            yield path


def _settings_prefix(settings: IngestSettings) -> str:
    """Return the hash of what decides how a file is read; each stamp begins with it."""
    return hashing.identifier(
        "ingest",
        VERSION,
        missing_grammars(),
        settings.whole,
        settings.paragraph,
        settings.target,
        settings.join,
        settings.code_max,
        settings.use_mtime,
        settings.secrets,
    )[:8]


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
) -> None:
    with store.write(space) as writer:
        for document, stamp in batch:
            old = known.get(stamp.path)
            if old is not None and old.record_id != stamp.record_id:
                writer.remove([old.record_id])  # the same file is now read as another kind
            if document is not None:
                writer.put(document.record, document.chunks, document.links, document.outline)
            writer.stamp([stamp])
