"""What turned out to be useful, and to whom?

What someone says of a context is kept as a record of its own, without any text: which records were
useful to them, and which were not. It moves the ranking of whoever said it; of others only if it
was shared with them on purpose.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from quire.core import hashing
from quire.core.types import Document, Feedback, Record, Viewer

KIND = "feedback"
FOLDER = ".quire/feedback"
STEP = 250
"""What one opinion counts, in thousandths."""
MOST = 1000
SHORTEST = 6
"""So much of a piece's id is enough to name it."""


def new(
    useful: Sequence[str],
    useless: Sequence[str],
    receipt: str,
    *,
    at: int,
    author: str | None,
    acl: tuple[str, ...],
    shared: bool,
) -> Feedback:
    """Make an opinion, named by all that it says."""
    told = (tuple(sorted(set(useful))), tuple(sorted(set(useless))))
    name = hashing.identifier("feedback", *told, receipt, at, author, acl)
    return Feedback(name, *told, receipt, at, author, acl, shared)


def document(feedback: Feedback) -> Document:
    """Give the record that an opinion is kept as."""
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


def feedback_of(record: Record) -> Feedback:
    """Read an opinion back from what it is kept as."""
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
    """Tell how useful records were to a viewer, in thousandths, from -1000 to 1000."""
    counts: dict[str, int] = {}
    for feedback in map(feedback_of, records):
        # The owner reads all of it, but not all of it was meant for them.
        shared = feedback.shared and not viewer.principals.isdisjoint(feedback.acl)
        if not shared and feedback.author != author_of(viewer):
            continue
        for names, step in ((feedback.useful, STEP), (feedback.useless, -STEP)):
            for name in names:
                counts[name] = counts.get(name, 0) + step
    return {name: max(-MOST, min(MOST, count)) for name, count in sorted(counts.items()) if count}


def author_of(viewer: Viewer) -> str | None:
    """Name whoever asks as the author of what they write: None is the owner."""
    return None if viewer.owner else viewer.name


def named(
    given: Sequence[str], sources: Iterable[Mapping[str, str]]
) -> tuple[list[str], list[str]]:
    """Find whom ids or paths mean among a receipt's sources; gives records, and what is unknown."""
    listed = list(sources)
    found: list[str] = []
    unknown: list[str] = []
    for each in given:
        met = {
            source["record_id"]
            for source in listed
            if each in (source["record_id"], source["path"])
            or (len(each) >= SHORTEST and source["chunk_id"].startswith(each))
        }
        found += sorted(met)
        unknown += [] if met else [each]
    return found, unknown
