"""Is every bad input answered by a result or an error that says what is wrong, in time?

`QUIRE_FUZZ` says how many inputs are made; `QUIRE_FUZZ_FIRST` with which number they begin, so that
one run continues another.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType

import pytest

from .targets import ALLOWED, TARGETS, Case, World, make_world

CASES = int(os.environ.get("QUIRE_FUZZ", "4000"))
FIRST = int(os.environ.get("QUIRE_FUZZ_FIRST", "0"))
LIMIT = 20.0
"""Seconds that no input of 20,000 bytes may take, however busy the machine is."""


class HangError(Exception):
    """An input took too long."""


@contextmanager
def watched() -> Iterator[None]:
    """Interrupt what takes too long."""

    def give_up(_: int, __: FrameType | None) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, give_up)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base) as folder, make_world(Path(folder)) as made:
        yield made


def run(name: str, case: Case, numbers: range) -> tuple[int, int]:
    """Run cases by their numbers; return how many were taken and how many refused."""
    taken = refused = 0
    for number in numbers:
        signal.setitimer(signal.ITIMER_REAL, LIMIT)
        try:
            case(Random(f"{name} {number}"))
        except ALLOWED:
            refused += 1
        except BaseException as error:
            error.add_note(f"target {name!r}, case {number}")
            raise
        else:
            taken += 1
    return taken, refused


@pytest.mark.parametrize("name", TARGETS)
def test_bad_input_is_answered(name: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.tree.root)
    count = max(20, CASES * TARGETS[name].share // 1000)
    case = TARGETS[name].prepare(world)
    start = time.monotonic()
    with watched():
        taken, refused = run(name, case, range(FIRST, FIRST + count))
    seconds = time.monotonic() - start
    print(f"{name}: {count} inputs, {taken} taken, {refused} refused, {seconds:.0f} s", flush=True)  # noqa: T201 - counts of a soak
    assert taken + refused == count


def test_the_shares_are_a_thousand() -> None:
    assert sum(target.share for target in TARGETS.values()) == 1000
