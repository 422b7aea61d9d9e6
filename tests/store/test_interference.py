"""What somebody may not read changes no byte of what they get.

Each case makes a store by a random history, then does things to documents that one viewer may
not read: adds, changes, removes, embeds and links them, gives them events and other metadata. The
viewer's whole JSON must stay as it was, and must equal what a store gives that never held anything
else than what the viewer may read. `QUIRE_CASES` says how many cases are tried.
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
from quire.core.types import NO_FILTER, OWNER, Document, Event, Filter, Viewer
from quire.store import open_store

from .answers import Questions, ask_everything, text, without_messages
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
    FILTERS,
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
class HiddenChange:
    """A change of a document that the viewer may not read."""

    kind: str
    what: Document
    number: int


@dataclass(frozen=True)
class World:
    viewer: Viewer
    history: list[list[Write]]
    embedded: int
    """Every n-th text has a vector; 0: none has."""
    changes: list[list[HiddenChange]]
    queries: tuple[str, ...]
    where: Filter


def any_world(random: Random) -> World:
    """Return a random world; hypothesis may make the choices, too."""
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
        changes=[
            [any_change(random) for _ in range(random.randrange(1, 5))]
            for _ in range(random.choice((1, 1, 2)))
        ],
        queries=(any_text(random), "alpha cafe http"),
        where=random.choice(FILTERS[1:]),
    )


def any_change(random: Random) -> HiddenChange:
    return HiddenChange(
        random.choice(("put", "put", "remove", "update", "embed", "event", "merge")),
        any_document(random, SECRETS, (None,)),
        random.randrange(60),
    )


# --- what is done to both stores -----------------------------------------------------------------


def readable(space: Space, viewer: Viewer) -> set[str]:
    return {name for name, record in space.records.items() if may_read(viewer, space.acl(record))}


def resolve_viewer(store: ReferenceStore, viewer: Viewer) -> Viewer:
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


def writes_of(
    changes: Sequence[HiddenChange], viewer: Viewer, reference: ReferenceStore
) -> list[Write]:
    """Return writes that change only what the viewer may not read."""
    space_now = reference.space()
    may = readable(space_now, viewer)
    hidden = sorted({*SECRETS, *space_now.records} - may)
    acls = [acl for acl in OTHERS if not viewer.may_read(access_list(acl))]
    secrets = {chunk for name in hidden for chunk in space_now.chunks.get(name, ())}
    records = dict(space_now.records)
    writes: list[Write] = []
    for change in changes:
        name = hidden[change.number % len(hidden)]
        if change.kind == "update" and name in records:
            of = change.what.record
            known = replace(records[name], metadata=of.metadata, expires=of.expires)
            writes.append(Call("update", (known,)))
        elif change.kind in {"put", "remove"}:
            records.pop(name, None)  # as it was read, it is no longer there
        if change.kind == "put":
            secret = rename_document(change.what, name, acls[change.number % len(acls)])
            secrets |= set(secret.chunks)
            writes.append(Put(secret))
        elif change.kind == "remove":
            writes.append(Call("remove", ([name],)))
        elif change.kind == "event":
            actor = ACTORS[change.number % len(ACTORS)]
            others = sorted({*hidden, *may})
            target = name if actor == viewer.name else others[change.number % len(others)]
            writes.append(Call("put_events", ([Event(actor, "edit", target, change.number)],)))
        elif change.kind == "embed":
            # Also of texts that the viewer holds, too: it must not show that others hold them.
            vectors = {chunk.vector_key: vector_for(chunk.vector_key) for chunk in secrets}
            ids = [chunk.id for chunk in secrets]
            writes.append(Call("put_vectors", (MODEL, vectors, ids)))
    return writes


def rename_document(what: Document, name: str, acl: tuple[str, ...]) -> Document:
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
        metadata=what.record.metadata,
        expires=what.record.expires,
        origin=what.record.origin,
    )


def readable_part(space: Space, viewer: Viewer) -> Space:
    """Return a space with what the viewer may read, and nothing else."""
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


def answers(store: Store, viewer: Viewer, questions: Questions, space: str) -> str:
    with store.view(OWNER, space) as view:  # who reads more asks first: its results may be kept
        for k in questions.ks:
            view.semantic(questions.vectors[0], k)
    with store.view(viewer, space) as view:
        vectors = {name: data.hex() for name, data in view.vectors(questions.chunks).items()}
        return text({**ask_everything(view, questions), "vectors": vectors})


def check(world: World, store: Store, limits: Limits, space: str) -> None:
    reference = ReferenceStore(limits)
    begin(world, reference, store, space)
    viewer = resolve_viewer(reference, world.viewer)
    hidden = [change.what for changes in world.changes for change in changes]
    pieces = [chunk.id for chunks in reference.space().chunks.values() for chunk in chunks]
    pieces += [chunk.id for each in hidden for chunk in each.chunks]
    questions = Questions(
        queries=world.queries,
        vectors=(vector_for("question"),),
        filters=(NO_FILTER, world.where),
        ks=(2, 100),
        records=(*NAMES, *SECRETS),
        chunks=tuple(dict.fromkeys(pieces)),
    )
    alone = ReferenceStore(limits)
    for each, name in ((alone, "main"), (store, f"{space} alone")):
        with each.write(name) as writer:
            copy(readable_part(reference.space(), viewer), writer)
    before = answers(store, world.viewer, questions, space)
    assert before == answers(store, world.viewer, questions, f"{space} alone")
    assert without_messages(before) == without_messages(
        answers(alone, world.viewer, questions, "main")
    )
    for changes in world.changes:
        writes = writes_of(changes, viewer, reference)
        for each, name in ((reference, "main"), (store, space)):
            with each.write(name) as writer:
                for write in writes:
                    write(writer)
        if any(change.kind == "merge" for change in changes):
            store.merge(space)
        assert answers(store, world.viewer, questions, space) == before


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
    """Try few cases, but shrink one that fails."""
    check(any_world(random), store, small, f"tried {next(TRIED)}")


# --- what has a test of its own ------------------------------------------------------------------


def test_no_interference_by_what_i_did_to_what_i_may_no_longer_read(store: Store) -> None:
    """My own events on a secret record show in nothing, so they must not show in my root."""
    fill(store, document("secret", "x", acl=("bob",)), document("open", "x"))
    questions = Questions(records=("secret", "open"))
    before = answers(store, ALICE, questions, "main")
    with store.write() as writer:
        writer.put_events([Event("alice", "view", "secret", 1)])
    assert answers(store, ALICE, questions, "main") == before
    with store.write() as writer:
        writer.remove(["secret"])
    assert answers(store, ALICE, questions, "main") == before


def test_no_interference_by_a_text_that_somebody_else_has_embedded(store: Store) -> None:
    """Otherwise a guess could be checked: put it in, and see whether it has a vector at once."""
    secret = document("secret", "the password is hunter2", acl=("bob",))
    guess = document("guess", "the password is hunter2", acl=("alice",))
    fill(store, guess, space="without")
    fill(store, secret, embed=True)
    fill(store, guess)
    questions = Questions(records=("secret", "guess"))
    assert answers(store, ALICE, questions, "main") == answers(store, ALICE, questions, "without")


def test_no_interference_by_names_of_groups_and_rules(store: Store) -> None:
    fill(store, document("open", "x"))
    before = answers(store, ALICE, Questions(records=("open",)), "main")
    with store.write() as writer:
        writer.set_groups("config", {"dev": ["bob"]})
        put(writer, document("secret", "x", acl=("@dev",)))
        writer.set_note("key", "value")
    assert answers(store, ALICE, Questions(records=("open",)), "main") == before
    with store.view(OWNER) as view:
        assert view.status().records == 2
