"""The activity collector: records that the user edited or viewed lately."""

from __future__ import annotations

from collections.abc import Iterator

from quire.core.protocols import View
from quire.core.types import Hits
from quire.retrieval import hierarchy
from quire.retrieval.query import Query

ACTIVITY = "activity"
EDIT, VIEW = "edit", "view"
EDIT_SCORE, VIEW_SCORE = 600, 500
RANK_STEP = 20
"""Each rank scores less than the one before it by this much."""
HOUR = 60 * 60
MAX_EVENTS = 500
"""Number of the user's newest events that are read."""


def collect_activity(view: View, query: Query, depth: int) -> Hits:
    """Find what the user edited and viewed last, within the hours of the option."""
    return hierarchy.hits_of_records(view, _scored(view, query), depth, query.where)


def _scored(view: View, query: Query) -> Iterator[tuple[str, int]]:
    max_age = query.option(ACTIVITY, "hours") * HOUR
    events = [
        event
        for event in view.events(actor=view.viewer.actor, limit=MAX_EVENTS)
        if query.as_of is None or 0 <= query.as_of - event.at <= max_age
    ]
    for verb, best, option in ((EDIT, EDIT_SCORE, "edits"), (VIEW, VIEW_SCORE, "views")):
        ids = dict.fromkeys(event.record_id for event in events if event.verb == verb)
        limit = query.option(ACTIVITY, option)
        for rank, record_id in enumerate([*ids][:limit]):
            yield record_id, max(0, best - RANK_STEP * rank)
