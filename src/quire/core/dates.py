"""Read dates as moments: seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, time

from quire.core.types import Filter
from quire.errors import InputError


def seconds(field: str, text: str, *, end: bool = False) -> int:
    """Read a date or a date-time (UTC unless it says otherwise); a date may stand for its end."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"expected a date such as 2026-01-31 or 2026-01-31T12:00:00Z, not {text!r}",
            field=field,
            value=text,
        ) from None
    if len(text) <= len("2026-01-31") and end:
        moment = datetime.combine(moment.date(), time(23, 59, 59))
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def parse_filter(
    kinds: tuple[str, ...], paths: tuple[str, ...], since: str | None, until: str | None
) -> Filter:
    """Build a filter whose bounds are written as dates."""
    return Filter(
        kinds=kinds,
        paths=paths,
        since=None if since is None else seconds("since", since),
        until=None if until is None else seconds("until", until, end=True),
    )
