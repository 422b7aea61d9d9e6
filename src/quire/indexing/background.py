"""Work on a store that outlives the command that asked for it: vectors, and a watch.

Each kind of work is done by one process per store. A lock says whether it runs, and is free when
that process ends, however it ends; what it did not finish is done by the next one. Its last words,
if it fails, are in a log beside the lock.
"""

from __future__ import annotations

import json
import os
import select
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from quire.config import Config
from quire.core import hashing
from quire.core.types import IndexResult
from quire.errors import InputError
from quire.system import clock, platform, runtime

VECTORS = "vectors"
WATCH = "watch"
MODULE = "quire.cli.background"
SWITCH = "QUIRE_BACKGROUND"
"""A variable: with `0`, nothing is started in the background that was not asked for by name."""
READY = "ready"
"""What a watch says when it has begun."""
GATHER_SECONDS = 30.0
START_SECONDS = 30.0
STOP_SECONDS = 10.0
MAX_LOG = 4096
"""Bytes of a log that are read."""


@dataclass(frozen=True, slots=True)
class Job:
    """Work on one store."""

    kind: str
    root: str
    store: str
    space: str
    paths: tuple[str, ...] = ()
    embed: bool = True
    delay: float = 0.0
    """Seconds to wait first, for more of the same."""

    @property
    def folder(self) -> Path:
        """The folder of its lock and its log; raises `InputError` where there can be none."""
        folder = runtime.folder(os.environ)
        if folder is None or not runtime.can_lock():
            raise InputError(
                "nothing can run in the background here: there is no folder that only you can enter"
                if runtime.can_lock()
                else "nothing can run in the background on this system",
                hint="run it in a terminal, without --background or --daemon",
            )
        return folder

    def file(self, end: str) -> Path:
        """Return a file of it: its lock, its log."""
        return self.folder / f"{self.kind}-{hashing.identifier('job', self.store)[:16]}.{end}"

    @property
    def lock(self) -> runtime.Lock:
        """The lock that the process has which does it."""
        return runtime.Lock(self.file("lock"))

    @property
    def queue(self) -> runtime.Lock:
        """The lock that the process has which does it next."""
        return runtime.Lock(self.file("next"))

    def to_json(self) -> str:
        """Return it as an argument of the process that does it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Read such an argument."""
        data = json.loads(text)
        return cls(**{**data, "paths": tuple(data["paths"])})


@dataclass(frozen=True, slots=True)
class JobState:
    """Whether work on a store goes on."""

    process: int | None = None
    """The process that does it; None: nobody does."""
    failure: str = ""
    """Why it ended last, if it failed."""


def wants_background(environment: Mapping[str, str]) -> bool:
    """Tell whether processes may be started that nobody asked for by name."""
    return environment.get(SWITCH, "") != "0" and runtime.can_lock()


def state_of(job: Job) -> JobState:
    """Return whether somebody does a job."""
    try:
        process = job.lock.holder() or job.queue.holder()
        if process is not None:
            return JobState(process)
        content, _ = platform.read_regular(job.file("log"))
    except (OSError, InputError):
        return JobState()
    lines = content[-MAX_LOG:].decode("utf-8", "replace").strip().splitlines()
    return JobState(failure=lines[-1] if lines else "")


def start_vectors(job: Job) -> bool:
    """Let a process make the missing vectors; return whether one was started.

    If one is at it and another one waits for it, they will do.
    """
    if job.queue.holder() is not None:
        return False
    _start(job)
    return True


def embed_later(settings: Config, root: Path, result: IndexResult) -> bool:
    """Let a process make the vectors of what was just read, if others have theirs.

    It waits a while for more of the same, so that a series of edits loads the model once.
    """
    has_vectors = 0 < result.missing_vectors < result.chunks
    if (
        settings.server
        or not has_vectors
        or settings.embed.provider == "none"
        or not wants_background(os.environ)
    ):
        return False
    job = make_job(VECTORS, root, settings.store, settings.space, delay=GATHER_SECONDS)
    try:
        return start_vectors(job)
    except (InputError, OSError):  # the next `quire index` makes them
        return False


def start_watch(job: Job) -> int:
    """Let a process keep the store in step with its files; return its id."""
    running = job.lock.holder()
    if running is not None:
        raise InputError(
            f"process {running} watches this store already", hint="end it with `quire watch --stop`"
        )
    reading, writing = os.pipe()
    try:
        _start(job, writing)
    finally:
        os.close(writing)
    try:
        said = _first_line(reading)
    finally:
        os.close(reading)
    process = job.lock.holder()
    if said != READY or process is None:
        raise InputError(f"the watch did not begin: {said or 'it says nothing'}")
    return process


def stop(job: Job) -> int | None:
    """End the process that does a job; return its id, or None if nobody does it."""
    process = job.lock.holder()
    if process is None:
        return None
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
    until = clock.seconds_passed() + STOP_SECONDS
    while job.lock.holder() == process:
        if clock.seconds_passed() > until:
            raise InputError(f"process {process} does not end", hint="end it by its id")
        clock.sleep(0.05)
    return process


def _start(job: Job, output: int | None = None) -> None:
    place, log = job.folder, job.file("log")
    platform.create_private(log)
    handle = os.open(log, os.O_WRONLY | os.O_TRUNC)
    try:
        runtime.start(MODULE, [job.to_json()], place, handle if output is None else output)
    finally:
        os.close(handle)


def _first_line(reading: int) -> str:
    """Read one line from a process that starts."""
    data = b""
    until = clock.seconds_passed() + START_SECONDS
    while not data.endswith(b"\n"):
        left = max(0.0, until - clock.seconds_passed())
        if not select.select([reading], [], [], left)[0]:
            break
        block = os.read(reading, MAX_LOG)
        if not block:
            break
        data += block
    return data.decode("utf-8", "replace").strip()


def make_job(
    kind: str,
    root: Path,
    store: Path,
    space: str,
    *,
    paths: Sequence[str] = (),
    embed: bool = True,
    delay: float = 0.0,
) -> Job:
    """Return the work of a kind on a store."""
    return Job(kind, str(root), str(store.absolute()), space, tuple(paths), embed, delay)
