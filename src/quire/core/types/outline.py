"""Outlines: the entities of a record and the names that they use.

A source file has classes and functions, a document sections, a conversation messages: named ranges
of a record's text, one inside another. References to other records (a function that is called) are
stored by name alone: they are resolved for each query, over what the viewer may read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from quire.core.frozen import dataclass
from quire.core.types.records import NO_ATTRS

WHOLE = 0
"""Index in an outline of the entity that is the whole record."""
MIN_SHARE = (4, 5)
"""Share of a range that an entity must contain: a chunk may begin or end in blank lines outside."""

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "code": ("function", "method", "class", "interface", "type", "file", "module", "code"),
    "documentation": ("document", "section", "requirement", "feature"),
    "conversation": ("session", "message", "decision", "conversation"),
}
OTHER = "other"
DECLARED = "declared"
"""The attribute of a definition with comments above it: the line where it begins below them."""
_CATEGORY = {kind: name for name, kinds in CATEGORIES.items() for kind in kinds}


def category(kind: str) -> str:
    """Return the category of a kind of entity."""
    return _CATEGORY.get(kind, OTHER)


@dataclass(frozen=True, slots=True)
class Entity:
    """A named part of a record: a function, a class, a section, a message, or all of it."""

    kind: str
    """`module`, `file`, `class`, `interface`, `type`, `function`, `method`; `document`, `section`,
    `requirement`, `feature`; `session`, `message`, `decision`; `commit`."""
    name: str
    qualified: str
    """Its name with those of the enclosing entities (`Cart.total`), without the file's."""
    start: int
    """Offset of the first byte in the record's text as UTF-8."""
    end: int
    lines: tuple[int, int]
    parent: int | None = None
    """Index of the enclosing entity in the outline; None: it is the whole record."""
    signature: str = ""
    """Its declaration without the body, on one line."""
    summary: str = ""
    """Its docstring, the comment above it, or its first paragraph."""
    decorators: tuple[str, ...] = ()
    attrs: Mapping[str, str | int] = field(default_factory=lambda: NO_ATTRS)
    """Attributes of its kind: a message's speaker, time and turn."""

    @property
    def hashed_fields(self) -> tuple[str | int | tuple[int, int] | tuple[str, ...] | None, ...]:
        """The fields of every kind of entity, in the order in which they are hashed and stored."""
        return (
            self.kind,
            self.name,
            self.qualified,
            self.start,
            self.end,
            self.lines,
            self.parent,
            self.signature,
            self.summary,
            self.decorators,
        )


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that an entity uses and that another entity may define."""

    name: str
    kind: str
    """`call`, `use` (a type, a base class, a decorator), `import` or `test` (what it tests)."""
    within: int
    """Index in the outline of the innermost entity that uses it."""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Outline:
    """The entities of a record in reading order, the whole first, and the names that they use."""

    entities: tuple[Entity, ...]
    references: tuple[Reference, ...] = ()

    def innermost(self, start: int, end: int, *, alone: bool = False) -> Entity:
        """Return the innermost entity that contains nearly all of a range of the text.

        With `alone`, none that another one precedes or follows within the range.
        """
        best = self.entities[WHOLE]
        inside = [e for e in self.entities if start <= e.start < e.end <= end] if alone else []
        for entity in self.entities[1:]:
            shared = min(end, entity.end) - max(start, entity.start)
            is_smaller = entity.end - entity.start <= best.end - best.start
            if is_smaller and shared * MIN_SHARE[1] >= (end - start) * MIN_SHARE[0] > 0:
                apart = (e for e in inside if e.end <= entity.start or entity.end <= e.start)
                best = best if any(apart) else entity
        return best

    def is_named_before(self, start: int) -> bool:
        """Tell whether the whole has the name of its first section, which ends before a place.

        So it is with a changelog, which has a section for each version and no title of its own.
        """
        whole = self.entities[WHOLE]
        first = next(
            (entity for entity in self.entities[1:] if entity.parent in {None, WHOLE}), None
        )
        return first is not None and first.name == whole.name and first.end <= start


@dataclass(frozen=True, slots=True)
class Unit:
    """The definition that a chunk of code is shown as."""

    entity: Entity
    line: int
    """Its own first line, below the comments above it; 0 if the text has no lines."""
    text: str
    """What the chunk holds of it, or the declarations of its members."""
    outline: str = ""
    """Its declaration with those of its members, if it is a class or a module that has any."""
    source: str = ""
    """The lines of it that the chunk holds, as they are in the file, without their margin."""
    lines: tuple[int, int] = (0, 0)
    """The first and the last line of `source` in the file, if these are not its own; else 0."""
    others: tuple[Entity, ...] = ()
    """The definitions that `source` shows, if there are several of them."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A definition or a use of a name: a record, and the index of the entity in its outline."""

    name: str
    kind: str
    """`define`, or the kind of the reference."""
    record_id: str
    entity: int
    count: int = 1
