"""How does a project's past become part of a store?

The newest commits are brought in, in batches that are each whole or absent; what is gone (by a
rebase, an amended commit, a lower limit) is taken out; files get the time of the last commit that
touched them. Whatever came before, the store holds in the end what it would hold if it were made
anew. Interrupted, it goes on from there the next time; as long as nothing moves, git is asked one
short question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from quire.core import hashing
from quire.core.protocols import Store, View
from quire.core.types import (
    ALL,
    OWN_TIME,
    OWNER,
    Document,
    IngestSettings,
    Progress,
    Skipped,
    Stamp,
)
from quire.ingest import VERSION, commits, git

BATCH_COMMITS = 500
BATCH_CHARACTERS = 2_000_000
COMMITS = "commits"
"""The note that tells which commits the store holds: of which state of a repository, how many."""
TIMES = "file_times"
"""The note that keeps when each file was last touched, and by the history of which commit."""

Report = Callable[[Progress], None]


@dataclass(slots=True)
class Past:
    """What was found in a project's history."""

    times: Mapping[str, int] = field(default_factory=dict)
    """When the last commit touched each file, in seconds since 1970."""
    commits: int = 0
    """How many commits are new."""
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def follow(
    store: Store, space: str, root: Path, *, settings: IngestSettings, report: Report
) -> Past:
    """Bring the store up to date with the history of the repository that a directory is in."""
    past = Past()
    try:
        found = _repository(root, settings, past)
        past.times = _follow_times(store, space, found, settings)
        _follow_commits(store, space, found, settings=settings, report=report, past=past)
    except git.NoHistoryError as error:
        # What is in the store stays: nobody said that it is gone.
        past.times = past.times or _Times.held(store, space).now
        past.notes.append(f"no git history: {error}")
    return past


def held(store: Store, space: str) -> tuple[str, int] | None:
    """Tell up to which commit, and how many, the store holds."""
    told = json.loads(store.note(COMMITS, space) or "{}")
    return (told["head"], told["commits"]) if told.get("head") else None


def _repository(root: Path, settings: IngestSettings, past: Past) -> git.Repository | None:
    if not settings.history:
        return None
    try:
        found = git.find_repository(root)
    except git.NoCommitError as error:
        past.notes.append(f"no git history: {error}")
        return None
    if found is not None and found.boundary:
        past.notes.append(
            f"the clone is shallow: what the {len(found.boundary)} commits at its edge changed is "
            "not known, so they are left out (`git fetch --unshallow` brings the rest)"
        )
    if found is not None and found.detached:
        past.notes.append(f"HEAD is detached: the history of {found.head[:10]} is indexed")
    return found


# --- when was a file touched? ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Times:
    """When files were last touched, and of which history that holds."""

    head: str = ""
    view: str = ""
    """Names what else of a repository decides: the directory, the edge of a shallow clone."""
    now: Mapping[str, int] = field(default_factory=dict)
    gone: Mapping[str, int] = field(default_factory=dict)
    """Files that the newest commit does not hold; one that comes back was touched before."""

    @classmethod
    def held(cls, store: Store, space: str) -> _Times:
        kept = store.note(TIMES, space)
        return cls(**json.loads(kept)) if kept else cls()

    def written(self) -> str:
        return json.dumps(
            {"head": self.head, "view": self.view, "now": self.now, "gone": self.gone},
            ensure_ascii=False,
            separators=(",", ":"),
        )


def _follow_times(
    store: Store, space: str, found: git.Repository | None, settings: IngestSettings
) -> Mapping[str, int]:
    known = _Times.held(store, space)
    fresh = _times_of(found, known)
    if fresh is known:
        return known.now
    moved = [
        path
        for path in sorted(known.now.keys() | fresh.now.keys())
        if known.now.get(path) != fresh.now.get(path)
    ]
    stamps = store.stamps(space)
    for batch in _parts([stamps[path] for path in moved if path in stamps]):
        _date(store, space, batch, fresh.now, settings)
    with store.write(space) as writer:
        writer.set_note(TIMES, fresh.written())
    return fresh.now


def _times_of(found: git.Repository | None, known: _Times) -> _Times:
    if found is None:
        return _Times() if known.head else known
    view = hashing.identifier("view", found.folder, tuple(sorted(found.boundary)))
    if (known.head, known.view) == (found.head, view):
        return known
    touched: dict[str, int] = {}
    since = None
    if known.view == view and git.is_ancestor(found, known.head):
        touched, since = {**known.now, **known.gone}, known.head
    # The latest time, whatever the order: so it does not matter which commits were seen before.
    for time, paths in git.list_changes(found, since):
        for path in paths:
            touched[path] = max(time, touched.get(path, time))
    now = {path: touched.pop(path) for path in git.list_files(found) if path in touched}
    return _Times(found.head, view, now, touched)


def _date(
    store: Store,
    space: str,
    batch: Sequence[Stamp],
    times: Mapping[str, int],
    settings: IngestSettings,
) -> None:
    """Give files their times anew; none of them is read for that."""
    with store.write(space) as writer:
        for stamp in batch:
            if stamp.digest.endswith(OWN_TIME):
                continue
            if settings.use_mtime and stamp.path not in times:
                writer.stamp([replace(stamp, mtime=-1)])  # the disk's time holds: look at it again
            else:
                writer.set_modified({stamp.record_id: times.get(stamp.path)})


# --- what was committed? -----------------------------------------------------------------------


def _follow_commits(
    store: Store,
    space: str,
    found: git.Repository | None,
    *,
    settings: IngestSettings,
    report: Report,
    past: Past,
) -> None:
    cut = hashing.identifier("commit", VERSION, settings.whole, settings.target, settings.secrets)[
        :8
    ]
    state = (
        "" if found is None else hashing.identifier("commits", found.state, settings.history, cut)
    )
    if json.loads(store.note(COMMITS, space) or "{}").get("state", "") == state:
        return
    known = store.stamps(space, commits.FOLDER)
    limit = None if settings.history == ALL else settings.history
    shas = [] if found is None else list(git.list_commits(found, limit))
    if len(shas) == limit and not known:
        past.notes.append(
            f"of git's history the newest {limit} commits are kept; "
            "`--history all`, or [ingest] history, keeps more"
        )
    bringing = _Bringing(store, space, known, settings=settings, cut=cut, past=past)
    report(Progress("history", 0, len(shas)))
    for at in range(0, len(shas), BATCH_COMMITS):
        part = shas[at : at + BATCH_COMMITS]
        assert found is not None, "commits come from a repository"
        bringing.bring(found, part)
        report(Progress("history", at + len(part), len(shas)))
    for batch in _parts([known[path] for path in sorted(known.keys() - bringing.there)]):
        with store.write(space) as writer:
            writer.remove(stamp.record_id for stamp in batch)
            writer.unstamp(stamp.path for stamp in batch)
    told = {"state": state, "head": found and found.head, "commits": len(bringing.there)}
    with store.write(space) as writer:
        writer.set_note(COMMITS, json.dumps(told))


class _Bringing:
    """Brings commits in, newest first: only so is it known what became of a file's name."""

    def __init__(
        self,
        store: Store,
        space: str,
        known: Mapping[str, Stamp],
        *,
        settings: IngestSettings,
        cut: str,
        past: Past,
    ) -> None:
        self._store, self._space, self._known = store, space, known
        self._settings, self._cut, self._past = settings, cut, past
        self._names = commits.RenameTracker()
        self.there: set[str] = set()
        """The paths of all commits that are in the store now."""

    def bring(self, found: git.Repository, shas: Sequence[str]) -> None:
        """Bring in those of some commits that are new or were linked otherwise."""
        with self._store.view(OWNER, self._space) as view:
            for batch in _batches(self._documents(view, found, shas)):
                with self._store.write(self._space) as writer:
                    for document, stamp in batch:
                        writer.put(
                            document.record, document.chunks, document.links, document.outline
                        )
                        writer.stamp([stamp])

    def _documents(
        self, view: View, found: git.Repository, shas: Sequence[str]
    ) -> Iterator[tuple[Document, Stamp]]:
        paths = map(commits.commit_path, shas)
        stamps = (self._known[path] for path in paths if path in self._known)
        usable = [stamp.record_id for stamp in stamps if stamp.digest.startswith(self._cut)]
        kept = {record.path: record for record in view.records(usable)}
        fresh = [sha for sha in shas if commits.commit_path(sha) not in kept]
        with closing(git.read_commits(found, fresh)) as read:
            for sha in shas:
                record = kept.get(commits.commit_path(sha))
                commit = None
                if record is None:
                    commit = next(read, None)
                    if commit is None:
                        raise git.NoHistoryError(f"git told nothing of commit {sha}")
                    record = commits.build_record(commit)
                record, links = self._names.link_files(record)
                linked = hashing.identifier("links", tuple(link.target for link in links))
                stamp = Stamp(record.path, 0, 0, f"{self._cut}{linked}", record.id)
                if commit is not None:
                    document = commits.build_document(record, commit, self._settings)
                    if isinstance(document, Skipped):
                        self._past.skipped.append(document)
                        continue
                    self._past.commits += record.path not in self._known
                    yield replace(document, links=links), stamp
                elif stamp != self._known[record.path]:
                    outline = view.outlines([record.id]).get(record.id)
                    yield Document(record, tuple(view.chunks_of(record.id)), links, outline), stamp
                self.there.add(record.path)


def _batches(
    documents: Iterator[tuple[Document, Stamp]],
) -> Iterator[list[tuple[Document, Stamp]]]:
    batch: list[tuple[Document, Stamp]] = []
    size = 0
    for document, stamp in documents:
        batch.append((document, stamp))
        size += document.chunks[-1].end + sum(map(len, document.record.paths))
        if size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _parts(stamps: Sequence[Stamp]) -> Iterator[Sequence[Stamp]]:
    for at in range(0, len(stamps), BATCH_COMMITS):
        yield stamps[at : at + BATCH_COMMITS]
