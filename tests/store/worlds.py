"""What may happen to a store? Strategies for documents, writes and whole histories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from quire.contracts import Store, Writer
from quire.values import MAIN, NO_FILTER, AccessRule, Document, Event, Filter, Link, Stamp

from .asking import Questions
from .definitions import ORIGINS
from .reference import ReferenceStore, Space
from .samples import KINDS, MODEL, TITLES, WORDS, document, put, vector_for

NAMES = ("r0", "r1", "r2", "r3", "r4")
PATHS = ("a.md", "docs/b.md", "docs/c.py", "src/d.py")
ACLS: tuple[tuple[str, ...] | None, ...] = (
    None,
    None,
    ("public",),
    ("alice",),
    ("user:bob", "@ops"),
    ("owner",),
)
GLOBS = ("*", "docs/", "*.py", "a.md", "/src/**")
ACTORS = ("alice", "bob", "zoë")
FILTERS = (
    NO_FILTER,
    Filter(kinds=("code", "note"), since=15),
    Filter(paths=("docs/", "*.md", "!*.py"), until=25),
)

texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


@st.composite
def documents(
    draw: st.DrawFn,
    names: Sequence[str] = NAMES,
    acls: Sequence[tuple[str, ...] | None] = ACLS,
) -> Document:
    kind = draw(st.sampled_from(KINDS))
    return document(
        draw(st.sampled_from(names)),
        *draw(st.lists(texts, max_size=3)),
        path=draw(st.sampled_from(PATHS)),
        title=draw(st.sampled_from(TITLES)),
        kind=kind,
        chunk_kind=draw(st.sampled_from((kind, "code"))),
        links=draw(st.lists(st.tuples(st.sampled_from(NAMES), st.just("link")), max_size=2)),
        modified=draw(st.sampled_from((None, 10, 20, 30))),
        acl=draw(st.sampled_from(acls)),
        attrs=draw(st.sampled_from(({}, {"n": 1}, {"n": 1, "language": "é"}))),
    )


events = st.builds(
    Event,
    st.sampled_from(ACTORS),
    st.sampled_from(("view", "edit")),
    st.sampled_from(NAMES),
    st.integers(1, 3),
)
rules = st.lists(
    st.builds(
        AccessRule,
        st.sampled_from(GLOBS),
        st.sampled_from([acl for acl in ACLS if acl is not None]),
    ),
    max_size=3,
)
groups = st.dictionaries(
    st.sampled_from(("ops", "dev")), st.lists(st.sampled_from(ACTORS), max_size=2), max_size=2
)
names = st.lists(st.sampled_from(NAMES), max_size=3)


# --- one write -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Put:
    what: Document

    def __call__(self, writer: Writer) -> None:
        put(writer, self.what)


@dataclass(frozen=True)
class Call:
    """A call of one of the writer's methods, by its name."""

    method: str
    given: tuple[object, ...] = ()

    def __call__(self, writer: Writer) -> None:
        getattr(writer, self.method)(*self.given)


@dataclass(frozen=True)
class Embed:
    """Gives vectors to these texts; a space has one model at a time."""

    documents: tuple[Document, ...]

    def __call__(self, writer: Writer) -> None:
        keys = {chunk.vector_key for each in self.documents for chunk in each.chunks}
        writer.put_vectors(MODEL, {key: vector_for(key) for key in keys})


Write = Callable[[Writer], None]

writes: st.SearchStrategy[Write] = st.one_of(
    documents().map(Put),
    documents().map(Put),
    documents().map(Put),
    st.lists(documents(), min_size=1, max_size=3).map(lambda found: Embed(tuple(found))),
    names.map(lambda found: Call("remove", (found,))),
    st.lists(events, max_size=3).map(lambda found: Call("put_events", (found,))),
    st.tuples(st.sampled_from(ORIGINS), rules).map(lambda found: Call("set_rules", found)),
    st.tuples(st.sampled_from(ORIGINS), groups).map(lambda found: Call("set_groups", found)),
    st.sampled_from([acl for acl in ACLS if acl is not None]).map(
        lambda acl: Call("set_default", (acl,))
    ),
    st.just(Call("drop_vectors")),
    st.just(Call("stamp", ((Stamp("a.md", 1, 2, "d", "r0"),),))),
)


# --- a history -----------------------------------------------------------------------------------


class Interrupted(Exception):  # noqa: N818 - it stands for whatever may end a block early
    """Ends a transaction before its time."""


@dataclass(frozen=True)
class Transaction:
    space: str
    writes: tuple[Write, ...]
    embed: bool
    """Afterwards give vectors to all that lacks one."""
    interrupted: bool

    def __call__(self, store: Store) -> None:
        try:
            with store.write(self.space) as writer:
                for write in self.writes:
                    write(writer)
                if self.interrupted:
                    raise Interrupted  # noqa: TRY301 - the block itself is what is tested
        except Interrupted:
            return
        if self.embed:
            keys = [key for batch in store.missing_vectors(self.space) for key, _ in batch]
            with store.write(self.space) as writer:
                writer.put_vectors(MODEL, {key: vector_for(key) for key in keys})


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
spaces = st.sampled_from((MAIN, MAIN, "other"))
transactions = st.builds(
    Transaction,
    spaces,
    st.lists(writes, min_size=1, max_size=5).map(tuple),
    st.booleans(),
    st.sampled_from((False, False, False, True)),
)
steps: st.SearchStrategy[Step] = st.one_of(
    transactions,
    transactions,
    transactions,
    transactions,
    st.builds(Merge, spaces),
    st.builds(Purge, spaces, names.map(tuple)),
    st.builds(Repair),
)
histories = st.lists(steps, min_size=1, max_size=8)


def copy(held: Space, writer: Writer) -> None:
    """Bring a store directly to a state."""
    for origin in ORIGINS:
        writer.set_groups(origin, held.groups[origin])
        writer.set_rules(origin, held.rules[origin])
    writer.set_default(held.default)
    writer.stamp(held.stamps.values())
    # What has a vector goes in first, one access list after the other, then the rest: a vector
    # is given to every chunk that is there and lacks it.
    for acl in sorted({held.acl(record) for record in held.records.values()}):
        own = [record for record in held.records.values() if held.acl(record) == acl]
        known: dict[str, bytes] = {}
        for record in own:
            embedded = [chunk for chunk in held.chunks[record.id] if held.vector(chunk)]
            writer.put(record, embedded)
            known |= {chunk.vector_key: held.vectors[acl, chunk.vector_key] for chunk in embedded}
        if held.model is not None:
            writer.put_vectors(held.model, known)
    for record in held.records.values():
        writer.put(record, held.chunks[record.id], sorted(held.links[record.id], key=_link))
    writer.put_events(sorted(held.events, key=repr))


def _link(link: Link) -> tuple[str, str]:
    return (link.target, link.kind)


def questions(reference: ReferenceStore, extra: Sequence[str] = ()) -> Questions:
    """Ask about all that is there in any space, and about what was named beside it."""
    found = [
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
        chunks=tuple(dict.fromkeys([*found, *extra])),
    )
