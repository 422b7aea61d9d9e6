"""The contract between a sharded store and whatever reaches its shards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from quire.core import merkle
from quire.core.servers import MAX_SHARDS

Call = tuple[int, str, tuple[Any, ...]]
"""A shard, a method of its `Part`, and what it is asked with."""


class Shards(Protocol):
    """Reaches the shards of a store; threads may share it."""

    @property
    def count(self) -> int:
        """How many shards there are."""

    def call(self, calls: Sequence[Call]) -> list[Any]:
        """Make calls, of several shards at once where that is possible; return their results.

        An error of one of them is raised when all are done. A shard that does not answer in time is
        a `ShardError` that names it.
        """

    def close(self) -> None:
        """Close all shards."""


def shard_of(record_id: str, count: int) -> int:
    """Return the shard of a record: by the leading byte of its leaf in the tree of hashes."""
    return merkle.record_key(record_id)[0] * count // MAX_SHARDS
