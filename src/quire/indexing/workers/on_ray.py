"""Workers on a Ray cluster: actors, one for each core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from quire.core.types import FileEntry, IngestSettings, Skipped
from quire.errors import EmbedError, EndpointError, QuireError
from quire.indexing.workers.contract import (
    LOST,
    TRIES,
    Content,
    Task,
    Worker,
    WorkerSettings,
    in_order,
)
from quire.system import ray_cluster

AHEAD = 4
"""So many tasks are under way for each worker."""
INSTALL = "install the same version of Quire on every machine of the cluster"


class RayWorkers:
    """Actors of a cluster, asked in turn; Ray starts one again that ends."""

    def __init__(self, settings: WorkerSettings, address: str) -> None:
        """Join the cluster at an address; without one, that of RAY_ADDRESS, or a new one here."""
        self._started = ray_cluster.join(address)
        # One thread each: as many texts are embedded at once as there are workers.
        settings = replace(settings, embed=replace(settings.embed, threads=1))
        resources = ray_cluster.resources()
        self.count = max(1, int(resources.get("CPU", 1)))
        # An actor that asks for no share of a GPU is shown none.
        gpus = resources.get("GPU", 0) if settings.embed.device != "cpu" else 0
        remote = ray.remote(
            max_restarts=-1, max_task_retries=0, num_cpus=1, num_gpus=min(1, gpus / self.count)
        )(Worker)
        self._actors: list[Any] = [remote.remote(settings) for _ in range(self.count)]
        self._turn = count()

    def read(
        self, tasks: Iterable[Task], settings: IngestSettings
    ) -> Iterator[tuple[FileEntry, Content]]:
        """Read files; yield them in their order."""

        def submit(task: Task) -> Any:
            return self._next().read.remote(task.file.path, task.data, settings)

        def wait(task: Task, pending: Any) -> Content:
            content: Content | None = self._wait(pending, lambda: submit(task))
            return content or Skipped(task.file.path, LOST.format(TRIES))

        for task, content in in_order(tasks, submit, wait, self.count * AHEAD):
            yield task.file, content

    def embed(self, batches: Iterable[Sequence[str]], model: str) -> Iterator[list[bytes]]:
        """Embed batches of texts; yield their vectors in order."""

        def submit(texts: Sequence[str]) -> Any:
            return self._next().embed.remote(texts, model)

        def wait(texts: Sequence[str], pending: Any) -> list[bytes]:
            vectors: list[bytes] | None = self._wait(pending, lambda: submit(texts))
            if vectors is None:
                raise EmbedError(
                    f"workers ended while they embedded, {TRIES} times",
                    hint="there may be too little memory on the machines of the cluster",
                )
            return vectors

        for _, vectors in in_order(batches, submit, wait, self.count * AHEAD):
            yield vectors

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        for actor in self._actors:
            ray.kill(actor)
        self._actors = []
        if self._started:
            ray.shutdown()

    def _next(self) -> Any:
        return self._actors[next(self._turn) % self.count]

    def _wait(self, pending: Any, again: Callable[[], Any]) -> Any:
        """Return the result of a task; None if every worker that has it ends."""
        for tries in range(1, TRIES + 1):
            try:
                return ray.get(pending)
            except RayActorError:
                if tries < TRIES:
                    pending = again()
            except RayTaskError as error:
                cause = error.cause
                if isinstance(cause, QuireError):
                    raise cause from error
                raise EndpointError(
                    f"a worker failed: {ray_cluster.first_line(cause or error)}", hint=INSTALL
                ) from error
        return None
