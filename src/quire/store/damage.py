"""The error for stored data that cannot be read."""

from __future__ import annotations

from quire.errors import StoreDamagedError

REPAIR = "run `quire doctor`, restore a backup, or delete the file and index again"


def damaged(message: str, place: str = "") -> StoreDamagedError:
    """Return the error for damaged data, with what to do about it."""
    return StoreDamagedError(message, place=place, hint=REPAIR)
