"""Random documents, writes and whole histories of a store.

Whoever calls brings the chooser: a seeded one, or one of hypothesis that can make a failing case
smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from quire.core.protocols import Store, Writer
from quire.core.types import (
    MAIN,
    NO_FILTER,
    OWNER,
    AccessRule,
    Document,
    Entity,
    Event,
    Filter,
    Link,
    MetadataValue,
    Outline,
    Record,
    Reference,
    Stamp,
)

from .answers import Questions
from .definitions import ORIGINS
from .reference import ReferenceStore
from .samples import KINDS, MODEL, TITLES, WORDS, document, put, vector_for
from .space import Space

NAMES = ("r0", "r1", "r2", "r3", "r4")
PATHS = ("a.md", "docs/b.md", "docs/c.py", "src/d.py", "@alice/e")
ACLS: tuple[tuple[str, ...] | None, ...] = (
    None,
    None,
    ("public",),
    ("alice",),
    ("user:bob", "@ops"),
    ("owner",),
    ("link:door",),
)
GLOBS = ("*", "docs/", "*.py", "a.md", "/src/**")
ACTORS = ("alice", "bob", "zoë")
FILTERS = (
    NO_FILTER,
    Filter(kinds=("code", "note"), since=15),
    Filter(paths=("docs/", "*.md", "!*.py"), until=25),
    Filter(where='team = "north" or n >= 2.5', alive_at=20),
    Filter(kinds=("code", "text"), where="not has(tags) and (n != 1 or due <= 2026-01-31)"),
    Filter(where='tags in ["x", "é"] and not flag = true', shared_only=True),
)

OUTLINED = ("alpha", "beta", "fooBar", "")
ATTRS: tuple[Mapping[str, str | int], ...] = (
    {},
    {"n": 1},
    {"n": 1, "language": "é"},
    {"text_language": "de"},
    {"text_language": "ja"},
)
METADATA: tuple[Mapping[str, MetadataValue], ...] = (
    {},
    {},
    {"n": 1, "team": "north"},
    {"n": 2.5, "team": "south", "flag": True},
    {"due": "2026-01-31", "n": 3, "tags": ("x", "é")},
    {"due": "2026-01-31T12:00:00Z", "n": "1", "tags": ()},
    {"flag": False, "n": -(2**62), "team": 7},
)


# --- single things -------------------------------------------------------------------------------


def any_text(random: Random) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.randrange(6)))


def any_document(
    random: Random,
    names: Sequence[str] = NAMES,
    acls: Sequence[tuple[str, ...] | None] = ACLS,
) -> Document:
    kind = random.choice(KINDS)
    return document(
        random.choice(names),
        *(any_text(random) for _ in range(random.randrange(4))),
        path=random.choice(PATHS),
        title=random.choice(TITLES),
        kind=kind,
        chunk_kind=random.choice((kind, "code")),
        links=[(random.choice(NAMES), "link") for _ in range(random.randrange(3))],
        parent=random.choice((None, *NAMES)),
        position=random.randrange(3),
        modified=random.choice((None, 10, 20, 30)),
        acl=random.choice(acls),
        attrs=random.choice(ATTRS),
        paths=tuple(random.sample(PATHS, random.choice((0, 0, 0, 1, 2, 3)))),
        outline=any_outline(random) if random.randrange(2) else None,
        metadata=random.choice(METADATA),
        expires=random.choice((None, None, 10, 20, 30)),
        origin=random.choice(("", "put", "sync:x")),
    )


def any_outline(random: Random) -> Outline:
    whole = Entity("module", random.choice(OUTLINED), "", 0, 9, (1, 3), summary=any_text(random))
    parts = [
        Entity(
            random.choice(("class", "function", "section")),
            random.choice(OUTLINED),
            "A.b",
            place,
            random.randrange(place, 9),
            (1, 2),
            random.randrange(place),
            signature=any_text(random),
            decorators=("@x",) * random.randrange(2),
            attrs=random.choice(ATTRS),
        )
        for place in range(1, random.randrange(1, 4))
    ]
    uses = [
        Reference(
            random.choice(OUTLINED),
            random.choice(("call", "import")),
            random.randrange(len(parts) + 1),
            random.randrange(1, 3),
        )
        for _ in range(random.randrange(4))
    ]
    return Outline((whole, *parts), tuple(uses))


def any_event(random: Random) -> Event:
    verb = random.choice(("view", "edit"))
    return Event(random.choice(ACTORS), verb, random.choice(NAMES), random.randrange(1, 4))


def any_acl(random: Random) -> tuple[str, ...]:
    return random.choice([acl for acl in ACLS if acl is not None])


def any_rules(random: Random) -> list[AccessRule]:
    return [AccessRule(random.choice(GLOBS), any_acl(random)) for _ in range(random.randrange(4))]


def any_groups(random: Random) -> dict[str, list[str]]:
    return {
        group: random.sample(ACTORS, random.randrange(3))
        for group in ("ops", "dev")
        if random.randrange(2)
    }


# --- one write -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Put:
    what: Document

    def __call__(self, writer: Writer) -> None:
        put(writer, self.what)


@dataclass(frozen=True)
class Update:
    """Other metadata, readers and expiry for a record, if it is there."""

    name: str
    metadata: Mapping[str, MetadataValue]
    acl: tuple[str, ...] | None
    expires: int | None

    def __call__(self, writer: Writer) -> None:
        raise NotImplementedError("needs the record: see `Transaction`")

    def of(self, record: Record) -> Record:
        return replace(record, metadata=self.metadata, acl=self.acl, expires=self.expires)


@dataclass(frozen=True)
class Call:
    """A call of one of the writer's methods, by its name."""

    method: str
    given: tuple[object, ...] = ()

    def __call__(self, writer: Writer) -> None:
        getattr(writer, self.method)(*self.given)


Write = Callable[[Writer], None]


def any_write(random: Random) -> Write:
    names = random.sample(NAMES, random.randrange(3))
    return random.choices(
        (
            Put(any_document(random)),
            Call("remove", (names,)),
            Update(
                random.choice(NAMES),
                random.choice(METADATA),
                random.choice(ACLS),
                random.choice((None, 10, 20, 30)),
            ),
            Call(
                "set_modified", ({name: random.choice((None, 0, 1_700_000_000)) for name in names},)
            ),
            Call("put_events", ([any_event(random) for _ in range(random.randrange(4))],)),
            Call("set_rules", (random.choice(ORIGINS), any_rules(random))),
            Call("set_groups", (random.choice(ORIGINS), any_groups(random))),
            Call("set_default", (any_acl(random),)),
            Call("drop_vectors"),
            Call("stamp", ((Stamp("a.md", random.randrange(9), 2, "d", "r0"),),)),
        ),
        (10, 3, 4, 3, 3, 3, 2, 2, 1, 1),
    )[0]


# --- a history -----------------------------------------------------------------------------------


class Interrupted(Exception):  # noqa: N818 - it stands for whatever may end a block early
    """Ends a transaction early."""


@dataclass(frozen=True)
class Transaction:
    space: str
    writes: tuple[Write, ...]
    embedded: int
    """Afterwards every n-th text without a vector gets one; 0: none does."""
    model: str
    """The model of those vectors, if the space has none yet."""
    interrupted: bool

    def __call__(self, store: Store) -> None:
        try:
            with store.write(self.space) as writer, store.view(OWNER, self.space) as view:
                known = {record.id: record for record in view.records(NAMES)}
                for write in self.writes:
                    if isinstance(write, Update):
                        if write.name in known:
                            writer.update(write.of(known[write.name]))
                        continue
                    write(writer)
                    known.clear()  # what was read before may have been written since
                if self.interrupted:
                    raise Interrupted  # noqa: TRY301 - the block itself is what is tested
        except Interrupted:
            return
        if self.embedded:
            missing = store.missing_vectors(self.space)
            keys = sorted(key for batch in missing for key, _ in batch)[:: self.embedded]
            model = store.model(self.space) or self.model
            with store.write(self.space) as writer:
                writer.put_vectors(model, {key: vector_for(key, model) for key in keys})


@dataclass(frozen=True)
class Merge:
    space: str

    def __call__(self, store: Store) -> None:
        store.merge(self.space)


@dataclass(frozen=True)
class Purge:
    space: str
    names: tuple[str, ...]

    def __call__(self, store: Store) -> None:
        store.purge(self.names, self.space)


@dataclass(frozen=True)
class Repair:
    def __call__(self, store: Store) -> None:
        assert store.check(repair=True) == []


Step = Callable[[Store], None]

SPACES = (MAIN, "other")


def any_transaction(random: Random, *, puts: int = 0) -> Transaction:
    writes = [any_write(random) for _ in range(random.randrange(1, 5))]
    return Transaction(
        random.choice((MAIN, MAIN, "other")),
        (*(Put(any_document(random)) for _ in range(puts)), *writes),
        random.randrange(3),
        random.choice((MODEL, "other/8")),
        random.randrange(8) == 0,
    )


def any_step(random: Random) -> Step:
    space = random.choice((MAIN, MAIN, "other"))
    return random.choices(
        (
            any_transaction(random),
            Merge(space),
            Purge(space, tuple(random.sample(NAMES, random.randrange(3)))),
            Repair(),
        ),
        (12, 2, 1, 1),
    )[0]


def any_history(random: Random) -> list[Step]:
    """Return a history that begins with some documents and goes on at random."""
    first: list[Step] = [any_transaction(random, puts=4), any_transaction(random, puts=3)]
    return first + [any_step(random) for _ in range(random.randrange(7))]


def copy(space: Space, writer: Writer) -> None:
    """Write the whole content of a space in one transaction."""
    for origin in ORIGINS:
        writer.set_groups(origin, space.groups[origin])
        writer.set_rules(origin, space.rules[origin])
    writer.set_default(space.default)
    writer.stamp(space.stamps.values())
    # What has a vector goes in first, one access list after the other, then the rest: a vector
    # is given to every chunk that is there and lacks it.
    for acl in sorted({space.acl(record) for record in space.records.values()}, key=repr):
        own = [record for record in space.records.values() if space.acl(record) == acl]
        vectors: dict[str, bytes] = {}
        for record in own:
            embedded = [chunk for chunk in space.chunks[record.id] if space.vector(chunk)]
            writer.put(record, embedded)
            vectors |= {
                chunk.vector_key: space.vectors[acl, chunk.vector_key] for chunk in embedded
            }
        if space.model is not None:
            writer.put_vectors(space.model, vectors)
    for record in space.records.values():
        links = sorted(space.links[record.id], key=_link)
        writer.put(record, space.chunks[record.id], links, space.outlines.get(record.id))
    writer.put_events(sorted(space.events, key=repr))


def _link(link: Link) -> tuple[str, str]:
    return (link.target, link.kind)


def questions(reference: ReferenceStore, extra: Sequence[str] = ()) -> Questions:
    """Return questions about everything in any space, and about some other ids."""
    chunk_ids = [
        chunk.id
        for space in SPACES
        for chunks in reference.space(space).chunks.values()
        for chunk in chunks
    ]
    return Questions(
        vectors=(vector_for("question"), bytes(8)),
        filters=FILTERS,
        ks=(2, 100),
        records=NAMES,
        chunks=tuple(dict.fromkeys([*chunk_ids, *extra])),
    )
