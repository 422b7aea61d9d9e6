"""Comparing two worlds, and saying in which answers they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

import pytest

from quire.indexing.project import Project
from tests.conftest import Tree
from tests.word_model import WordModel

from .faces import look
from .worlds import SECRET, TOKEN, VERA, Deed, World, act, do, fill

FORBIDDEN = (SECRET, TOKEN, "zoe", "link:")
MOST = 20
"""So many differences are told at most."""


@contextmanager
def worlds(folder: Path, *, pending: bool = False) -> Iterator[tuple[World, World]]:
    """Open two worlds that hold the same; their projects have the same name."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(Project, "embedder", lambda _: WordModel(16))
        pair = []
        for name in ("bare", "busy"):
            tree = Tree(folder / name / "project")
            opened = stack.enter_context(tree.open())
            world = World(tree, opened, folder / name / "vault")
            fill(world, pending=pending)
            pair.append(world)
        yield pair[0], pair[1]


def differences(bare: World, busy: World, deeds: Sequence[Deed], most: int = MOST) -> list[str]:
    """Return the first questions whose answers tell of what the viewer may not read."""
    return list(islice(_differences(bare, busy, deeds), most))


def _differences(bare: World, busy: World, deeds: Sequence[Deed]) -> Iterator[str]:
    def see(world: World) -> dict[str, str]:
        return look(world.tree, world.opened, VERA, ids)

    ids = [*busy.made.values(), "note", "board", "h1", "h2", "0" * 32]
    yield from _compare("at first", see(bare), see(busy))
    do(busy, deeds)
    ids += [name for name in busy.made.values() if name not in ids]
    yield from _compare("after others wrote", see(bare), see(busy))
    told = [{str(n): told for n, told in enumerate(act(world))} for world in (bare, busy)]
    yield from _compare("told", told[0], told[1])
    yield from _compare("after the viewer wrote", see(bare), see(busy))


def _compare(when: str, one: dict[str, str], other: dict[str, str]) -> Iterator[str]:
    for name, told in other.items():
        if one[name] != told:
            yield f"{when}: {name}"
        for word in FORBIDDEN:
            if word in told:
                yield f"{when}: {name}: {word}"
