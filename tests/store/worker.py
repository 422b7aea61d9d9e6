"""Jobs that other processes do to a store, started by tests as `python -m store.worker`.

Each job takes the store's path first and tells what it did on standard output, line by line;
those that wait do so for a line on standard input.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from quire.core import merkle
from quire.core.protocols import View
from quire.core.types import OWNER
from quire.errors import QuireError
from quire.store import open_store
from quire.store.shards.contract import Call

from .samples import document, fill, put, vectors_of


def say(*what: object) -> None:
    print(*what, flush=True)  # noqa: T201 - this is how it answers


def write_in_step(path: Path, stop: str) -> None:
    """Update two records together, while others come and go, until a file says stop."""
    store = open_store(path)
    for number in count():
        if Path(stop).exists():
            say(number - 1)
            break
        pair = [document(name, f"alpha step{number}", f"{name} tail") for name in ("left", "right")]
        with store.write() as writer:
            put(writer, pair[0], document(f"x{number % 5}", f"alpha other{number}"))
            writer.remove([f"x{(number + 2) % 5}"])
            put(writer, pair[1])
            writer.put_vectors("tiny/8", vectors_of(pair))
        if number % 7 == 3:
            store.merge()
    store.close()


def read_in_step(path: Path, wanted: str) -> None:
    """Check by every method that the two records are equal, in so many states."""
    store = open_store(path)
    states: set[str] = set()
    while len(states) < int(wanted):
        with store.view(OWNER) as view:
            states.add(view.roots().state)
            if list(view.listing()):
                check_in_step(view)
    say("saw", len(states))
    store.close()


def check_in_step(view: View) -> None:
    left, right = view.chunks_of("left")[0], view.chunks_of("right")[0]
    assert left.text == right.text, (left, right)
    hits = view.lexical(left.text.split()[1], 10).hits
    assert {hit.id for hit in hits} == {left.id, right.id}, (left.text, hits)
    assert len(view.lexical("alpha", 99).hits) == view.status().chunks - 2
    embedded = {hit.id for hit in view.semantic(bytes(8), 99).hits}
    assert {left.id, right.id} <= embedded
    assert len(embedded) == view.status().vectors
    assert view.chunks([left.id, right.id]) == [left, right]
    assert merkle.verify(view.prove(left.id), left, view.roots().content)


def write_own(path: Path, prefix: str, times: str) -> None:
    """Write records one by one, each in a transaction of its own."""
    store = open_store(path)
    for number in range(int(times)):
        fill(store, document(f"{prefix}{number}", f"alpha {prefix} word{number}"), embed=True)
        say(f"{prefix}{number}")
    store.close()


def write_on(path: Path) -> None:
    """Write until killed; print what was committed."""
    store = open_store(path)
    with store.view(OWNER) as view:
        number = view.status().records
    while True:
        fill(store, document(f"d{number}", f"alpha word{number}", f"tail {number}"), embed=True)
        say(number)
        number += 1
        if number % 10 == 0:
            store.merge()


def commit_and_die(path: Path, name: str, commits: str) -> None:
    """Write into all shards, and be killed as a machine would before so many of their commits."""
    from quire.store.shards import local

    left = int(commits)
    calls = local.LocalShards.call

    def call(shards: local.LocalShards, asked: Sequence[Call]) -> list[Any]:
        nonlocal left
        results = []
        for each in asked:
            if each[1] == "commit":
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
            results += calls(shards, [each])
        return results

    store = open_store(path)
    local.LocalShards.call = call  # type: ignore[assignment,method-assign] # it is about to be killed
    fill(store, *(document(f"{name}{number}", f"alpha {name}") for number in range(24)), embed=True)
    say("committed")


def purge_on(path: Path) -> None:
    """Add and purge until killed."""
    store = open_store(path)
    number = 0
    while True:
        fill(store, document(f"p{number}", f"alpha purged{number}"), embed=True)
        store.purge([f"p{number}"])
        say(number)
        number += 1


def hold_write(path: Path) -> None:
    """Hold the write transaction until a line comes."""
    store = open_store(path)
    with store.write() as writer:
        put(writer, document("held", "alpha"))
        say("holding")
        sys.stdin.readline()
    say("committed")
    store.close()


def try_write(path: Path, wait: str) -> None:
    """Write once, and wait so long at most."""
    store = open_store(path, wait=float(wait))
    begun = time.monotonic()
    try:
        fill(store, document("tried", "alpha"))
        say("written")
    except QuireError as error:
        say(type(error).__name__, f"{time.monotonic() - begun:.1f}", error)
    store.close()


def hold_view(path: Path) -> None:
    """Hold a snapshot until a line comes."""
    store = open_store(path)
    with store.view(OWNER) as view:
        say("holding", view.status().records)
        sys.stdin.readline()
        say("still", view.status().records)
    store.close()


def look(path: Path) -> None:
    """Open a view for each line, and print its counts by every method."""
    store = open_store(path)
    say("ready")
    for _ in sys.stdin:
        with store.view(OWNER) as view:
            words, near = view.lexical("alpha", 999).hits, view.semantic(bytes(8), 999).hits
            say(view.status().records, len(words), len(near), view.roots().state)
    store.close()


def make(path: Path) -> None:
    """Open a store that others may create at the same time."""
    sys.stdin.readline()
    store = open_store(path)
    fill(store, document(f"made by {time.monotonic_ns()}", "alpha"))
    say("made")
    store.close()


def fill_up(path: Path) -> None:
    """Write until it fails; print what was committed, and the error."""
    number = 0
    try:
        store = open_store(path)
        while True:
            fill(store, document(f"d{number}", f"alpha {number} " * 500), embed=True)
            number += 1
    except QuireError as error:
        say(number, type(error).__name__, error)


if __name__ == "__main__":
    job, where, *rest = sys.argv[1:]
    globals()[job](Path(where), *rest)
