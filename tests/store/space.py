"""What does a space hold, and what follows from it?"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from quire.core import hashing, merkle
from quire.core.types import AccessRule, Chunk, Event, Link, Outline, Record, Stamp

from .definitions import ORIGINS, OWNER_ONLY, PUBLIC, Acl, Leaves, Tree, blake, joint, matches

Audience = Acl | tuple[Acl, ...]


@dataclass(frozen=True)
class Deed:
    """Who may know what someone did: they themselves, if they may read what they did it to."""

    actor: str
    acl: Audience


Class = Audience | Deed


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
    """By access list and key: what was embedded for others does not show."""
    model: str | None = None
    dims: int = 0
    stamps: dict[str, Stamp] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

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
        )

    def acl(self, record: Record) -> Audience:
        """Tell who may read a record: its own list, else the last rule that matches.

        What names paths is for those who may read all of them.
        """
        own = [] if record.acl is None else [record.acl]
        if record.paths:
            return joint([*own, *map(self.ruled, record.paths)])
        return own[0] if own else self.ruled(record.path)

    def ruled(self, path: str) -> Acl:
        for rule in reversed([rule for origin in ORIGINS for rule in self.rules[origin]]):
            if matches(rule.glob, path):
                return rule.principals
        return self.default

    def vector(self, chunk: Chunk) -> bytes | None:
        acl = self.acl(self.records[chunk.record_id])
        return self.vectors.get((acl, chunk.vector_key))

    def wanted(self) -> set[tuple[Audience, str]]:
        """Tell which vectors there are chunks for."""
        return {
            (self.acl(record), chunk.vector_key)
            for record in self.records.values()
            for chunk in self.chunks[record.id]
        }

    def carry(self, before: Space) -> None:
        """Let chunks that have moved to another access list take their vectors along."""
        for name, record in self.records.items():
            if name not in before.records:
                continue
            old, new = before.acl(before.records[name]), self.acl(record)
            if old == new:
                continue
            for chunk in self.chunks[name]:
                known = before.vectors.get((old, chunk.vector_key))
                if known is not None and chunk in before.chunks[name]:
                    self.vectors.setdefault((new, chunk.vector_key), known)

    def event_class(self, event: Event) -> Class:
        """What someone did is theirs to know while they may read what they did it to."""
        record = self.records.get(event.record_id)
        return OWNER_ONLY if record is None else Deed(event.actor, self.acl(record))

    def trees(self) -> dict[Class, tuple[Tree, Tree]]:
        """Make the trees of all access classes: the content, and the vectors."""
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
        found: dict[str, hashing.Field] = {}
        for origin in ORIGINS:
            found[f"rules {origin}"] = tuple(
                (rule.glob, json.dumps(rule.principals, separators=(",", ":")))
                for rule in self.rules[origin]
            )
            found[f"groups {origin}"] = tuple(
                sorted(
                    (group, user) for group, users in self.groups[origin].items() for user in users
                )
            )
        found["default"] = () if self.default == PUBLIC else (self.default,)
        return found
