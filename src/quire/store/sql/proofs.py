"""Proofs that leaves are part of the content root of a view."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from quire.core import merkle
from quire.core.types import Proof
from quire.store.sql.snapshot import Children, Snapshot

_LAST_KEY = b"\xff" * 16
"""What no key of a bucket comes after, behind the bytes that all of them begin with."""

Bucket = tuple[int, bytes]
"""An access class, and the bytes that the keys of a bucket begin with."""
Leaves = list[tuple[bytes, bytes]]


def prove_leaves(
    snapshot: Snapshot, keys: Sequence[bytes], leaves: Sequence[tuple[int, bytes]]
) -> list[Proof]:
    """Prove that leaves, each with its access class, are part of the content root."""
    places = [(class_id, key[:2]) for key, (class_id, _) in zip(keys, leaves, strict=True)]
    buckets = _read_buckets(snapshot, places)
    classes = tuple(sorted(content.hex() for content, _ in snapshot.roots))
    proofs: list[Proof] = []
    for key, (class_id, leaf), place in zip(keys, leaves, places, strict=True):
        node, bucket = divmod(merkle.bucket_of(key), merkle.FAN)
        proofs.append(
            Proof(
                chunk_id=key.hex(),
                leaf=leaf.hex(),
                bucket=tuple((name.hex(), content.hex()) for name, content in buckets[place]),
                nodes=without(snapshot.children(class_id, node), bucket),
                top=without(snapshot.children(class_id), node),
                classes=classes,
            )
        )
    return proofs


def _read_buckets(snapshot: Snapshot, places: Iterable[Bucket]) -> dict[Bucket, Leaves]:
    """Return the leaves of buckets: from a server with one statement for each access class."""
    connection, space = snapshot.connection, snapshot.space.id
    wanted = sorted(set(places))
    if not connection.is_distant:
        return {
            (class_id, start): connection.rows(
                "SELECT key, content FROM leaf WHERE space = ? AND class = ? "
                "AND key >= ? AND key <= ? ORDER BY key",
                (space, class_id, start, start + _LAST_KEY),
            )
            for class_id, start in wanted
        }
    buckets: dict[Bucket, Leaves] = {place: [] for place in wanted}
    for class_id in sorted({class_id for class_id, _ in wanted}):
        starts = tuple(start for number, start in wanted if number == class_id)
        for key, content in connection.rows(
            "SELECT l.key, l.content FROM carray(?) v CROSS JOIN leaf l ON l.space = ? "
            "AND l.class = ? AND l.key >= v.value AND l.key <= v.value || ? ORDER BY l.key",
            (connection.array(starts), space, class_id, _LAST_KEY),
        ):
            buckets[class_id, key[:2]].append((key, content))
    return buckets


def without(children: Children, position: int) -> Children:
    """Leave out a child; they are in the order of their positions."""
    place = bisect_left(children, (position, ""))
    has_it = place < len(children) and children[place][0] == position
    return children[:place] + children[place + 1 :] if has_it else children
