"""One worker process of the service: the open store, and the threads that answer requests."""

from __future__ import annotations

import asyncio
import contextvars
import json
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from quire.engine import Quire, open_quire
from quire.errors import QuireError
from quire.server import metrics
from quire.server.jobs import Jobs
from quire.server.journal import Journal, journal_file
from quire.server.limits import Limits
from quire.system import clock, platform, tracing

Result = TypeVar("Result")
TIDY_SECONDS = 60.0
"""How often memory that is free is given back to the system."""
READY_SECONDS = 1.0
"""For so long it is not asked again whether the store can be read."""


class BusyError(QuireError):
    """Too many requests wait already."""


class LateError(QuireError):
    """A request took longer than it may."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a service was started; each worker process gets it as JSON."""

    store: str | None = None
    space: str | None = None
    host: str = "127.0.0.1"
    port: int = 8642
    workers: int = 1
    no_token: bool = False
    allow_hosts: tuple[str, ...] = ()
    log_json: bool = False
    limits: Limits = field(default_factory=Limits)

    def to_json(self) -> str:
        """Write the settings."""
        names = [name for name in self.__slots__ if name != "limits"]
        values = {name: getattr(self, name) for name in names}
        limits = {name: getattr(self.limits, name) for name in self.limits.__slots__}
        return json.dumps({**values, "limits": limits})

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Read the settings."""
        values = json.loads(text)
        values["limits"] = Limits(**values["limits"])
        values["allow_hosts"] = tuple(values["allow_hosts"])
        return cls(**values)


class Service:
    """The open store with what the endpoints need, and threads for their work."""

    def __init__(self, settings: Settings, quire: Quire | None = None) -> None:
        self.settings = settings
        self.quire = quire or open_quire(store=settings.store, space=settings.space, create=False)
        self.journal = Journal(
            journal_file(self.quire.config, os.environ), self.quire.config.audit.receipt_bytes
        )
        self.jobs = Jobs(self.quire, self.journal)
        self._threads = ThreadPoolExecutor(settings.limits.running, "quire")
        self._waiting = 0
        self._probe: asyncio.Task[bool] | None = None
        self._probed = float("-inf")

    def close(self) -> None:
        """Finish what runs, and close the store."""
        self.jobs.stop(self.settings.limits.grace / 2)
        self._threads.shutdown(wait=True)
        self.journal.close()
        self.quire.close()
        tracing.flush()

    async def run(self, job: Callable[[], Result]) -> Result:
        """Run a job in a thread; refuse it if too many wait, and give up on it if it takes long.

        A job that is given up still ends: its thread is free again only then.
        """
        limits = self.settings.limits
        if self._waiting >= limits.waiting + limits.running:
            raise BusyError("the service is busy", hint="try again in a second")
        self._waiting += 1
        metrics.WAITING.inc()
        future = asyncio.get_running_loop().run_in_executor(
            self._threads, contextvars.copy_context().run, job
        )
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(future), limits.seconds)
        except TimeoutError:
            future.add_done_callback(_forget)
            raise LateError(
                f"the answer took longer than {limits.seconds:g} seconds",
                hint="ask for less, or allow more with `quire serve --time-limit`",
            ) from None

    @asynccontextmanager
    async def tidying(self) -> AsyncIterator[None]:
        """Give memory that is free back to the system now and then."""
        task = asyncio.create_task(_tidy())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def is_ready(self) -> bool:
        """Tell whether the store can be read.

        Anyone may ask, without a token: so the store is asked once a second at most, by one thread.
        """
        probe = self._probe
        if probe is None or (
            probe.done() and clock.seconds_passed() - self._probed >= READY_SECONDS
        ):
            probe = self._probe = asyncio.create_task(self._read_store())
        return await asyncio.shield(probe)

    async def _read_store(self) -> bool:
        try:
            await self.run(self.quire.roots)
        except QuireError:
            return False
        finally:
            self._probed = clock.seconds_passed()
        return True

    def _done(self, _: object) -> None:
        self._waiting -= 1
        metrics.WAITING.dec()


async def _tidy() -> None:
    while True:
        await asyncio.sleep(TIDY_SECONDS)
        await asyncio.to_thread(platform.return_free_memory)


def _forget(future: asyncio.Future[Result]) -> None:
    """Take the error of a job that nobody waits for."""
    if not future.cancelled():
        future.exception()
