"""What is a record made of, and what does it speak of?

A file of code has classes and functions, a document sections, a conversation messages: named
ranges of a record's text, one inside another. What they name elsewhere (a function that is called)
is kept by name alone: whom a name means is decided when a question is asked, over what the asker
may read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quire.core.types.records import NO_ATTRS

WHOLE = 0
"""The place in an outline of the entity that is the whole record."""
NEARLY_ALL = (4, 5)
"""What is cut out of an entity may begin or end a little outside: in its blank lines, say."""

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "code": ("function", "method", "class", "interface", "type", "file", "module", "code"),
    "documentation": ("document", "section", "requirement", "feature"),
    "conversation": ("session", "message", "decision", "conversation"),
}
OTHER = "other"
_CATEGORY = {kind: name for name, kinds in CATEGORIES.items() for kind in kinds}


def category(kind: str) -> str:
    """Tell to which group of a context a kind of entity belongs."""
    return _CATEGORY.get(kind, OTHER)


@dataclass(frozen=True, slots=True)
class Entity:
    """A named part of a record: a function, a class, a section, a message, or all of it."""

    kind: str
    """`module`, `file`, `class`, `interface`, `type`, `function`, `method`; `document`, `section`,
    `requirement`, `feature`; `session`, `message`, `decision`; `commit`."""
    name: str
    qualified: str
    """Its name with those of the entities around it (`Cart.total`), without the file's."""
    start: int
    """Offset of the first byte in the record's text as UTF-8."""
    end: int
    lines: tuple[int, int]
    parent: int | None = None
    """The place in the outline of the entity around it; None: it is the whole record."""
    signature: str = ""
    """How it is declared, without its body, on one line."""
    summary: str = ""
    """What it says of itself: a docstring, the comment above it, its first paragraph."""
    decorators: tuple[str, ...] = ()
    attrs: Mapping[str, str | int] = field(default_factory=lambda: NO_ATTRS)
    """What only its kind has: a message's speaker, time and turn."""

    @property
    def fixed(self) -> tuple[str | int | tuple[int, int] | tuple[str, ...] | None, ...]:
        """All that every entity has, in the order in which it is hashed and kept."""
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
    """A name that an entity uses and that something elsewhere may define."""

    name: str
    kind: str
    """`call`, `use` (a type, a base class, a decorator), `import` or `test` (what it tests)."""
    within: int
    """The place in the outline of the innermost entity that uses it."""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Outline:
    """The parts of a record in reading order, the whole first, and the names that they use."""

    entities: tuple[Entity, ...]
    references: tuple[Reference, ...] = ()

    def around(self, start: int, end: int) -> Entity:
        """Give the innermost entity that holds nearly all of a stretch of the text."""
        found = self.entities[WHOLE]
        for entity in self.entities[1:]:
            shared = min(end, entity.end) - max(start, entity.start)
            innermost = entity.end - entity.start <= found.end - found.start
            if innermost and shared * NEARLY_ALL[1] >= (end - start) * NEARLY_ALL[0] > 0:
                found = entity
        return found


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a name is defined or used: a record, and the place of the entity in its outline."""

    name: str
    kind: str
    """`define`, or the kind of the reference."""
    record_id: str
    entity: int
    count: int = 1
