"""How does a directory become part of a store?

Walk, read what changed, write it in batches that are each whole or absent, take out what is gone;
then give vectors to whatever has none. Each step can be interrupted anywhere: what was written
stays, and the next run goes on from there.
"""

from __future__ import annotations

import os
import time
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
from quire.ingest import VERSION, compute_digest, missing_grammars, read, walk

BATCH_CHARACTERS = 2_000_000
BATCH_FILES = 500
VECTORS_PER_COMMIT = 64
FRESH = 2_000_000_000
"""A file changed so few nanoseconds ago may change again without its time telling."""

RULES = frozenset({".gitignore", ".quireignore", "quire.toml"})
"""Files that decide over others: when one changes, everything is looked at."""
TICK = 1000
"""Milliseconds after which a watch must have begun."""
Report = Callable[[Progress], None]
NO_TIMES: Mapping[str, int] = MappingProxyType({})


@dataclass(slots=True)
class Tally:
    """What became of the files so far."""

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: list[Skipped] = field(default_factory=list)


def notes_on_grammars() -> list[str]:
    """Tell which languages are read by their lines alone, because an extra is not installed."""
    missing = ", ".join(missing_grammars())
    told = (
        f"no grammar for {missing}: such code is read by its lines, without entities "
        "(the extra `code` has the grammars)"
    )
    return [told] if missing else []


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

    What is there but cannot be read at the moment stays in the store as it was last read.
    `times` tells when files were modified that do not say so themselves.
    """
    tally = Tally()
    known = {path: stamp for part in under for path, stamp in _stamps(store, space, part).items()}
    seen: set[str] = set()
    changed = _changed(
        walk(root, under, settings), known, seen, tally, settings=settings, times=times
    )
    for batch in _batches(changed):
        _write(store, space, batch, known)
        paths = tuple(stamp.path for _, stamp in batch)
        report(Progress("read", tally.indexed + tally.unchanged, paths=paths))
    lost = set(_lost(known, seen, root, tally.skipped))
    gone = [stamp for path, stamp in known.items() if path in lost]
    with store.write(space) as writer:
        tally.removed = writer.remove(stamp.record_id for stamp in gone)
        writer.unstamp(stamp.path for stamp in gone)
    report(Progress("read", tally.indexed + tally.unchanged))
    return tally


def _stamps(store: Store, space: str, under: str = "") -> dict[str, Stamp]:
    """Tell what files looked like; what stands under `.git` is not found by walking."""
    return {
        path: stamp
        for path, stamp in store.stamps(space, under).items()
        if not is_under(path, ".git")
    }


def stale(store: Store, space: str, root: Path, settings: IngestSettings) -> dict[str, int]:
    """Count the files that are new, changed or gone since they were indexed."""
    known, cut = _stamps(store, space), _cut_by(settings)
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
            elif not stamp.digest.startswith(cut):
                counts["changed"] += 1
            elif (stamp.size, stamp.mtime) != (file.size, file.mtime):
                counts["changed"] += f"{cut}{compute_digest(file)}" != _digest(stamp)
    counts["gone"] = sum(1 for _ in _lost(known, seen, root, skipped))
    return counts


def changes(root: Path, under: Sequence[str]) -> Iterator[list[Path]]:
    """Wait for files to change; gives the paths to index again.

    At first it gives them all: what changed before the watch had begun is not told otherwise.
    """
    from watchfiles import DefaultFilter, watch

    class Watched(DefaultFilter):
        ignore_dirs = (".git", ".quire", ".hg", ".svn")
        ignore_entity_patterns = (r"-(wal|shm|journal)$",)

    everything, wanted = [root / part for part in under], Watched()
    while True:
        begun = False
        try:
            for met in watch(
                *everything, watch_filter=None, yield_on_timeout=True, rust_timeout=TICK
            ):
                paths = sorted({Path(path) for change, path in met if wanted(change, path)})
                if not begun or any(path.name in RULES for path in paths):
                    yield everything
                elif paths:
                    yield paths
                begun = True
        except RuntimeError as error:
            # A name that is not UTF-8 ends a watch: then another one begins.
            if "decode path" not in str(error):
                raise InputError(f"{root} cannot be watched: {error}") from error


def embed_missing(store: Store, space: str, embedder: Embedder, report: Report) -> int:
    """Give a vector to every text that has none; gives how many were made."""
    held = store.model(space)
    if held is not None and held != embedder.model:
        raise StoreError(
            f"the store holds vectors of {held}, the configured model is {embedder.model}; "
            "embed everything anew with `quire index --reembed`, or set [embed] back"
        )
    missing = sum(len(batch) for batch in store.missing_vectors(space))
    done = 0
    for batch in store.missing_vectors(space):
        for at in range(0, len(batch), VECTORS_PER_COMMIT):
            part = batch[at : at + VECTORS_PER_COMMIT]
            made = embedder.embed([text for _, text in part])
            with store.write(space) as writer:
                keys = (key for key, _ in part)
                writer.put_vectors(embedder.model, dict(zip(keys, made, strict=True)))
            done += len(part)
            report(Progress("embed", done, missing))
    return done


def _changed(
    met: Iterable[FileEntry | Skipped],
    known: dict[str, Stamp],
    seen: set[str],
    tally: Tally,
    *,
    settings: IngestSettings,
    times: Mapping[str, int],
) -> Iterator[tuple[Document | None, Stamp]]:
    """Read the files that are not as they were; None: only the time has changed."""
    cut = _cut_by(settings)
    for file in met:
        if isinstance(file, Skipped):
            tally.skipped.append(file)
            continue
        stamp = known.get(file.path)
        if stamp is not None and not (stamp.size == file.size and stamp.digest.startswith(cut)):
            stamp = None
        if stamp is not None and stamp.mtime == file.mtime:
            seen.add(file.path)
            tally.unchanged += 1
            continue
        now = time.time_ns()
        mtime = file.mtime if file.mtime < now - FRESH else -1
        same_time = not settings.use_mtime  # else a file with another time is another file
        if stamp is not None and same_time and f"{cut}{compute_digest(file)}" == _digest(stamp):
            seen.add(file.path)
            tally.unchanged += 1
            if mtime != stamp.mtime:
                yield None, replace(stamp, mtime=mtime)
            continue
        found = read(file, settings)
        if isinstance(found, Skipped):
            tally.skipped.append(found)
            continue
        document, digest = found
        own_time = "" if document.record.modified is None else OWN_TIME
        if not own_time:
            from_disk = file.mtime // 1_000_000_000 if settings.use_mtime else None
            record = replace(document.record, modified=times.get(file.path, from_disk))
            document = replace(document, record=record)
        seen.add(file.path)
        tally.indexed += 1
        digest = f"{cut}{digest}{own_time}"
        yield document, Stamp(file.path, file.size, mtime, digest, document.record.id)


def _digest(stamp: Stamp) -> str:
    return stamp.digest.removesuffix(OWN_TIME)


def _lost(
    known: Iterable[str], seen: set[str], root: Path, skipped: Iterable[Skipped]
) -> Iterator[str]:
    """Name the files that are gone, ignored or of another nature now, not those to wait for."""
    waiting = {one.path for one in skipped if one.is_temporary and os.path.lexists(root / one.path)}
    for path in known:
        above = accumulate(path.split("/"), "{}/{}".format)
        if path not in seen and waiting.isdisjoint(above):
            yield path


def _cut_by(settings: IngestSettings) -> str:
    """Name what decides how a file is read; each stamp begins with the name that held for it."""
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


def _batches(
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


def _write(
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
