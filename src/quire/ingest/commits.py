"""What does a commit say, and what does it touch?

A commit is kept like a document: its text is the message and the names of its files. Its author is
a name without an address: who wrote something helps a reader, how to reach them does not. Links
lead to the files that it touched, under the names that they have today.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from quire.core import hashing
from quire.core.types import Document, IngestSettings, Link, Record, Skipped
from quire.ingest import secrets, text
from quire.ingest.entities import build_outline
from quire.ingest.formats import compute_record_id
from quire.ingest.git import Change, Commit
from quire.ingest.read import chunks_of
from quire.ingest.types import SourceFile, clean_title

KIND = "commit"
FOLDER = ".git/commit"
"""Commits stand where no file can: a walk never enters `.git`."""
TOUCHES = "touches"
RENAMED = "renamed"
"""The attribute with what a commit moved, from where to where."""
TODAY = "today"
"""The attribute with names that its files only got later."""
FILES_NAMED = 50
"""So many files are named in a commit's text, and the others counted."""
FILES_LINKED = 200
"""A commit that touches more (a new licence header) says little about each of them."""


def path_of(sha: str) -> str:
    """Give the path under which a commit is kept."""
    return f"{FOLDER}/{sha}"


def record_of(commit: Commit) -> Record:
    """Make the record of a commit; all paths are in it, because they decide who may read it."""
    path = path_of(commit.sha)
    renamed = [[change.old, change.path] for change in commit.changes if change.old is not None]
    paths = {change.path for change in commit.changes} | {old for old, _ in renamed if old}
    return Record(
        id=hashing.record_id(KIND, path),
        kind=KIND,
        path=path,
        title=_subject(commit),
        modified=commit.time,
        author=commit.author.strip() or None,
        attrs={
            "sha": commit.sha,
            "parents": commit.parents,
            "files": len(commit.changes),
            "insertions": sum(change.insertions for change in commit.changes),
            "deletions": sum(change.deletions for change in commit.changes),
            **({RENAMED: json.dumps(renamed, ensure_ascii=False)} if renamed else {}),
        },
        paths=tuple(sorted(paths)),
    )


def document_of(record: Record, commit: Commit, settings: IngestSettings) -> Document | Skipped:
    """Make the text of a commit's record, its chunks and its outline; the links come later."""
    message = commit.message.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not settings.secrets and (reason := secrets.in_text(message)):
        return Skipped(record.path, reason)
    parts = [message or record.title, _files(commit.changes)]
    whole = "\n\n".join(part for part in parts if part) + "\n"
    reading = text.read(SourceFile(whole, b"", "text"), settings)
    first, *rest = reading.spans
    reading = replace(
        reading,
        # The first piece begins with the title as it is.
        spans=(first, *(replace(span, title=record.title) for span in rest)),
        root_kind=KIND,
        summary=message.partition("\n")[2],
        line_map=(),
    )
    return Document(record, chunks_of(record, reading), (), build_outline(record, reading))


class Names:
    """Under which name does a file go on today? Asked of one commit after another, newest first."""

    def __init__(self) -> None:
        self._today: dict[str, str] = {}

    def follow(self, record: Record) -> tuple[Record, tuple[Link, ...]]:
        """Link a commit with its files as they are called today; its own renames are kept in mind.

        The record tells of these names too: who may not read a file where it stands today gets no
        hint of that place from an older commit.
        """
        moved = dict(json.loads(str(record.attrs.get(RENAMED, "[]"))))
        later = set(json.loads(str(record.attrs.get(TODAY, "[]"))))
        touched = [path for path in record.paths if path not in later]
        today = {old: self._today.get(new, new) for old, new in moved.items()}
        targets = {
            today.get(path) or self._today.get(path, path) for path in touched[:FILES_LINKED]
        }
        for path in moved.values():
            self._today.pop(path, None)  # before this commit another file may have had the name
        self._today |= today
        attrs = {name: value for name, value in record.attrs.items() if name != TODAY}
        if later := targets.difference(touched):
            attrs[TODAY] = json.dumps(sorted(later), ensure_ascii=False)
        ids = {compute_record_id(path) for path in targets}
        return (
            replace(record, attrs=attrs, paths=tuple(sorted({*touched, *targets}))),
            tuple(Link(record.id, target, TOUCHES) for target in sorted(ids)),
        )


def _subject(commit: Commit) -> str:
    lines = (line for line in commit.message.splitlines() if line.strip())
    return clean_title(next(lines, "")) or f"Commit {commit.sha[:10]} without a message"


def _files(changes: Iterable[Change]) -> str:
    names = [
        change.path if change.old is None else f"{change.old} -> {change.path}"
        for change in changes
    ]
    more = [f"and {len(names) - FILES_NAMED} more"] if len(names) > FILES_NAMED else []
    return "\n".join([*names[:FILES_NAMED], *more])
