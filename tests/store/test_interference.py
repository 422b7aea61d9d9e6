"""Does what somebody may not read change a single byte of what they get?

Each case makes a store by a random history, then does things to documents that one viewer may
not read: adds, changes, removes, embeds and links them and gives them events. The viewer's whole
JSON must stay as it was, and must equal what a store gives that never held anything else than
what the viewer may read. `QUIRE_CASES` says how many cases are tried.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core.protocols import Store
from quire.core.types import OWNER, Document, Event, Filter, Viewer
from quire.store import open_store

from .asking import Questions, everything, text, wordless
from .definitions import access_list, may_read
from .reference import Limits, ReferenceStore
from .samples import (
    ALICE,
    BOB,
    CAROL,
    MODEL,
    NOBODY,
    document,
    fill,
    put,
    vector_for,
)
from .space import Space
from .worlds import (
    ACTORS,
    NAMES,
    Call,
    Put,
    Write,
    any_document,
    any_event,
    any_groups,
    any_rules,
    any_text,
    copy,
)

BATCHES = 4
CASES = int(os.environ.get("QUIRE_CASES", "2000"))
TRIED = count()
SECRETS = ("s0", "s1", "s2")
GUEST = Viewer("", links=("door",))
OTHERS = (("owner",), ("mallory",), ("@secret", "mallory"), ("alice",), ("bob", "@ops"))


# --- a world -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deed:
    """Something done to a document that the viewer may not read."""

    kind: str
    what: Document
    number: int


@dataclass(frozen=True)
class World:
    viewer: Viewer
    history: list[list[Write]]
    embedded: int
    """Every so manieth text has a vector; 0: none has."""
    deeds: list[list[Deed]]
    queries: tuple[str, ...]


def any_world(random: Random) -> World:
    """Make a world by a number of choices; hypothesis may make them, too."""
    first: list[Write] = [
        Call("set_rules", ("config", any_rules(random))),
        Call("set_groups", ("command", any_groups(random))),
        *(Put(any_document(random)) for _ in range(random.randrange(1, 6))),
        Call("put_events", ([any_event(random) for _ in range(random.randrange(4))],)),
    ]
    later: list[Write] = [
        Put(any_document(random))
        if random.randrange(3)
        else Call("remove", ([random.choice(NAMES)],))
        for _ in range(random.randrange(4))
    ]
    return World(
        viewer=random.choice((ALICE, BOB, CAROL, NOBODY, GUEST)),
        history=[first, later],
        embedded=random.randrange(4),
        deeds=[
            [any_deed(random) for _ in range(random.randrange(1, 5))]
            for _ in range(random.choice((1, 1, 2)))
        ],
        queries=(any_text(random), "alpha cafe http"),
    )


def any_deed(random: Random) -> Deed:
    return Deed(
        random.choice(("put", "put", "remove", "embed", "event", "merge")),
        any_document(random, SECRETS, (None,)),
        random.randrange(60),
    )


# --- what is done to both stores -----------------------------------------------------------------


def readable(space: Space, viewer: Viewer) -> set[str]:
    return {name for name, record in space.records.items() if may_read(viewer, space.acl(record))}


def known(store: ReferenceStore, viewer: Viewer) -> Viewer:
    with store.view(viewer) as view:
        return view.viewer


def begin(world: World, reference: ReferenceStore, store: Store, space: str) -> None:
    for writes in world.history:
        for each, name in ((reference, "main"), (store, space)):
            with each.write(name) as writer:
                for write in writes:
                    write(writer)
    keys = sorted(key for batch in reference.missing_vectors() for key, _ in batch)
    chosen = keys[:: world.embedded] if world.embedded else []
    for each, name in ((reference, "main"), (store, space)):
        with each.write(name) as writer:
            writer.put_vectors(MODEL, {key: vector_for(key) for key in chosen})


def do(deeds: Sequence[Deed], viewer: Viewer, reference: ReferenceStore) -> list[Write]:
    """Turn deeds into writes that touch only what the viewer may not read."""
    held = reference.space()
    may = readable(held, viewer)
    hidden = sorted({*SECRETS, *held.records} - may)
    acls = [acl for acl in OTHERS if not viewer.may_read(access_list(acl))]
    mine = {
        chunk.vector_key
        for name in may
        for chunk in held.chunks[name]
        if held.vector(chunk) is None
    }
    texts = {chunk.vector_key for name in hidden for chunk in held.chunks.get(name, ())}
    done: list[Write] = []
    for deed in deeds:
        name = hidden[deed.number % len(hidden)]
        if deed.kind == "put":
            secret = renamed(deed.what, name, acls[deed.number % len(acls)])
            texts |= {chunk.vector_key for chunk in secret.chunks}
            done.append(Put(secret))
        elif deed.kind == "remove":
            done.append(Call("remove", ([name],)))
        elif deed.kind == "event":
            actor = ACTORS[deed.number % len(ACTORS)]
            others = sorted({*hidden, *may})
            target = name if actor == viewer.name else others[deed.number % len(others)]
            done.append(Call("put_events", ([Event(actor, "edit", target, deed.number)],)))
        elif deed.kind == "embed":
            # A text that the viewer reads, too, is theirs: embedding it is no secret's doing.
            vectors = {key: vector_for(key) for key in texts - mine}
            done.append(Call("put_vectors", (MODEL, vectors)))
    return done


def renamed(what: Document, name: str, acl: tuple[str, ...]) -> Document:
    return document(
        name,
        *(chunk.text for chunk in what.chunks),
        path=what.record.path,
        title=what.record.title,
        kind=what.record.kind,
        links=[(link.target, link.kind) for link in what.links],
        parent=what.record.parent,
        position=what.record.position,
        modified=what.record.modified,
        acl=acl,
        attrs=what.record.attrs,
        paths=what.record.paths,
        outline=what.outline,
    )


def portion(space: Space, viewer: Viewer) -> Space:
    """Give a space that holds what the viewer may read, and nothing else."""
    may = readable(space, viewer)
    texts_held = {
        (space.acl(space.records[name]), chunk.vector_key)
        for name in may
        for chunk in space.chunks[name]
    }
    return replace(
        space,
        records={name: space.records[name] for name in may},
        chunks={name: space.chunks[name] for name in may},
        links={name: space.links[name] for name in may},
        outlines={name: space.outlines[name] for name in may if name in space.outlines},
        events=frozenset(
            event for event in space.events if event.record_id in may and event.actor == viewer.name
        ),
        vectors={key: data for key, data in space.vectors.items() if key in texts_held},
    )


# --- the property --------------------------------------------------------------------------------


def told(store: Store, viewer: Viewer, asked: Questions, space: str) -> str:
    with store.view(viewer, space) as view:
        vectors = {name: data.hex() for name, data in view.vectors(asked.chunks).items()}
        return text({**everything(view, asked), "vectors": vectors})


def check(world: World, store: Store, limits: Limits, space: str) -> None:
    reference = ReferenceStore(limits)
    begin(world, reference, store, space)
    viewer = known(reference, world.viewer)
    hidden = [deed.what for deeds in world.deeds for deed in deeds]
    pieces = [chunk.id for chunks in reference.space().chunks.values() for chunk in chunks]
    pieces += [chunk.id for each in hidden for chunk in each.chunks]
    asked = Questions(
        queries=world.queries,
        vectors=(vector_for("question"),),
        filters=(Filter(), Filter(kinds=("code", "text"), paths=("docs/", "*.py"), since=10)),
        ks=(2, 100),
        records=(*NAMES, *SECRETS),
        chunks=tuple(dict.fromkeys(pieces)),
    )
    alone = ReferenceStore(limits)
    for each, name in ((alone, "main"), (store, f"{space} alone")):
        with each.write(name) as writer:
            copy(portion(reference.space(), viewer), writer)
    before = told(store, world.viewer, asked, space)
    assert before == told(store, world.viewer, asked, f"{space} alone")
    assert wordless(before) == wordless(told(alone, world.viewer, asked, "main"))
    for deeds in world.deeds:
        writes = do(deeds, viewer, reference)
        for each, name in ((reference, "main"), (store, space)):
            with each.write(name) as writer:
                for write in writes:
                    write(writer)
        if any(deed.kind == "merge" for deed in deeds):
            store.merge(space)
        assert told(store, world.viewer, asked, space) == before


@pytest.fixture
def store(quick_path: Path) -> Iterator[Store]:
    opened = open_store(quick_path / "store.db")
    yield opened
    opened.close()


def run(store: Store, limits: Limits, batch: int) -> None:
    for number in range(batch, CASES, 2 * BATCHES):
        try:
            check(any_world(Random(number)), store, limits, f"case {number}")
        except AssertionError as error:
            error.add_note(f"case {number} of {CASES}")
            raise


@pytest.mark.parametrize("batch", range(BATCHES))
def test_non_interference(store: Store, batch: int) -> None:
    run(store, Limits(), batch)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_non_interference_with_every_limit_reached(store: Store, small: Limits, batch: int) -> None:
    run(store, small, BATCHES + batch)


@given(st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_non_interference_in_the_smallest_case(store: Store, small: Limits, random: Random) -> None:
    """Tries few cases, but makes one that fails as small as it can be."""
    check(any_world(random), store, small, f"tried {next(TRIED)}")


# --- what has a test of its own ------------------------------------------------------------------


def test_no_interference_by_what_i_did_to_what_i_may_no_longer_read(store: Store) -> None:
    """My own events on a secret record show in nothing, so they must not show in my root."""
    fill(store, document("secret", "x", acl=("bob",)), document("open", "x"))
    asked = Questions(records=("secret", "open"))
    before = told(store, ALICE, asked, "main")
    with store.write() as writer:
        writer.put_events([Event("alice", "view", "secret", 1)])
    assert told(store, ALICE, asked, "main") == before
    with store.write() as writer:
        writer.remove(["secret"])
    assert told(store, ALICE, asked, "main") == before


def test_no_interference_by_a_text_that_somebody_else_has_embedded(store: Store) -> None:
    """Else a guess could be checked: put it in, and see whether it has a vector at once."""
    secret = document("secret", "the password is hunter2", acl=("bob",))
    guess = document("guess", "the password is hunter2", acl=("alice",))
    fill(store, guess, space="without")
    fill(store, secret, embed=True)
    fill(store, guess)
    asked = Questions(records=("secret", "guess"))
    assert told(store, ALICE, asked, "main") == told(store, ALICE, asked, "without")


def test_no_interference_by_names_of_groups_and_rules(store: Store) -> None:
    fill(store, document("open", "x"))
    before = told(store, ALICE, Questions(records=("open",)), "main")
    with store.write() as writer:
        writer.set_groups("config", {"dev": ["bob"]})
        put(writer, document("secret", "x", acl=("@dev",)))
        writer.set_note("key", "value")
    assert told(store, ALICE, Questions(records=("open",)), "main") == before
    with store.view(OWNER) as view:
        assert view.status().records == 2
