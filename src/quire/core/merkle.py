"""How does one hash stand for many values, and how is one of them shown to be under it?

Each access class has a tree of its own. A leaf is a (key, hash) pair; keys are hashes, so they
spread evenly. The first two bytes of a key choose one of 65,536 buckets; 256 buckets make a
node and 256 nodes make the root. The shape depends on the keys alone, never on the order in
which they came, and a change touches one bucket, one node and the root.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from quire.core import hashing
from quire.core.hashing import DIGEST_BYTES, EMPTY
from quire.core.types import Chunk, Event, Link, Outline, Proof, Record

FAN = 256
_NO_CHILDREN = dict.fromkeys(range(FAN), EMPTY)


def record_key(record_id: str) -> bytes:
    """Give the key of a record's leaf."""
    return hashing.digest("leaf", "record", record_id)[: hashing.ID_BYTES]


def record_leaf(
    record: Record, reach: hashing.Field, outline: Outline | None = None
) -> tuple[bytes, bytes]:
    """Give key and hash of a record; who may read it and what it is made of are hashed with it."""
    more: tuple[hashing.Field, ...] = ()
    if record.paths or outline is not None:
        more = (record.paths, None if outline is None else outline_hash(outline))
    return record_key(record.id), hashing.digest(
        "record",
        record.id,
        record.kind,
        record.path,
        record.title,
        record.parent,
        record.position,
        record.modified,
        record.author,
        reach,
        record.attrs,
        *more,
    )


def outline_hash(outline: Outline) -> bytes:
    """Hash all that an outline says."""
    return hashing.digest(
        "outline",
        tuple((*entity.fixed, entity.attrs) for entity in outline.entities),
        tuple((use.name, use.kind, use.within, use.count) for use in outline.references),
    )


def chunk_leaf(chunk: Chunk) -> tuple[bytes, bytes]:
    """Give key and hash of a chunk; the key is its id.

    The text enters by its hash: whoever knows the hash alone can still check a proof.
    """
    return bytes.fromhex(chunk.id), leaf_of(chunk_fields(chunk), hashing.text_hash(chunk.text))


def chunk_fields(chunk: Chunk) -> tuple[hashing.Field, ...]:
    """Give all that a chunk is but its text."""
    return (
        chunk.id,
        chunk.record_id,
        chunk.kind,
        chunk.path,
        chunk.title,
        chunk.sequence,
        chunk.start,
        chunk.end,
        chunk.lines,
    )


def leaf_of(fields: tuple[hashing.Field, ...], text_hash: bytes) -> bytes:
    """Hash a chunk of which only the text's hash is known."""
    return hashing.digest("chunk", *fields, text_hash)


def link_leaf(link: Link) -> tuple[bytes, bytes]:
    """Give key and hash of a link."""
    whole = hashing.digest("link", link.source, link.target, link.kind)
    return whole[: hashing.ID_BYTES], whole


def event_leaf(event: Event) -> tuple[bytes, bytes]:
    """Give key and hash of an event."""
    whole = hashing.digest("event", event.actor, event.verb, event.record_id, event.at)
    return whole[: hashing.ID_BYTES], whole


def setting_leaf(name: str, value: hashing.Field) -> tuple[bytes, bytes]:
    """Give key and hash of a setting that decides who reads what."""
    key = hashing.digest("leaf", "setting", name)[: hashing.ID_BYTES]
    return key, hashing.digest("setting", name, value)


def bucket_of(key: bytes) -> int:
    """Tell which bucket a key belongs to."""
    return key[0] * FAN + key[1]


def bucket_hash(leaves: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Hash the leaves of a bucket, given in the order of their keys."""
    data = b"".join(chain.from_iterable(leaves))
    return hashing.digest_bytes(b"bucket" + data) if data else EMPTY


def node_hash(children: Mapping[int, bytes]) -> bytes:
    """Hash up to 256 children by their positions; absent ones count as empty."""
    cells = {**_NO_CHILDREN, **children}
    if len(cells) != FAN or {*map(len, cells.values())} != {DIGEST_BYTES}:
        raise ValueError(f"a node has {FAN} places, each for one hash")
    data = b"".join(cells.values())
    return hashing.digest_bytes(b"node" + data) if any(data) else EMPTY


def view_root(class_roots: Iterable[bytes]) -> bytes:
    """Hash the roots of all access classes that a viewer may read; empty ones do not count."""
    return hashing.digest("view", tuple(sorted(root for root in class_roots if root != EMPTY)))


def state_root(content: bytes, vector_roots: Iterable[bytes], model: str | None) -> bytes:
    """Hash all that can change an output: the content, the vectors and their model.

    A view without any vector has no model either: what others have embedded does not show.
    """
    vectors = tuple(sorted(root for root in vector_roots if root != EMPTY))
    return hashing.digest("state", content, vectors, model if vectors else None)


def verify(proof: Proof, chunk: Chunk, root: str) -> bool:
    """Tell whether a proof shows that this very chunk is under this content root."""
    key, leaf = chunk_leaf(chunk)
    return proof.chunk_id == chunk.id and verify_leaf(proof, key, leaf, root)


def verify_leaf(proof: Proof, key: bytes, leaf: bytes, root: str) -> bool:
    """Tell whether a proof shows that a leaf with this key and hash is under a content root."""
    try:
        return _climb(proof, key, leaf) == bytes.fromhex(root)
    except (ValueError, IndexError):
        return False


def whole_top(proof: Proof) -> dict[int, bytes]:
    """Give the nodes at the top of a proof's tree, its own included."""
    leaves = [(bytes.fromhex(name), bytes.fromhex(value)) for name, value in proof.bucket]
    place, within = divmod(bucket_of(bytes.fromhex(proof.chunk_id)), FAN)
    nodes = {position: bytes.fromhex(value) for position, value in proof.nodes}
    top = {position: bytes.fromhex(value) for position, value in proof.top}
    if within in nodes or place in top or leaves != sorted(set(leaves)):
        raise ValueError("a proof must leave out what it shows")
    nodes[within] = bucket_hash(leaves)
    top[place] = node_hash(nodes)
    return top


def _climb(proof: Proof, key: bytes, leaf: bytes) -> bytes | None:
    if proof.chunk_id != key.hex() or proof.leaf != leaf.hex():
        return None
    if (proof.chunk_id, proof.leaf) not in proof.bucket:
        return None
    class_root = node_hash(whole_top(proof))
    classes = [bytes.fromhex(value) for value in proof.classes]
    return view_root(classes) if class_root in classes else None
