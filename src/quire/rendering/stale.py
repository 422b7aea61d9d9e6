"""Words for sources whose files are not as they were when they were indexed."""

from __future__ import annotations

from quire.core.types.records import CHANGED, DELETED

_NAMED = {
    CHANGED: "changed on disk since it was indexed",
    DELETED: "deleted from disk since it was indexed",
}
_MISSING = {
    CHANGED: "the present text of {}, which has changed on disk since it was indexed",
    DELETED: "{}, which was deleted from disk since it was indexed",
}


def describe_state(state: str) -> str:
    """Return what became of a file; a state of a receipt that is not known is said as it is."""
    return _NAMED.get(state, "not as it was indexed")


def describe_missing(path: str, state: str) -> str:
    """Return what a page lacks of a file."""
    return _MISSING.get(state, "{}, which is not as it was indexed").format(path)
