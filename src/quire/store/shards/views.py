"""The views of all shards that one view of the whole is made of.

A shard that was restarted has lost its view. Nothing is answered by another state: the view is
opened again if the shard is still in the version that was seen, else the question is asked anew.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from quire.core.types import Viewer
from quire.errors import InputError, StoreDamagedError, StoreError, StoreInterruptedError
from quire.store.shards.catalog import Manifest
from quire.store.shards.contract import Call, Shards

SET_UNSHARED = "set_unshared"
"""The one call of a view that changes it."""


class Views:
    """One open view of each shard, all of one state."""

    def __init__(self, shards: Shards, viewer: Viewer, space: str, manifest: Manifest) -> None:
        self.viewer = viewer
        self._shards = shards
        self._space = space
        self._manifest = manifest
        self._numbers: list[int] = []
        self._lock = threading.Lock()
        self._unshared: dict[int, tuple[Any, ...]] = {}

    def open(self) -> bool:
        """Open all; return whether they show the state that the manifest names."""
        calls: list[Call] = [
            (shard, "open_view", (self.viewer, self._space)) for shard in range(self._shards.count)
        ]
        opened = self._shards.call(calls)
        self._numbers = [number for number, _, _ in opened]
        self.viewer = opened[0][2]
        return tuple(version for _, version, _ in opened) == self._manifest.shards

    def ask(self, calls: Sequence[Call]) -> list[Any]:
        """Ask the views of some shards, each by a method and its arguments."""
        with self._lock:
            self._unshared |= {shard: args for shard, name, args in calls if name == SET_UNSHARED}
        try:
            return self._ask(calls)
        except StoreInterruptedError:
            if not self._numbers:
                raise
        self._open_again()
        return self._ask(calls)

    def _ask(self, calls: Sequence[Call]) -> list[Any]:
        numbers = self._numbers
        if not numbers:
            raise InputError("the view is closed", hint="open another with `view()`")
        return self._shards.call(
            [(shard, "ask", (numbers[shard], name, *args)) for shard, name, args in calls]
        )

    def _open_again(self) -> None:
        """Open the views of shards that lost them, if these are in the same version still."""
        with self._lock:
            for shard, number in enumerate(self._numbers):
                try:
                    self._shards.call([(shard, "ask", (number, "version"))])
                except StoreInterruptedError:
                    ((new, version, _),) = self._shards.call(
                        [(shard, "open_view", (self.viewer, self._space))]
                    )
                    if version != self._manifest.shards[shard]:
                        self._shards.call([(shard, "close_view", (new,))])
                        raise StoreInterruptedError(
                            "a shard was restarted, and has another state by now", hint="ask again"
                        ) from None
                    if shard in self._unshared:
                        told = (new, SET_UNSHARED, *self._unshared[shard])
                        self._shards.call([(shard, "ask", told)])
                    self._numbers[shard] = new

    def close(self) -> None:
        """Close all; raises an error if something damaged was left out that nobody was told."""
        numbers, self._numbers = self._numbers, []
        try:
            self._shards.call(
                [(shard, "close_view", (number,)) for shard, number in enumerate(numbers)]
            )
        except StoreDamagedError:
            raise
        except StoreError:  # a shard that is gone has no view any more
            return

    def forget(self) -> None:
        """Close all, whatever they have to say."""
        with suppress(StoreError):
            self.close()
