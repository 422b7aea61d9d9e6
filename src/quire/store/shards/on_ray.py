"""Shards in the actors of a Ray cluster, one for each; Ray starts one again that ends."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError

from quire.errors import InputError, QuireError, ShardError, StoreError, StoreInterruptedError
from quire.store.shards.contract import Call, ShardFile
from quire.store.shards.part import Part
from quire.system import ray_cluster

DEADLINE = 30.0
"""A shard that has not answered after so many seconds, its restart included, is absent."""
START_SECONDS = 120.0
"""So long may it take to start all of them: every process loads Ray and Quire."""
PAUSE = 0.1
BOUND = frozenset(
    {"ask", "ask_export", "open_entries", "open_places", "next_of_list", "change", "commit"}
)
"""Calls that mean what was opened before: a shard that was restarted knows nothing of it."""
INSTALL = "install the same version of Quire on every machine of the cluster"


class RayShards:
    """The shards of a store, each opened by an actor."""

    def __init__(self, files: Sequence[ShardFile], address: str, wait: float) -> None:
        """Join the cluster at an address and start an actor for each file."""
        self._started = ray_cluster.join(address)
        self._files = [*files]
        self._deadline = START_SECONDS
        self._closed = False
        # They claim no cores: workers that index on the same cluster must find theirs free.
        remote: Any = ray.remote(
            max_restarts=-1, max_task_retries=0, num_cpus=0, scheduling_strategy="SPREAD"
        )(Part)
        self._actors: list[Any] = [remote.remote(file, wait) for file in self._files]
        try:
            self.call([(shard, "process", ()) for shard in range(len(files))])
        except BaseException:
            self.close()
            raise
        self._deadline = DEADLINE

    @property
    def count(self) -> int:
        """How many shards there are."""
        return len(self._files)

    def call(self, calls: Sequence[Call]) -> list[Any]:
        """Make calls, all at the same time; return their results when all are done."""
        if self._closed:
            raise InputError("the store is closed", hint="open it again")
        end = time.monotonic() + self._deadline
        pending = [self._submit(call) for call in calls]
        results: list[Any] = []
        failed: BaseException | None = None
        for call, asked in zip(calls, pending, strict=True):
            try:
                results.append(self._wait(call, asked, end))
            except Exception as error:  # noqa: BLE001 - raised below
                failed = failed or error
        if failed is not None:
            raise failed
        return results

    def _submit(self, call: Call) -> Any:
        shard, name, args = call
        return getattr(self._actors[shard], name).remote(*args)

    def _wait(self, call: Call, pending: Any, end: float) -> Any:
        shard, name, _ = call
        while True:
            try:
                return ray.get(pending, timeout=max(0.001, end - time.monotonic()))
            except GetTimeoutError as error:
                self._restart(shard)
                raise self._absent(shard) from error
            except RayActorError as error:
                if name in BOUND:
                    raise StoreInterruptedError(
                        "it was restarted", place=self._name(shard), hint="ask again"
                    ) from error
                if time.monotonic() >= end:
                    raise self._absent(shard) from error
                time.sleep(PAUSE)
                pending = self._submit(call)
            except RayTaskError as error:
                cause = error.cause
                if isinstance(cause, QuireError):
                    raise cause from error
                raise StoreError(
                    f"it failed: {ray_cluster.first_line(cause or error)}",
                    place=self._name(shard),
                    hint=INSTALL,
                ) from error

    def _restart(self, shard: int) -> None:
        """End the process of a shard that does not answer; Ray starts another one."""
        with suppress(Exception):
            ray.kill(self._actors[shard], no_restart=False)

    def _absent(self, shard: int) -> ShardError:
        return ShardError(
            f"it did not answer within {self._deadline:g} seconds, so nothing was answered; it is "
            "being restarted",
            place=self._name(shard),
            hint="ask again; if it stays so, look at the cluster (`ray status`)",
        )

    def _name(self, shard: int) -> str:
        return f"shard {shard + 1} of {self.count} ({self._files[shard].path})"

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        if self._closed:
            return
        self._closed = True
        for actor in self._actors:
            with suppress(Exception):  # the cluster may be gone
                ray.kill(actor)
        if self._started:
            ray.shutdown()
