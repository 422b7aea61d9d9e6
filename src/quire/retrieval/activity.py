"""What did the asker work on lately?"""

from __future__ import annotations

from collections.abc import Iterator

from quire.core.protocols import View
from quire.core.types import Hits
from quire.retrieval import hierarchy
from quire.retrieval.query import Question

ACTIVITY = "activity"
EDIT, VIEW = "edit", "view"
EDITED, VIEWED = 600, 500
STEP = 20
HOUR = 60 * 60
LOOKED_AT = 500
"""So many of the asker's last deeds are looked at."""


def activity(view: View, asked: Question, depth: int) -> Hits:
    """Find what the asker edited and viewed last; nothing that is older than so many hours."""
    return hierarchy.hits(view, _touched(view, asked), depth, asked.where)


def _touched(view: View, asked: Question) -> Iterator[tuple[str, int]]:
    oldest = asked.option(ACTIVITY, "hours") * HOUR
    deeds = [
        event
        for event in view.events(actor=view.viewer.actor, limit=LOOKED_AT)
        if asked.as_of is None or 0 <= asked.as_of - event.at <= oldest
    ]
    kinds = ((EDIT, EDITED, "edits"), (VIEW, VIEWED, "views"))
    for verb, best, option in kinds:
        names = dict.fromkeys(event.record_id for event in deeds if event.verb == verb)
        most = asked.option(ACTIVITY, option)
        for place, name in enumerate([*names][:most]):
            yield name, max(0, best - STEP * place)
