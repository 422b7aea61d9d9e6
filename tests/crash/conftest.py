"""What do tests that kill processes share?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Forest


@dataclass(frozen=True, slots=True)
class Life:
    """What a worker told in its life, and how it ended (negative: the signal that killed it)."""

    events: tuple[tuple[str, ...], ...]
    code: int

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL

    @property
    def inside(self) -> bool:
        """Whether it died within a write transaction."""
        told = [event[0] for event in self.events if event[0] in {"enter", "leave"}]
        return bool(told) and told[-1] == "enter"

    @property
    def kept(self) -> set[str]:
        """The files that it acknowledged."""
        return {path for event in self.events if event[0] == "kept" for path in event[1:]}


def kills(default: int, share: float) -> int:
    """Return how often to kill: a few times, or a share of what `QUIRE_KILLS` asks for."""
    return max(default, int(share * int(os.environ.get("QUIRE_KILLS", "0"))))


class Executioner:
    """Runs jobs in processes of their own, and kills them."""

    def __init__(self) -> None:
        script = str(Path(__file__).with_name("child.py"))
        self._parent = subprocess.Popen(
            [sys.executable, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # threads and forks do not mix
        )

    def run(
        self, job: dict[str, Any], when: Callable[[int, str], bool] | None = None, delay: float = 0
    ) -> Life:
        """Run a job; kill it a little after `when` says so of an event and its number."""
        assert self._parent.stdin is not None
        self._parent.stdin.write(json.dumps(job).encode() + b"\n")
        self._parent.stdin.flush()
        events: list[tuple[str, ...]] = []
        worker: int | None = None
        due = False
        for event in self._events():
            if event[0] == "dead":
                return Life(tuple(events), int(event[1]))
            if event[0] == "pid":
                worker = int(event[1])
            else:
                events.append(event)
                due = due or (when is not None and when(len(events), event[0]))
            if due and worker is not None:
                if delay:
                    time.sleep(delay)
                with suppress(ProcessLookupError):  # it may have come to its end before
                    os.kill(worker, signal.SIGKILL)
                when, due = None, False
        raise AssertionError("the parent of the workers has ended")

    def _events(self) -> Iterator[tuple[str, ...]]:
        assert self._parent.stdout is not None
        for line in self._parent.stdout:
            yield tuple(line.decode().rstrip("\n").split("\t"))

    def close(self) -> None:
        assert self._parent.stdin is not None
        self._parent.stdin.close()
        self._parent.wait(60)
        assert self._parent.stdout is not None
        self._parent.stdout.close()


@pytest.fixture
def plant(plant: Forest) -> Iterator[Forest]:
    """Make projects in memory where that can be: a kill asks nothing of the disk."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield plant
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield type(plant)(Path(folder))


@pytest.fixture(scope="session")
def executioner() -> Iterator[Executioner]:
    one = Executioner()
    yield one
    one.close()
