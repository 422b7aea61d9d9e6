"""Feedback on contexts: which of their pieces helped, and which did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quire import receipts
from quire.core.protocols import View
from quire.core.types import Feedback, Filter, Viewer, Written
from quire.errors import InputError
from quire.memory import feedback
from quire.memory.authoring import Authoring, meant, moment, put, refuse_others, signed
from quire.store.access import refuse_string

OWNER_ALONE: tuple[str, ...] = ()


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
        good, bad = _meant(receipt, useful), _meant(receipt, useless)
        if not good and not bad:
            raise InputError("nothing is said: name pieces that were useful, or useless")
        if both := sorted({*good} & {*bad}):
            raise InputError(f"{both[0]} is said to be both useful and useless: decide")
        with self._authoring.transaction(viewer) as (writer, view):
            author, acl = signed(view.viewer, share)
            _refuse_absent(view, [*good, *bad])
            made = feedback.new(
                good,
                bad,
                str(receipt["hash"]),
                at=at,
                author=author,
                acl=OWNER_ALONE if acl is None else acl,
                shared=bool(share),
            )
            put(writer, [feedback.document(made)])
        return Written(made)

    def forget(self, feedback_id: str, *, viewer: Viewer | str | None = None) -> None:
        """Delete feedback."""
        with self._authoring.transaction(viewer) as (writer, view):
            found = meant(view, feedback.KIND, feedback_id, "quire feedback --list")
            refuse_others(view.viewer, "feedback", found.id, found.author)
            writer.remove([found.id])

    # Last in the class: below it `list` would no longer mean the type.
    def list(self, *, viewer: Viewer | str | None = None) -> list[Feedback]:
        """List the feedback that a viewer may read, oldest first."""
        with self._project.view(viewer) as view:
            found = [
                feedback.feedback_of(record)
                for record in view.listing(Filter(kinds=(feedback.KIND,)))
            ]
        return sorted(found, key=lambda one: (one.at, one.id))


def _refuse_absent(view: View, names: Sequence[str]) -> None:
    """Refuse an opinion that could move nothing; what may not be read is not there."""
    there = {record.id for record in view.records(names)}
    for name in names:
        if name not in there:
            raise InputError(
                f"there is no {name} that this viewer may read: the receipt is of another store, "
                "or of an earlier state; assemble anew"
            )


def _meant(receipt: Mapping[str, Any], given: Sequence[str]) -> list[str]:
    refuse_string(given)
    found, unknown = feedback.named(given, receipt["sources"])
    if unknown:
        places = ", ".join(dict.fromkeys(source["path"] for source in receipt["sources"]))
        raise InputError(
            f"{unknown[0]!r} is no piece of this context: name one by its id or path; "
            f"there are {places or 'none'}"
        )
    return found
