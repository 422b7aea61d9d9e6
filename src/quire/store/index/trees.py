"""Incremental Merkle trees: how the roots of a space follow its changes.

A write transaction collects the leaves that it changes; at its end the buckets, nodes and roots
above them are hashed again, each once. Content and vectors have separate hashes, side by side.
`quire.core.merkle` defines the hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Protocol

from quire.core import merkle
from quire.core.hashing import EMPTY
from quire.core.merkle import FAN

Leaf = tuple[bytes, bytes | None]
"""The hash of the content, and that of the vector where there is one."""

StoredLeaf = tuple[bytes, bytes, bytes | None]
"""Key, content and vector of a leaf."""

Hashes = tuple[bytes, bytes]
"""The hashes of a bucket, a node or a root: of its content, and of its vectors."""
Numbered = tuple[int, bytes, bytes]
"""The number of a bucket or a node, with its hashes."""

BUCKET, NODE = "bucket", "node"
"""The two levels between leaves and root."""
READ_BUCKETS, READ_NODES = 1024, 16
"""So many are read at once: many for few statements, not all for little memory."""


class TreeStorage(Protocol):
    """The stored trees of one space, inside a write transaction."""

    def read_leaf(self, access: int, key: bytes) -> Leaf | None:
        """Return a leaf, or None if it does not exist."""

    def write_leaves(
        self,
        removed: Sequence[tuple[int, bytes]],
        changed: Sequence[tuple[int, bytes, bytes, bytes | None]],
    ) -> None:
        """Delete leaves by access class and key, and write others with their hashes."""

    def read_buckets(self, access: int, buckets: Sequence[int]) -> Iterator[StoredLeaf]:
        """Yield the leaves of ascending buckets, in the order of their keys."""

    def read_children(
        self, level: str, access: int, nodes: Sequence[int]
    ) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield place, content and vector of the buckets or nodes below some nodes.

        Places 0 to 255 are below the first of these nodes, 256 to 511 below the second.
        """

    def write_hashes(
        self,
        level: str,
        access: int,
        removed: Sequence[int],
        changed: Sequence[tuple[int, bytes, bytes]],
    ) -> None:
        """Delete buckets or nodes by number, and write others with their hashes."""

    def write_root(self, access: int, root: Hashes | None) -> None:
        """Write the root of an access class, or delete it."""

    def clear_vectors(self) -> None:
        """Remove the vectors from all stored leaves, and their hashes from everything above."""


class Trees:
    """The Merkle trees of one space inside one write transaction."""

    def __init__(self, storage: TreeStorage) -> None:
        self._storage = storage
        self._changes: dict[tuple[int, bytes], Leaf | None] = {}
        self.flushed: set[tuple[int, int]] = set()
        """Access class and number of each bucket that was hashed again."""

    @property
    def changed(self) -> bool:
        """Whether any leaf was set or removed."""
        return bool(self._changes)

    def set(self, access: int, key: bytes, content: bytes, vector: bytes | None = None) -> None:
        """Set a leaf in the tree of an access class."""
        self._changes[access, key] = (content, vector)

    def remove(self, access: int, key: bytes) -> None:
        """Remove a leaf from the tree of an access class."""
        self._changes[access, key] = None

    def leaf(self, access: int, key: bytes) -> Leaf | None:
        """Return a leaf, including the changes of this transaction."""
        if (access, key) in self._changes:
            return self._changes[access, key]
        return self._storage.read_leaf(access, key)

    def move(self, old: int, new: int, key: bytes) -> None:
        """Move a leaf to the tree of another access class."""
        leaf = self.leaf(old, key)
        if leaf is not None and old != new:
            self.remove(old, key)
            self.set(new, key, *leaf)

    def clear_vectors(self) -> None:
        """Remove all vectors from all trees."""
        for place, leaf in list(self._changes.items()):
            self._changes[place] = leaf and (leaf[0], None)
        self._storage.clear_vectors()

    def flush(self) -> None:
        """Write the changed leaves and hash everything above them."""
        self._write_leaves()
        places = {(access, merkle.bucket_of(key)) for access, key in self._changes}
        for access, buckets in groupby(sorted(places), key=itemgetter(0)):
            self.update(access, [bucket for _, bucket in buckets])
        self.flushed |= places
        self._changes = {}

    def stored_bucket(self, access: int, bucket: int) -> list[StoredLeaf]:
        """Return the leaves of a bucket that are written."""
        return list(self._storage.read_buckets(access, [bucket]))

    def discard(self) -> None:
        """Forget the collected changes: the leaves are about to be set again."""
        self._changes = {}

    def _write_leaves(self) -> None:
        removed = [place for place, leaf in self._changes.items() if leaf is None]
        changed = sorted(
            (access, key, *leaf)
            for (access, key), leaf in self._changes.items()
            if leaf is not None
        )
        self._storage.write_leaves(removed, changed)

    def update(self, access: int, buckets: Sequence[int]) -> None:
        """Hash ascending buckets of the stored leaves again, and everything above them."""
        self._write(BUCKET, access, self._hash_buckets(access, buckets))
        nodes = sorted({number // FAN for number in buckets})
        self._write(NODE, access, self._hash_nodes(BUCKET, access, nodes))
        ((_, *root),) = self._hash_nodes(NODE, access, [0])
        self._storage.write_root(access, None if root[0] == EMPTY else (root[0], root[1]))

    def _write(self, level: str, access: int, hashed: Iterable[Numbered]) -> None:
        hashes = list(hashed)
        self._storage.write_hashes(
            level,
            access,
            [number for number, content, _ in hashes if content == EMPTY],
            [row for row in hashes if row[1] != EMPTY],
        )

    def _hash_buckets(self, access: int, buckets: Sequence[int]) -> Iterator[Numbered]:
        for at in range(0, len(buckets), READ_BUCKETS):
            wanted = buckets[at : at + READ_BUCKETS]
            contents: dict[int, list[bytes]] = {number: [] for number in wanted}
            vectors: dict[int, list[bytes]] = {number: [] for number in wanted}
            for key, content, vector in self._storage.read_buckets(access, wanted):
                number = merkle.bucket_of(key)
                contents[number] += (key, content)
                if vector is not None:
                    vectors[number] += (key, vector)
            for number in wanted:
                yield (
                    number,
                    merkle.joined_bucket_hash(contents[number]),
                    merkle.joined_bucket_hash(vectors[number]),
                )

    def _hash_nodes(self, level: str, access: int, nodes: Sequence[int]) -> Iterator[Numbered]:
        for at in range(0, len(nodes), READ_NODES):
            wanted = nodes[at : at + READ_NODES]
            # A large write hashes most of the tree, and this is where its time goes.
            contents, vectors = [EMPTY] * (FAN * len(wanted)), [EMPTY] * (FAN * len(wanted))
            for place, content, vector in self._storage.read_children(level, access, wanted):
                contents[place], vectors[place] = content, vector
            for place, node in enumerate(wanted):
                below = slice(place * FAN, place * FAN + FAN)
                yield node, merkle.cells_hash(contents[below]), merkle.cells_hash(vectors[below])
