"""Dates as moments: seconds since 1970, in UTC unless a date says otherwise."""

from __future__ import annotations

from datetime import UTC, datetime, time

from quire.errors import InputError


def parse_date(field: str, text: str, *, end: bool = False) -> int:
    """Parse a date or a date-time; with `end`, a date stands for its last second."""
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


def format_moment(at: int) -> str:
    """Return a moment as ISO 8601 has it, in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat()
