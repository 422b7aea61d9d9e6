"""After every change, access in every tree follows from the tree as it then is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from quire import Block, Quire, QuireError, RemovedBlocks
from quire.core.serialize import to_plain
from quire.core.types import OWNER
from tests.store.answers import Questions, ask_everything, text

from .reference import GROUPS, LISTS, NAMES, VIEWERS, Reference, any_block, any_tree

SPACES = count()


def cases(number: int) -> Callable[[Callable[[Random], None]], Callable[[], None]]:
    """Run something for so many cases; one that fails is named."""

    def repeat(run: Callable[[Random], None]) -> Callable[[], None]:
        def all_of_them() -> None:
            for case in range(number):
                try:
                    run(Random(case))
                except AssertionError as error:
                    error.add_note(f"case {case} of {number}")
                    raise

        return all_of_them

    return repeat


def check(quire: Quire, known: Reference) -> None:
    """Compare all that can be read with what the reference says."""
    with quire.store.view(OWNER, quire.config.space) as view:
        records = {record.id: record for record in view.listing()}
        assert set(records) == set(known.blocks)
        for name, record in records.items():
            assert record.acl == known.access(name), name
            assert {one.title for one in view.chunks_of(name)} <= {known.title(name)}, name
    for viewer in VIEWERS:
        with quire.store.view(viewer, quire.config.space) as view:
            assert {record.id for record in view.listing()} == known.readable(viewer)
            for name in NAMES:
                found = [one.id for one in view.children([name])]
                assert found == known.children(viewer, name)
            found_links = {(one.source, one.target) for one in view.links(NAMES)}
            assert found_links == known.links(viewer)


def put(quire: Quire, known: Reference, blocks: list[Block]) -> None:
    after = Reference({**known.blocks, **{one.id: one for one in blocks}}, known.groups)
    if after.in_circle():
        with pytest.raises(QuireError, match="would be inside itself"):
            quire.blocks.put(blocks, at=3, events=())
    else:
        quire.blocks.put(blocks, at=3, events=())
        known.blocks = {name: quire.blocks.get(name) for name in after.blocks}


def change(quire: Quire, known: Reference, random: Random) -> None:
    deed = random.choice(("put", "put", "edit", "move", "share", "share", "delete", "groups"))
    if deed == "put":
        names = random.sample(NAMES, random.randrange(1, 4))
        put(quire, known, [any_block(random, name) for name in names])
    elif deed == "groups":
        known.groups = random.choice(GROUPS)
        quire.access.set_groups(known.groups)
    elif known.blocks:
        name = random.choice(sorted(known.blocks))
        if deed == "edit":
            known.blocks[name] = quire.blocks.edit(name, at=4, text=random.choice(NAMES)).value
        elif deed == "share":
            known.blocks[name] = quire.blocks.share(name, random.choice(LISTS), at=5).value
        elif deed == "delete":
            gone = {one.id for one in quire.blocks.delete(name)}
            assert gone == {name} | known.below(name)
            known.blocks = {key: one for key, one in known.blocks.items() if key not in gone}
        else:
            parent = random.choice((None, *sorted(known.blocks)))
            with suppress(QuireError):
                known.blocks[name] = quire.blocks.move(name, parent, at=6).value
            assert not known.in_circle()


def test_effective_access_is_what_the_tree_says(opened: Quire) -> None:
    @cases(60)
    def run(random: Random) -> None:
        space = f"case {next(SPACES)}"

        opened.config = replace(opened.config, space=space)
        known = Reference()
        put(opened, known, any_tree(random, 6))
        for _ in range(random.randrange(8)):
            change(opened, known, random)
        check(opened, known)
        # The way it came to be leaves no trace: the same blocks at once give the same roots.
        opened.config = replace(opened.config, space=f"{space} at once")
        opened.access.set_groups(known.groups)
        opened.blocks.put(known.blocks.values(), at=9, events=())
        for viewer in VIEWERS:
            with (
                opened.store.view(viewer, space) as one,
                opened.store.view(viewer, f"{space} at once") as other,
            ):
                assert one.roots() == other.roots()

    run()
    assert opened.store.check() == []


def test_deleted_and_restored_nothing_has_changed(opened: Quire) -> None:
    @cases(50)
    def run(random: Random) -> None:

        opened.config = replace(opened.config, space=f"case {next(SPACES)}")
        known = Reference()
        put(opened, known, any_tree(random, 8))
        names = sorted(known.blocks)
        opened.blocks.view(random.choice(names), at=7)
        before = opened.status().roots
        gone: list[RemovedBlocks] = []
        for name in random.sample(names, 2):
            with suppress(QuireError):  # the first may have held the second
                gone.append(opened.blocks.delete(name))
        for one in reversed(gone) if random.randrange(2) else gone:
            opened.blocks.put(one.blocks, at=99, events=one.events)
        assert opened.status().roots == before
        check(opened, known)

    run()
    assert opened.store.check() == []


# --- what may not be read changes nothing --------------------------------------------------------


def told(quire: Quire, number: int) -> str:
    asked = Questions(queries=("tide rope keel mast secret",), records=(*NAMES, "s0", "s1"))
    with quire.store.view(VIEWERS[number], quire.config.space) as view:
        answers_by_viewer = ask_everything(view, asked)
    listed = [(depth, to_plain(one)) for depth, one in quire.blocks.tree(viewer=VIEWERS[number])]
    return text([answers_by_viewer, str(listed)])


def hidden_deed(quire: Quire, known: Reference, random: Random, number: int) -> None:
    """Do something that touches only what one viewer may not read, before and after."""
    viewer = VIEWERS[number]
    hidden = sorted(set(known.blocks) - known.readable(viewer))
    alone = [name for name in hidden if not known.below(name) & known.readable(viewer)]
    deed = random.choice(("put", "edit", "view", "delete", "move"))
    if deed == "put":
        name = random.choice(("s0", "s1"))
        parent = random.choice((None, *sorted(set(known.blocks) - {name} - known.below(name))))
        held = known.below(name) if name in known.blocks else set()
        if not held & known.readable(viewer):
            block = Block(name, "page", "Secret", parent, access=("user:mallory",), links=NAMES[:3])
            known.blocks[name] = quire.blocks.put([block], at=50).value[0]
    elif deed == "edit" and hidden:
        name = random.choice(hidden)
        words = random.choice(("Secret plan", "Secret tide"))
        known.blocks[name] = quire.blocks.edit(name, at=51, text=words).value
    elif deed == "view" and hidden:
        quire.blocks.view(random.choice(hidden), at=52)
    elif deed == "delete" and alone:
        gone = {one.id for one in quire.blocks.delete(random.choice(alone))}
        known.blocks = {key: one for key, one in known.blocks.items() if key not in gone}
    elif deed == "move" and alone:
        name = random.choice(alone)
        block = known.blocks[name]
        if block.access is not None:  # it takes its readers along
            with suppress(QuireError):
                known.blocks[name] = quire.blocks.move(
                    name, random.choice(sorted(known.blocks)), at=53
                ).value


def test_what_may_not_be_read_changes_nothing(opened: Quire) -> None:
    @cases(40)
    def run(random: Random) -> None:

        opened.config = replace(opened.config, space=f"case {next(SPACES)}")
        number = random.randrange(len(VIEWERS))
        known = Reference()
        put(opened, known, any_tree(random, 8))
        before = told(opened, number)
        for _ in range(5):
            hidden_deed(opened, known, random, number)
            assert told(opened, number) == before

    run()
    assert opened.store.check() == []
