"""Merkle trees: one hash for many values, and proofs that a value is part of it.

Each access class has its own tree. A leaf is a (key, hash) pair; keys are hashes, so they are
evenly distributed. The first two bytes of a key select one of 65,536 buckets; 256 buckets form a
node and 256 nodes form the root. The shape depends on the keys alone, never on insertion order,
and a change affects one bucket, one node and the root.
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
    """Return the key of a record's leaf."""
    return hashing.digest("leaf", "record", record_id)[: hashing.ID_BYTES]


def record_leaf(
    record: Record, audience: hashing.Field, outline: Outline | None = None
) -> tuple[bytes, bytes]:
    """Return key and hash of a record; its audience and its outline are part of the hash."""
    optional: tuple[hashing.Field, ...] = ()
    if record.paths or outline is not None:
        optional = (record.paths, None if outline is None else outline_hash(outline))
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
        audience,
        record.attrs,
        *optional,
    )


def outline_hash(outline: Outline) -> bytes:
    """Hash the entities and references of an outline."""
    return hashing.digest(
        "outline",
        tuple((*entity.hashed_fields, entity.attrs) for entity in outline.entities),
        tuple((use.name, use.kind, use.within, use.count) for use in outline.references),
    )


def chunk_leaf(chunk: Chunk) -> tuple[bytes, bytes]:
    """Return key and hash of a chunk; the key is its id.

    The text enters as its hash, so that a proof can be checked without the text.
    """
    text_hash = hashing.text_hash(chunk.text)
    return bytes.fromhex(chunk.id), chunk_leaf_hash(chunk_fields(chunk), text_hash)


def chunk_fields(chunk: Chunk) -> tuple[hashing.Field, ...]:
    """Return the hashed fields of a chunk, except its text."""
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


def chunk_leaf_hash(fields: tuple[hashing.Field, ...], text_hash: bytes) -> bytes:
    """Hash a chunk from its other fields and the hash of its text."""
    return hashing.digest("chunk", *fields, text_hash)


def link_leaf(link: Link) -> tuple[bytes, bytes]:
    """Return key and hash of a link."""
    content = hashing.digest("link", link.source, link.target, link.kind)
    return content[: hashing.ID_BYTES], content


def event_leaf(event: Event) -> tuple[bytes, bytes]:
    """Return key and hash of an event."""
    content = hashing.digest("event", event.actor, event.verb, event.record_id, event.at)
    return content[: hashing.ID_BYTES], content


def setting_leaf(name: str, value: hashing.Field) -> tuple[bytes, bytes]:
    """Return key and hash of an access setting: rules, groups or the default."""
    key = hashing.digest("leaf", "setting", name)[: hashing.ID_BYTES]
    return key, hashing.digest("setting", name, value)


def bucket_of(key: bytes) -> int:
    """Return the number of the bucket that a key belongs to."""
    return key[0] * FAN + key[1]


def bucket_hash(leaves: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Hash the leaves of a bucket, which must come in the order of their keys."""
    data = b"".join(chain.from_iterable(leaves))
    return hashing.digest_bytes(b"bucket" + data) if data else EMPTY


def node_hash(children: Mapping[int, bytes]) -> bytes:
    """Hash up to 256 children by position; absent ones count as empty."""
    cells = {**_NO_CHILDREN, **children}
    if len(cells) != FAN or {*map(len, cells.values())} != {DIGEST_BYTES}:
        raise ValueError(f"expected up to {FAN} children with {DIGEST_BYTES}-byte hashes")
    data = b"".join(cells.values())
    return hashing.digest_bytes(b"node" + data) if any(data) else EMPTY


def view_root(class_roots: Iterable[bytes]) -> bytes:
    """Hash the roots of all access classes that a viewer may read; empty ones are ignored."""
    return hashing.digest("view", tuple(sorted(root for root in class_roots if root != EMPTY)))


def state_root(content: bytes, vector_roots: Iterable[bytes], model: str | None) -> bytes:
    """Hash everything that can change an output: the content, the vectors and their model.

    A view without vectors has no model either, so that it does not reveal what others embedded.
    """
    vectors = tuple(sorted(root for root in vector_roots if root != EMPTY))
    return hashing.digest("state", content, vectors, model if vectors else None)


def verify(proof: Proof, chunk: Chunk, root: str) -> bool:
    """Return whether a proof shows that this exact chunk is part of this content root."""
    key, leaf = chunk_leaf(chunk)
    return proof.chunk_id == chunk.id and verify_leaf(proof, key, leaf, root)


def verify_leaf(proof: Proof, key: bytes, leaf: bytes, root: str) -> bool:
    """Return whether a proof shows that a leaf with this key and hash is part of a root."""
    try:
        return _proven_root(proof, key, leaf) == bytes.fromhex(root)
    except (ValueError, IndexError):
        return False


def top_nodes(proof: Proof) -> dict[int, bytes]:
    """Return the top-level nodes of a proof's tree, including the one that it proves."""
    leaves = [(bytes.fromhex(key), bytes.fromhex(value)) for key, value in proof.bucket]
    node, bucket = divmod(bucket_of(bytes.fromhex(proof.chunk_id)), FAN)
    nodes = {position: bytes.fromhex(value) for position, value in proof.nodes}
    top = {position: bytes.fromhex(value) for position, value in proof.top}
    if bucket in nodes or node in top or leaves != sorted(set(leaves)):
        raise ValueError("a proof must not contain the nodes that it proves")
    nodes[bucket] = bucket_hash(leaves)
    top[node] = node_hash(nodes)
    return top


def _proven_root(proof: Proof, key: bytes, leaf: bytes) -> bytes | None:
    if proof.chunk_id != key.hex() or proof.leaf != leaf.hex():
        return None
    if (proof.chunk_id, proof.leaf) not in proof.bucket:
        return None
    class_root = node_hash(top_nodes(proof))
    classes = [bytes.fromhex(value) for value in proof.classes]
    return view_root(classes) if class_root in classes else None
