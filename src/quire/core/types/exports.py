"""What a copy of a space is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from quire.core.frozen import dataclass
from quire.core.types.outline import Outline
from quire.core.types.records import AccessRule, Chunk, Event, Link, Record, Stamp

Place = tuple[str, str]
"""Where a record stands in a listing: its path and its id."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record with all that belongs to it."""

    record: Record
    chunks: tuple[Chunk, ...] = ()
    """In reading order."""
    links: tuple[Link, ...] = ()
    """All of them, also those to records that do not exist; sorted by target and kind."""
    outline: Outline | None = None
    vectors: Mapping[str, bytes] = field(default_factory=dict)
    """By the ids of chunks, of those that have one."""

    @property
    def place(self) -> Place:
        """Where it stands among the others."""
        return self.record.path, self.record.id


@dataclass(frozen=True, slots=True)
class SpaceState:
    """What a space holds beside its records."""

    rules: Mapping[str, tuple[AccessRule, ...]]
    """By origin, like the groups."""
    groups: Mapping[str, Mapping[str, tuple[str, ...]]]
    access_default: tuple[str, ...]
    """Who may read what no rule matches."""
    model: str | None
    """Whose vectors these are."""
    notes: Mapping[str, str]
    stamps: Mapping[str, Stamp]
    """By path."""
    events: tuple[Event, ...]
    """All of them, also those on records that do not exist; the oldest first."""
