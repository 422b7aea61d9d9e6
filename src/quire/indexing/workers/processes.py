"""Workers on this machine: a pool of processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

from quire.core.types import FileEntry, IngestSettings, Skipped
from quire.errors import EmbedError
from quire.indexing.workers.contract import (
    LOST,
    TRIES,
    Content,
    Task,
    Worker,
    WorkerSettings,
    in_order,
)

AHEAD = 4
"""So many tasks are under way for each process."""
ArgsP = ParamSpec("ArgsP")
ResultT = TypeVar("ResultT")
_worker: list[Worker] = []
"""The worker of this process, in the processes of a pool."""


def _freeze(mapping: dict[str, Any]) -> MappingProxyType[str, Any]:
    return MappingProxyType(mapping)


def _reduce(mapping: MappingProxyType[str, Any]) -> tuple[Any, ...]:
    return _freeze, (dict(mapping),)


ForkingPickler.register(MappingProxyType, _reduce)  # frozen values hold such mappings


def _start(settings: WorkerSettings) -> None:
    _worker[:] = [Worker(settings)]


def _read(path: str, data: bytes, settings: IngestSettings) -> Content:
    return _worker[0].read(path, data, settings)


def _embed(texts: Sequence[str], model: str) -> list[bytes]:
    return _worker[0].embed(texts, model)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Let processes that the block starts hear no Ctrl-C, which a terminal sends to all.

    They are ended by this process; otherwise each would write where it was at that moment.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ProcessWorkers:
    """A pool of processes; one that ends takes the pool with it, which is then started again."""

    def __init__(self, settings: WorkerSettings, count: int) -> None:
        self.count = count
        # One thread each: as many texts are embedded at once as there are processes.
        self._settings = replace(settings, embed=replace(settings.embed, threads=1))
        self._pool = self._open(count)

    def read(
        self, tasks: Iterable[Task], settings: IngestSettings
    ) -> Iterator[tuple[FileEntry, Content]]:
        """Read files; yield them in their order."""

        def submit(task: Task) -> Future[Content]:
            return self._submit(_read, task.file.path, task.data, settings)

        def wait(task: Task, future: Future[Content]) -> Content:
            try:
                return future.result()
            except BrokenProcessPool:
                content = self._try_alone(_read, task.file.path, task.data, settings)
                return content or Skipped(task.file.path, LOST.format(TRIES))

        for task, content in in_order(tasks, submit, wait, self.count * AHEAD):
            yield task.file, content

    def embed(self, batches: Iterable[Sequence[str]], model: str) -> Iterator[list[bytes]]:
        """Embed batches of texts; yield their vectors in order."""

        def submit(texts: Sequence[str]) -> Future[list[bytes]]:
            return self._submit(_embed, texts, model)

        def wait(texts: Sequence[str], future: Future[list[bytes]]) -> list[bytes]:
            try:
                return future.result()
            except BrokenProcessPool:
                vectors = self._try_alone(_embed, texts, model)
                if vectors is None:
                    raise EmbedError(
                        f"workers ended while they embedded, {TRIES} times",
                        hint="there may be too little memory: try fewer processes",
                    ) from None
                return vectors

        for _, vectors in in_order(batches, submit, wait, self.count * AHEAD):
            yield vectors

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(cancel_futures=True)

    def _open(self, count: int) -> ProcessPoolExecutor:
        spawn = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(count, spawn, _start, (self._settings,))

    def _submit(
        self, work: Callable[ArgsP, ResultT], *args: ArgsP.args, **named: ArgsP.kwargs
    ) -> Future[ResultT]:
        with _no_interrupts():  # the pool starts its processes with its first tasks
            try:
                return self._pool.submit(work, *args, **named)
            except BrokenProcessPool:  # by another task; whoever waits for that tries it alone
                self._pool.shutdown()
                self._pool = self._open(self.count)
                return self._pool.submit(work, *args, **named)

    def _try_alone(
        self, work: Callable[ArgsP, ResultT], *args: ArgsP.args, **named: ArgsP.kwargs
    ) -> ResultT | None:
        """Do work in a process of its own, so that it ends no other; None if each of them ends.

        The pool has broken, for this task or for another one: the first try was not its own.
        """
        for _ in range(TRIES):
            with self._open(1) as alone:
                with _no_interrupts():
                    future = alone.submit(work, *args, **named)
                try:
                    return future.result()
                except BrokenProcessPool:
                    continue
        return None
