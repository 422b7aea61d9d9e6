"""The contract between a sharded store and whatever reaches its shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from quire.core import merkle
from quire.core.servers import MAX_SHARDS

RESTORE = (
    "put all files of the store back from one backup, or delete the folder and run `quire restore` "
    "or `quire index`"
)
"""What to do if the files of a store do not belong together."""
Call = tuple[int, str, tuple[Any, ...]]
"""A shard, a method of its `Part`, and what it is asked with."""


@dataclass(frozen=True, slots=True)
class ShardFile:
    """The file of a shard, and what the file itself says of where it belongs."""

    path: Path
    number: int
    count: int
    store: str
    """The id of the store; empty if its catalog has none."""

    @property
    def mark(self) -> str:
        """What is written into the file: a shard in the place of another one is refused by it."""
        return f"{self.number}/{self.count}/{self.store}" if self.store else ""


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
