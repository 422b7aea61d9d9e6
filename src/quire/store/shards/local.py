"""Shards in files, all of them opened by this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quire.store.shards.contract import Call, ShardFile
from quire.store.shards.part import Part


class LocalShards:
    """The shards of a folder, asked one after the other."""

    def __init__(self, files: Sequence[ShardFile], wait: float) -> None:
        self._parts = [Part(file, wait) for file in files]

    @property
    def count(self) -> int:
        """How many shards there are."""
        return len(self._parts)

    def call(self, calls: Sequence[Call]) -> list[Any]:
        """Make calls; all of them, even if one fails."""
        results: list[Any] = []
        failed: BaseException | None = None
        for shard, name, args in calls:
            try:
                results.append(getattr(self._parts[shard], name)(*args))
            except Exception as error:  # noqa: BLE001 - raised below
                failed = failed or error
        if failed is not None:
            raise failed
        return results

    def close(self) -> None:
        """Close all shards."""
        for part in self._parts:
            part.close()
