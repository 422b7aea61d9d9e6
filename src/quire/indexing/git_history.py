"""The git history of a project in a store: commits as records, and the times of files.

The newest commits are written in batches, each as a whole or not at all; commits that are gone (by
a rebase, an amended commit, a lower limit) are removed; files get the time of the last commit that
changed them. Whatever came before, the store ends up as if it had been built from scratch. An
interrupted run continues the next time; while nothing changes, git is asked one short question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from quire.core import hashing, stored_json
from quire.core.protocols import Store, View, Writer
from quire.core.types import (
    ALL,
    OWN_TIME,
    Document,
    IngestSettings,
    Link,
    Progress,
    Record,
    Redaction,
    Skipped,
    Stamp,
)
from quire.indexing.progress import Report
from quire.ingest import VERSION, commits, git
from quire.ingest.redact import redact_path
from quire.ingest.types import UnreadableFile
from quire.system import retry

BATCH_COMMITS = 500
BATCH_CHARACTERS = 2_000_000
COMMITS_NOTE = "commits"
"""The note that says which commits the store holds: of which state of a repository, how many."""
BRANCH_NOTE = "branch"
"""The note with the branch that was checked out when the directory was last indexed."""
_SHA = re.compile("[0-9a-f]{40,64}")
TIMES_NOTE = "file_times"
"""The note with the time of the last change to each file, and the commit up to which it holds."""


@dataclass(slots=True)
class HistoryResult:
    """What an update found in a project's history."""

    times: Mapping[str, int] = field(default_factory=dict)
    """When the last commit changed each file, in seconds since 1970."""
    commits: int = 0
    """How many commits are new."""
    skipped: list[Skipped] = field(default_factory=list)
    redacted: list[Redaction] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def update_history(
    store: Store, space: str, root: Path, *, settings: IngestSettings, report: Report
) -> HistoryResult:
    """Bring the store up to date with the history of the repository that a directory is in."""
    result = HistoryResult()
    try:
        repository = _open_repository(root, settings, result)
        _note_branch(store, space, repository, settings)
        result.times = _update_times(store, space, repository, settings)
        _update_commits(store, space, repository, settings=settings, report=report, result=result)
    except git.NoHistoryError as error:
        # The store keeps what it has: nothing says that it is gone.
        result.times = result.times or _FileTimes.load(store, space).now
        result.notes.append(f"no git history: {error}")
    return result


def get_indexed(store: Store, space: str) -> tuple[str, int] | None:
    """Return the newest commit in the store and how many it holds; None if it holds none."""
    note = stored_json.read_object(store.note(COMMITS_NOTE, space))
    match note.get("head"), note.get("commits"):
        case str(head), int(commits) if _SHA.fullmatch(head):
            return head, commits
    return None


def known_times(store: Store, space: str) -> Mapping[str, int]:
    """Return when files were last changed, as the last update found."""
    return _FileTimes.load(store, space).now


def get_branch(store: Store, space: str) -> str | None:
    """Return the branch that was last indexed; None without one, or without a repository."""
    return store.note(BRANCH_NOTE, space) or None


def _note_branch(
    store: Store, space: str, repository: git.Repository | None, settings: IngestSettings
) -> None:
    branch = "" if repository is None else redact_path(repository.branch, settings)[0]
    if branch != (store.note(BRANCH_NOTE, space) or ""):
        retry.write(store, space, lambda writer: writer.set_note(BRANCH_NOTE, branch))


def _open_repository(
    root: Path, settings: IngestSettings, result: HistoryResult
) -> git.Repository | None:
    if not settings.history:
        return None
    try:
        repository = git.find_repository(root)
    except git.NoCommitError as error:
        result.notes.append(f"no git history: {error}")
        return None
    if repository is not None and repository.boundary:
        result.notes.append(
            f"the clone is shallow: the {len(repository.boundary)} commits at its edge are left "
            "out, since what they changed is not known (`git fetch --unshallow` fetches the rest)"
        )
    if repository is not None and repository.detached:
        result.notes.append(f"HEAD is detached: the history of {repository.head[:10]} is indexed")
    return repository


# --- times of files ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _FileTimes:
    """When files were last changed, and for which history that holds; stored as JSON."""

    head: str = ""
    view: str = ""
    """The hash of what else decides: the directory, the edge of a shallow clone."""
    now: Mapping[str, int] = field(default_factory=dict)
    gone: Mapping[str, int] = field(default_factory=dict)
    """Files that the newest commit does not hold; one that comes back keeps its earlier time."""

    @classmethod
    def load(cls, store: Store, space: str) -> _FileTimes:
        match stored_json.read_object(store.note(TIMES_NOTE, space)):
            case {"head": str(head), "view": str(view), "now": dict(now), "gone": dict(gone)}:
                if _SHA.fullmatch(head) and all(map(_is_time, (*now.items(), *gone.items()))):
                    return cls(head, view, now, gone)
        return cls()

    def to_json(self) -> str:
        return json.dumps(
            {"head": self.head, "view": self.view, "now": self.now, "gone": self.gone},
            ensure_ascii=False,
            separators=(",", ":"),
        )


def _is_time(item: tuple[object, object]) -> bool:
    """Tell whether an entry of a note is a file with a time."""
    path, time = item
    return stored_json.is_text(path) and isinstance(time, int) and 0 <= time <= git.MAX_TIME


def _update_times(
    store: Store, space: str, repository: git.Repository | None, settings: IngestSettings
) -> Mapping[str, int]:
    old = _FileTimes.load(store, space)
    new = _compute_times(repository, old)
    if new is old:
        return old.now
    changed = [
        path
        for path in sorted(old.now.keys() | new.now.keys())
        if old.now.get(path) != new.now.get(path)
    ]
    stamps = store.stamps(space)
    for batch in _split_batches([stamps[path] for path in changed if path in stamps]):
        _write_times(store, space, batch, new.now, settings)
    retry.write(store, space, lambda writer: writer.set_note(TIMES_NOTE, new.to_json()))
    return new.now


def _compute_times(repository: git.Repository | None, old: _FileTimes) -> _FileTimes:
    if repository is None:
        return _FileTimes() if old.head else old
    view = hashing.identifier("view", repository.folder, tuple(sorted(repository.boundary)))
    if (old.head, old.view) == (repository.head, view):
        return old
    times: dict[str, int] = {}
    since = None
    if old.view == view and git.is_ancestor(repository, old.head):
        times, since = {**old.now, **old.gone}, old.head
    # The latest time, whatever the order: so it does not matter which commits were seen before.
    for time, paths in git.list_changes(repository, since):
        for path in paths:
            times[path] = max(time, times.get(path, time))
    now = {path: times.pop(path) for path in git.list_files(repository) if path in times}
    return _FileTimes(repository.head, view, now, times)


def _write_times(
    store: Store,
    space: str,
    batch: Sequence[Stamp],
    times: Mapping[str, int],
    settings: IngestSettings,
) -> None:
    """Set the times of files without reading them."""

    def write(writer: Writer) -> None:
        for stamp in batch:
            if stamp.digest.endswith(OWN_TIME):
                continue
            if settings.use_mtime and stamp.path not in times:
                writer.stamp([replace(stamp, mtime=-1)])  # the disk's time counts: look at it again
            else:
                writer.set_modified({stamp.record_id: times.get(stamp.path)})

    retry.write(store, space, write)


# --- commits -----------------------------------------------------------------------------------


def _update_commits(
    store: Store,
    space: str,
    repository: git.Repository | None,
    *,
    settings: IngestSettings,
    report: Report,
    result: HistoryResult,
) -> None:
    prefix = _settings_prefix(settings)
    state = ""
    if repository is not None:
        state = hashing.identifier("commits", repository.state, settings.history, prefix)
    if stored_json.read_object(store.note(COMMITS_NOTE, space)).get("state", "") == state:
        return
    known = store.stamps(space, commits.FOLDER)
    limit = None if settings.history == ALL else settings.history
    shas = [] if repository is None else list(git.list_commits(repository, limit))
    if len(shas) == limit and not known:
        result.notes.append(
            f"the newest {limit} commits are kept; `--history all`, or [ingest] history, keeps more"
        )
    commit_writer = _CommitWriter(
        store, space, known, settings=settings, prefix=prefix, result=result
    )
    report(Progress("history", 0, len(shas)))
    for at in range(0, len(shas), BATCH_COMMITS):
        part = shas[at : at + BATCH_COMMITS]
        assert repository is not None, "commits come from a repository"
        commit_writer.write(repository, part)
        report(Progress("history", at + len(part), len(shas)))
    removed = sorted(known.keys() - commit_writer.paths)
    if limit is not None and len(known) > limit:
        result.notes.append(
            f"commits before the newest {limit} were removed: {len(removed)} (--history, or "
            "[ingest] history, keeps more)"
        )
    for batch in _split_batches([known[path] for path in removed]):
        retry.write(store, space, partial(_remove, stamps=batch))
    note = {
        "state": state,
        "head": repository and repository.head,
        "commits": len(commit_writer.paths),
    }
    retry.write(store, space, lambda writer: writer.set_note(COMMITS_NOTE, json.dumps(note)))


def _remove(writer: Writer, stamps: Sequence[Stamp]) -> None:
    writer.remove(stamp.record_id for stamp in stamps)
    writer.unstamp(stamp.path for stamp in stamps)


def _settings_prefix(settings: IngestSettings) -> str:
    """Return the hash of what decides how a commit is read; each stamp begins with it."""
    parts = (VERSION, settings.whole, settings.target, settings.secrets, settings.allow_secrets)
    return hashing.identifier("commit", *parts)[:8]


def _put(writer: Writer, documents: Sequence[tuple[Document, Stamp]]) -> None:
    for document, stamp in documents:
        writer.put(document.record, document.chunks, document.links, document.outline)
        writer.stamp([stamp])


class _CommitWriter:
    """Writes commits, newest first: only in that order are renames of files known."""

    def __init__(
        self,
        store: Store,
        space: str,
        known: Mapping[str, Stamp],
        *,
        settings: IngestSettings,
        prefix: str,
        result: HistoryResult,
    ) -> None:
        self._store, self._space, self._known = store, space, known
        self._settings, self._prefix, self._result = settings, prefix, result
        self._renames = commits.RenameTracker()
        self.paths: set[str] = set()
        """The paths of all commits that are in the store now."""

    def write(self, repository: git.Repository, shas: Sequence[str]) -> None:
        """Write those of some commits that are new, or whose links have changed."""
        for batch in _make_batches(self._documents(repository, shas)):
            retry.write(self._store, self._space, partial(_put, documents=batch))

    def _documents(
        self, repository: git.Repository, shas: Sequence[str]
    ) -> Iterator[tuple[Document, Stamp]]:
        paths = map(commits.commit_path, shas)
        stamps = (self._known[path] for path in paths if path in self._known)
        usable = [stamp.record_id for stamp in stamps if stamp.digest.startswith(self._prefix)]
        found = retry.read(self._store, self._space, lambda view: view.records(usable))
        stored = {record.path: record for record in found}
        missing = [sha for sha in shas if commits.commit_path(sha) not in stored]
        with closing(git.read_commits(repository, missing)) as stream:
            for sha in shas:
                record = stored.get(commits.commit_path(sha))
                commit = None
                if record is None:
                    commit = next(stream, None)
                    if commit is None:
                        raise git.NoHistoryError(f"git returned nothing for commit {sha}")
                    try:
                        commit, redacted = commits.redact_message(commit, self._settings)
                    except UnreadableFile as reason:
                        path = commits.commit_path(sha)
                        self._result.skipped.append(Skipped(path, str(reason)))
                        continue
                    self._result.redacted += redacted
                    record = commits.build_record(commit)
                record, links = self._renames.link_files(record)
                targets = hashing.identifier("links", tuple(link.target for link in links))
                stamp = Stamp(record.path, 0, 0, f"{self._prefix}{targets}", record.id)
                if commit is not None:
                    document = commits.build_document(record, commit, self._settings)
                    self._result.commits += record.path not in self._known
                    yield replace(document, links=links), stamp
                elif stamp != self._known[record.path]:
                    load = partial(_load, record=record, links=links)
                    yield retry.read(self._store, self._space, load), stamp
                self.paths.add(record.path)


def _load(view: View, record: Record, links: tuple[Link, ...]) -> Document:
    """Return a commit as it is stored, with other links."""
    outline = view.outlines([record.id]).get(record.id)
    return Document(record, tuple(view.chunks_of(record.id)), links, outline)


def _make_batches(
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


def _split_batches(stamps: Sequence[Stamp]) -> Iterator[Sequence[Stamp]]:
    for at in range(0, len(stamps), BATCH_COMMITS):
        yield stamps[at : at + BATCH_COMMITS]
