"""Incremental Merkle trees: how the roots of a space follow its changes.

A write transaction collects the leaves that it changes; at its end the buckets, nodes and roots
above them are hashed again, each once. Content and vectors have separate hashes, side by side.
`quire.core.merkle` defines the hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from quire.core import merkle
from quire.core.hashing import EMPTY
from quire.core.merkle import FAN

Leaf = tuple[bytes, bytes | None]
"""The hash of the content, and that of the vector where there is one."""

Hashes = tuple[bytes, bytes]
"""The hashes of a bucket, a node or a root: of its content, and of its vectors."""

BUCKET, NODE = "bucket", "node"
"""The two levels between leaves and root."""


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

    def read_bucket(self, access: int, bucket: int) -> list[tuple[bytes, bytes, bytes | None]]:
        """Return key, content and vector of the leaves of a bucket, in the order of their keys."""

    def read_children(self, level: str, access: int, node: int) -> list[tuple[int, bytes, bytes]]:
        """Return position (0 to 255), content and vector of the buckets or nodes below a node."""

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
        for access in sorted({access for access, _ in self._changes}):
            keys = (key for changed, key in self._changes if changed == access)
            buckets = frozenset(merkle.bucket_of(key) for key in keys)
            self.update(access, buckets)
            self.flushed.update((access, bucket) for bucket in buckets)
        self._changes = {}

    def stored_bucket(self, access: int, bucket: int) -> list[tuple[bytes, bytes, bytes | None]]:
        """Return key, content and vector of the leaves of a bucket that are written."""
        return self._storage.read_bucket(access, bucket)

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

    def update(self, access: int, buckets: frozenset[int]) -> None:
        """Hash some buckets of the stored leaves again, and everything above them."""
        self._write(BUCKET, access, buckets, lambda bucket: self._hash_bucket(access, bucket))
        nodes = {bucket // FAN for bucket in buckets}
        self._write(NODE, access, nodes, lambda node: self._hash_children(BUCKET, access, node))
        root = self._hash_children(NODE, access, 0)
        self._storage.write_root(access, None if root[0] == EMPTY else root)

    def _write(
        self, level: str, access: int, numbers: Iterable[int], compute: Callable[[int], Hashes]
    ) -> None:
        hashes = [(number, *compute(number)) for number in sorted(numbers)]
        self._storage.write_hashes(
            level,
            access,
            [number for number, content, _ in hashes if content == EMPTY],
            [row for row in hashes if row[1] != EMPTY],
        )

    def _hash_bucket(self, access: int, bucket: int) -> Hashes:
        leaves = self._storage.read_bucket(access, bucket)
        return (
            merkle.bucket_hash([(key, content) for key, content, _ in leaves]),
            merkle.bucket_hash([(key, vector) for key, _, vector in leaves if vector is not None]),
        )

    def _hash_children(self, level: str, access: int, node: int) -> Hashes:
        children = self._storage.read_children(level, access, node)
        # By columns: a large write hashes most of the tree, and this is where its time goes.
        positions, contents, vectors = zip(*children, strict=True) if children else ((), (), ())
        return (
            merkle.node_hash(dict(zip(positions, contents, strict=True))),
            merkle.node_hash(dict(zip(positions, vectors, strict=True))),
        )
