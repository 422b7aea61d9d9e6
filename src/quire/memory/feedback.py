"""Feedback: which records were useful, and to whom.

Feedback on a context is stored as a record of its own, without any text: which records were useful,
and which were not. It moves the ranking for its author; for others only if it was shared with them
on purpose.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from quire.core import hashing, stored_json
from quire.core.types import Document, Feedback, Record, Viewer

KIND = "feedback"
FOLDER = ".quire/feedback"
STEP = 250
"""What one vote counts, in thousandths."""
MAX_COUNT = 1000
MIN_ID_LENGTH = 6
"""A prefix of a chunk's id must be at least this long to match."""


def make_feedback(
    useful: Sequence[str],
    useless: Sequence[str],
    receipt: str,
    *,
    at: int,
    author: str | None,
    acl: tuple[str, ...],
    shared: bool,
) -> Feedback:
    """Return new feedback; its id is the hash of all its fields."""
    votes = (tuple(sorted(set(useful))), tuple(sorted(set(useless))))
    name = hashing.identifier("feedback", *votes, receipt, at, author, acl)
    return Feedback(name, *votes, receipt, at, author, acl, shared)


def to_document(feedback: Feedback) -> Document:
    """Return the record that feedback is stored as."""
    record = Record(
        id=feedback.id,
        kind=KIND,
        path=f"{FOLDER}/{feedback.id}",
        modified=feedback.at,
        author=feedback.author,
        acl=feedback.acl,
        attrs={
            "useful": json.dumps(feedback.useful),
            "useless": json.dumps(feedback.useless),
            "receipt": feedback.receipt,
            "shared": int(feedback.shared),
        },
    )
    return Document(record, ())


@stored_json.of_record
def from_record(record: Record) -> Feedback:
    """Return the feedback that a record stores."""
    attrs = record.attrs
    return Feedback(
        id=record.id,
        useful=tuple(json.loads(str(attrs["useful"]))),
        useless=tuple(json.loads(str(attrs["useless"]))),
        receipt=str(attrs["receipt"]),
        at=record.modified or 0,
        author=record.author,
        acl=record.acl or (),
        shared=bool(attrs["shared"]),
    )


def tally(records: Iterable[Record], viewer: Viewer) -> dict[str, int]:
    """Count how useful records were to a viewer, in thousandths, from -1000 to 1000."""
    counts: dict[str, int] = {}
    for feedback in map(from_record, records):
        # The owner reads all of it, but not all of it was meant for them.
        shared = feedback.shared and not viewer.principals.isdisjoint(feedback.acl)
        if not shared and feedback.author != author_of(viewer):
            continue
        for names, step in ((feedback.useful, STEP), (feedback.useless, -STEP)):
            for name in names:
                counts[name] = counts.get(name, 0) + step
    return {
        name: max(-MAX_COUNT, min(MAX_COUNT, count))
        for name, count in sorted(counts.items())
        if count
    }


def author_of(viewer: Viewer) -> str | None:
    """Return the author's name for what a viewer writes; None is the owner."""
    return None if viewer.owner else viewer.name


def match_sources(
    names: Sequence[str], sources: Iterable[Mapping[str, str]]
) -> tuple[list[str], list[str]]:
    """Match ids or paths with a receipt's sources; return record ids, and the names unmatched."""
    listed = list(sources)
    matched: list[str] = []
    unmatched: list[str] = []
    for name in names:
        ids = {
            source["record_id"]
            for source in listed
            if name in (source["record_id"], source["path"])
            or (len(name) >= MIN_ID_LENGTH and source["chunk_id"].startswith(name))
        }
        matched += sorted(ids)
        unmatched += [] if ids else [name]
    return matched, unmatched
