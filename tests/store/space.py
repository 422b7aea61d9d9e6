"""The content of a space in the reference implementation, and what follows from it."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field

from quire.core import hashing, merkle
from quire.core.types import AccessRule, Chunk, Event, Link, Outline, Record, Stamp

from .definitions import ORIGINS, OWNER_ONLY, PUBLIC, Acl, Leaves, Tree, blake, intersect, matches

Audience = Acl | tuple[Acl, ...]


@dataclass(frozen=True)
class EventAudience:
    """Who may read an event: its actor, if they may read the record."""

    actor: str
    acl: Audience


Class = Audience | EventAudience


@dataclass
class Space:
    """Everything that one space holds."""

    records: dict[str, Record] = field(default_factory=dict)
    chunks: dict[str, tuple[Chunk, ...]] = field(default_factory=dict)
    links: dict[str, frozenset[Link]] = field(default_factory=dict)
    outlines: dict[str, Outline] = field(default_factory=dict)
    events: frozenset[Event] = frozenset()
    rules: dict[str, tuple[AccessRule, ...]] = field(
        default_factory=lambda: dict.fromkeys(ORIGINS, ())
    )
    groups: dict[str, dict[str, tuple[str, ...]]] = field(
        default_factory=lambda: {origin: {} for origin in ORIGINS}
    )
    default: Acl = PUBLIC
    vectors: dict[tuple[Audience, str], bytes] = field(default_factory=dict)
    """By access list and key: what was embedded for others must not show."""
    model: str | None = None
    dims: int = 0
    stamps: dict[str, Stamp] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, bytes] = field(default_factory=dict)
    """Vectors that replace all others when they are complete, by key."""
    waiting_model: str | None = None

    def copy(self) -> Space:
        return Space(
            dict(self.records),
            dict(self.chunks),
            dict(self.links),
            dict(self.outlines),
            self.events,
            dict(self.rules),
            dict(self.groups),
            self.default,
            dict(self.vectors),
            self.model,
            self.dims,
            dict(self.stamps),
            dict(self.notes),
            dict(self.waiting),
            self.waiting_model,
        )

    def acl(self, record: Record) -> Audience:
        """Return who may read a record: its own list, else the last rule that matches.

        What names paths is for those who may read all of them.
        """
        own = [] if record.acl is None else [record.acl]
        if record.paths:
            return intersect([*own, *map(self.acl_of_path, record.paths)])
        return own[0] if own else self.acl_of_path(record.path)

    def acl_of_path(self, path: str) -> Acl:
        for rule in reversed([rule for origin in ORIGINS for rule in self.rules[origin]]):
            if matches(rule.glob, path):
                return rule.principals
        return self.default

    def vector(self, chunk: Chunk) -> bytes | None:
        acl = self.acl(self.records[chunk.record_id])
        return self.vectors.get((acl, chunk.vector_key))

    def needed_vectors(self, ids: Collection[str] | None = None) -> set[tuple[Audience, str]]:
        """Return the keys of the vectors that chunks need: all chunks, or those with these ids."""
        return {
            (self.acl(record), chunk.vector_key)
            for record in self.records.values()
            for chunk in self.chunks[record.id]
            if ids is None or chunk.id in ids
        }

    def carry_vectors(self, before: Space) -> None:
        """Copy the vectors of chunks that have moved to another access list."""
        for name, record in self.records.items():
            if name not in before.records:
                continue
            old, new = before.acl(before.records[name]), self.acl(record)
            if old == new:
                continue
            for chunk in self.chunks[name]:
                vector = before.vectors.get((old, chunk.vector_key))
                if vector is not None and chunk in before.chunks[name]:
                    self.vectors.setdefault((new, chunk.vector_key), vector)

    def event_class(self, event: Event) -> Class:
        """Return the access class of an event: its actor's, while they may read the record."""
        record = self.records.get(event.record_id)
        return OWNER_ONLY if record is None else EventAudience(event.actor, self.acl(record))

    def trees(self) -> dict[Class, tuple[Tree, Tree]]:
        """Return the trees of all access classes: of the content, and of the vectors."""
        content: dict[Class, Leaves] = {}
        embedded: dict[Class, Leaves] = {}
        for record in self.records.values():
            acl = self.acl(record)
            own = content.setdefault(acl, {})
            pairs = [merkle.record_leaf(record, acl, self.outlines.get(record.id))]
            pairs += map(merkle.chunk_leaf, self.chunks[record.id])
            pairs += map(merkle.link_leaf, self.links[record.id])
            own.update(pairs)
            for chunk in self.chunks[record.id]:
                vector = self.vector(chunk)
                if vector is not None:
                    embedded.setdefault(acl, {})[bytes.fromhex(chunk.id)] = blake(vector)
        for event in self.events:
            content.setdefault(self.event_class(event), {}).update([merkle.event_leaf(event)])
        for name, value in self.settings().items():
            if value:
                content.setdefault(OWNER_ONLY, {}).update([merkle.setting_leaf(name, value)])
        return {acl: (Tree(leaves), Tree(embedded.get(acl, {}))) for acl, leaves in content.items()}

    def settings(self) -> dict[str, hashing.Field]:
        values: dict[str, hashing.Field] = {}
        for origin in ORIGINS:
            values[f"rules {origin}"] = tuple(
                (rule.glob, json.dumps(rule.principals, separators=(",", ":")))
                for rule in self.rules[origin]
            )
            values[f"groups {origin}"] = tuple(
                sorted(
                    (group, user) for group, users in self.groups[origin].items() for user in users
                )
            )
        values["default"] = () if self.default == PUBLIC else (self.default,)
        return values
