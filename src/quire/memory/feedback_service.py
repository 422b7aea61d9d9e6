"""Feedback on contexts: which of their pieces helped, and which did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from quire import receipts
from quire.core.protocols import View
from quire.core.types import Feedback, Filter, Viewer, Written
from quire.errors import InputError
from quire.memory import feedback
from quire.memory.authoring import (
    Authoring,
    find_record,
    moment,
    put_documents,
    refuse_others,
    sign,
)
from quire.store.access import refuse_string

OWNER_ONLY: tuple[str, ...] = ()


class FeedbackLog:
    """The feedback on contexts of an open store."""

    def __init__(self, authoring: Authoring) -> None:
        self._authoring = authoring
        self._project = authoring.project

    def add(
        self,
        receipt: Mapping[str, Any],
        *,
        useful: Sequence[str] = (),
        useless: Sequence[str] = (),
        share: Sequence[str] = (),
        viewer: Viewer | str | None = None,
        at: int | None = None,
    ) -> Written[Feedback]:
        """Record which pieces of a receipt's context helped, and which did not, by id or path."""
        at = moment(at)
        receipts.check(receipt)
        good, bad = _match(receipt, "useful", useful), _match(receipt, "useless", useless)
        if not good and not bad:
            raise InputError("no chunk is named", hint="name chunks with {useful} or {useless}")
        if both := sorted({*good} & {*bad}):
            raise InputError(f"{both[0]} is both useful and useless", value=both[0])
        with self._authoring.transaction(viewer) as (writer, view):
            author, acl = sign(view.viewer, share)
            _refuse_absent(view, [*good, *bad])
            opinion = feedback.make_feedback(
                good,
                bad,
                str(receipt["hash"]),
                at=at,
                author=author,
                acl=OWNER_ONLY if acl is None else acl,
                shared=bool(share),
            )
            put_documents(writer, [feedback.to_document(opinion)])
        return Written(opinion)

    def forget(self, feedback_id: str, *, viewer: Viewer | str | None = None) -> None:
        """Delete feedback."""
        with self._authoring.transaction(viewer) as (writer, view):
            record = find_record(view, feedback.KIND, feedback_id, "quire feedback --list")
            refuse_others(view.viewer, "feedback", record.id, record.author)
            writer.remove([record.id])

    # Last in the class: below it `list` would no longer mean the type.
    def list(self, *, viewer: Viewer | str | None = None) -> list[Feedback]:
        """List the feedback that a viewer may read, oldest first."""
        with self._project.view(viewer) as view:
            readable = [
                _visible(view.viewer, feedback.from_record(record))
                for record in view.listing(Filter(kinds=(feedback.KIND,)))
            ]
        return sorted(readable, key=lambda opinion: (opinion.at, opinion.id))


def _visible(viewer: Viewer, opinion: Feedback) -> Feedback:
    """Return feedback as a viewer is shown it: of its readers only what concerns them."""
    return replace(opinion, acl=viewer.shown(opinion.acl, opinion.author) or ())


def _refuse_absent(view: View, names: Sequence[str]) -> None:
    """Refuse feedback on records that the viewer cannot read: it would have no effect."""
    readable = {record.id for record in view.records(names)}
    for name in names:
        if name not in readable:
            raise InputError(
                f"{name} does not exist, or this viewer may not read it",
                value=name,
                hint="the receipt is of another store, or of an earlier state; assemble again",
            )


def _match(receipt: Mapping[str, Any], field: str, names: Sequence[str]) -> list[str]:
    refuse_string(names)
    ids, unmatched = feedback.match_sources(names, receipt["sources"])
    if unmatched:
        raise InputError(
            f"{unmatched[0]!r} is not in this context",
            field=field,
            value=unmatched[0],
            allowed=dict.fromkeys(source["path"] for source in receipt["sources"]),
            hint="name a chunk by its id or path",
        )
    return ids
