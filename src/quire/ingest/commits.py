"""Commits as records.

A commit is stored like a document: its text is the message and the names of its files. Its author
is a name without an address, which readers do not need. Its links lead to the files that it
changed, under their current names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace

from quire.core import hashing, stored_json
from quire.core.languages import with_language_of
from quire.core.types import Document, IngestSettings, Link, Record, Redaction
from quire.ingest.entities import build_outline
from quire.ingest.formats import compute_record_id
from quire.ingest.git import Change, Commit
from quire.ingest.read import build_chunks
from quire.ingest.redact import redact, redact_path
from quire.ingest.types import SourceFile, clean_title

KIND = "commit"
FOLDER = ".git/commit"
"""The folder of commits, where no file can be: a walk never enters `.git`."""
TOUCHES = "touches"
RENAMED = "renamed"
"""Attribute: the renames of a commit, as (old, new)."""
LATER_NAMES = "today"
"""Attribute: the current names of files that were renamed after the commit."""
MAX_FILES_LISTED = 50
"""Files that are listed in a commit's text; the others are counted."""
MAX_FILES_LINKED = 200
"""A commit that changes more files (a new licence header) says little about each of them."""


def commit_path(sha: str) -> str:
    """Return the path of a commit's record."""
    return f"{FOLDER}/{sha}"


def redact_message(
    commit: Commit, settings: IngestSettings
) -> tuple[Commit, tuple[Redaction, ...]]:
    """Return a commit without the secrets of its message and names, and what was taken out.

    Raises:
        UnreadableFile: The message is a list of secrets.
    """
    redacted = redact(commit_path(commit.sha), commit.message, settings)
    changes = tuple(
        replace(
            change,
            path=redact_path(change.path, settings)[0],
            old=None if change.old is None else redact_path(change.old, settings)[0],
        )
        for change in commit.changes
    )
    author = redact(commit_path(commit.sha), commit.author, settings).text
    return replace(commit, message=redacted.text, changes=changes, author=author), redacted.found


_TRAILER = re.compile(r"^[A-Za-z][A-Za-z-]*-[a-z]+: .*$", re.MULTILINE)
"""`Co-authored-by: …`: its words and names say nothing about the language of a message."""


def build_record(commit: Commit) -> Record:
    """Build the record of a commit, with all paths, because they decide who may read it."""
    path = commit_path(commit.sha)
    renamed = [[change.old, change.path] for change in commit.changes if change.old is not None]
    paths = {change.path for change in commit.changes} | {old for old, _ in renamed if old}
    return Record(
        id=hashing.record_id(KIND, path),
        kind=KIND,
        path=path,
        title=_find_subject(commit),
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


def build_document(record: Record, commit: Commit, settings: IngestSettings) -> Document:
    """Build the chunks and the outline of a commit; the links are added later."""
    from quire.ingest import text  # late: it is needed for the first commit

    message = commit.message.replace("\r\n", "\n").replace("\r", "\n").strip()
    parts = [message or record.title, _list_files(commit.changes)]
    whole = "\n\n".join(part for part in parts if part) + "\n"
    parsed = text.read(SourceFile(whole, b"", "text"), settings)
    first, *rest = parsed.spans
    parsed = replace(
        parsed,
        # The first span needs no title: its text begins with it.
        spans=(first, *(replace(span, title=record.title) for span in rest)),
        root_kind=KIND,
        summary=message.partition("\n")[2],
        line_map=(),
    )
    return Document(
        with_language_of(record, _TRAILER.sub("", message)),
        build_chunks(record, parsed),
        (),
        build_outline(record, parsed),
    )


@stored_json.of_record
def _renames(record: Record) -> tuple[dict[str, str], set[str]]:
    """Return the renames of a commit, and the names that its files had later."""
    renames = dict(json.loads(str(record.attrs.get(RENAMED, "[]"))))
    return renames, set(json.loads(str(record.attrs.get(LATER_NAMES, "[]"))))


class RenameTracker:
    """The current names of files, for commits in order, newest first."""

    def __init__(self) -> None:
        self._current: dict[str, str] = {}

    def link_files(self, record: Record) -> tuple[Record, tuple[Link, ...]]:
        """Link a commit with its files under their current names, and remember its renames.

        The returned record has these names too, because they decide who may read it: an older
        commit must not reveal the current place of a file to a viewer who may not read it there.
        """
        renames, later = _renames(record)
        changed = [path for path in record.paths if path not in later]
        current = {old: self._current.get(new, new) for old, new in renames.items()}
        targets = {
            current.get(path) or self._current.get(path, path)
            for path in changed[:MAX_FILES_LINKED]
        }
        for path in renames.values():
            self._current.pop(path, None)  # before this commit another file may have had the name
        self._current |= current
        attrs = {name: value for name, value in record.attrs.items() if name != LATER_NAMES}
        if later := targets.difference(changed):
            attrs[LATER_NAMES] = json.dumps(sorted(later), ensure_ascii=False)
        ids = {compute_record_id(path) for path in targets}
        return (
            replace(record, attrs=attrs, paths=tuple(sorted({*changed, *targets}))),
            tuple(Link(record.id, target, TOUCHES) for target in sorted(ids)),
        )


def _find_subject(commit: Commit) -> str:
    lines = (line for line in commit.message.splitlines() if line.strip())
    return clean_title(next(lines, "")) or f"Commit {commit.sha[:10]} without a message"


def _list_files(changes: Iterable[Change]) -> str:
    names = [
        change.path if change.old is None else f"{change.old} -> {change.path}"
        for change in changes
    ]
    more = len(names) - MAX_FILES_LISTED
    return "\n".join([*names[:MAX_FILES_LISTED], *([f"and {more} more"] if more > 0 else [])])
