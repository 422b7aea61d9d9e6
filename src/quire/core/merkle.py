"""Merkle trees: one hash for many values, and proofs that a value is part of it.

Each access class has its own tree. A leaf is a (key, hash) pair; keys are hashes, so they are
evenly distributed. The first two bytes of a key select one of 65,536 buckets; 256 buckets form a
node and 256 nodes form the root. The shape depends on the keys alone, never on insertion order,
and a change affects one bucket, one node and the root.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from quire.core import hashing, metadata
from quire.core.hashing import DIGEST_BYTES, EMPTY
from quire.core.types import Chunk, Event, Link, Outline, Proof, Record, RecordProof

FAN = 256
_NO_CHILDREN = dict.fromkeys(range(FAN), EMPTY)
_ALL_EMPTY = EMPTY * FAN


def record_key(record_id: str) -> bytes:
    """Return the key of a record's leaf."""
    return hashing.digest("leaf", "record", record_id)[: hashing.ID_BYTES]


def record_leaf(
    record: Record, audience: hashing.Field, outline: Outline | None = None
) -> tuple[bytes, bytes]:
    """Return key and hash of a record; its audience and its outline are part of the hash."""
    hashed = None if outline is None else outline_hash(outline)
    return record_key(record.id), record_hash(record, audience, hashed)


def record_hash(record: Record, audience: hashing.Field, outline: bytes | None) -> bytes:
    """Hash what is known of a record, its metadata among it; `outline` is the hash of its own."""
    optional: tuple[hashing.Field, ...] = ()
    stated = bool(record.metadata) or record.expires is not None or bool(record.origin)
    if record.paths or outline is not None or stated:
        optional = (record.paths, outline)
    if stated:
        optional += (metadata.encode(record.metadata), record.expires, record.origin)
    return hashing.digest(
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


_CHUNK = b"t11:s5:chunk" + 5 * b"s%d:%b" + b"i%d;i%d;i%d;t2:i%d;i%d;b32:%b"
"""What `chunk_leaf_hash` hashes, written at once: every chunk that is read is compared with it."""


def chunk_leaf(chunk: Chunk) -> tuple[bytes, bytes]:
    """Return key and hash of a chunk; the key is its id.

    The text enters as its hash, so that a proof can be checked without the text.
    """
    text_hash = hashing.text_hash(chunk.text)
    parts: list[int | bytes] = []
    try:
        for text in (chunk.id, chunk.record_id, chunk.kind, chunk.path, chunk.title):
            data = text.encode("utf-8", "surrogatepass")
            parts += (len(data), data)
        parts += (chunk.sequence, chunk.start, chunk.end, *chunk.lines, text_hash)
        content = hashing.digest_bytes(_CHUNK % tuple(parts))
    except (AttributeError, TypeError):  # a damaged file has values of other types
        content = chunk_leaf_hash(chunk_fields(chunk), text_hash)
    return bytes.fromhex(chunk.id), content


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
    return joined_bucket_hash(chain.from_iterable(leaves))


def joined_bucket_hash(leaves: Iterable[bytes]) -> bytes:
    """Hash the leaves of a bucket likewise: a key, its hash, the next key, ..."""
    data = b"".join(leaves)
    return hashing.digest_bytes(b"bucket" + data) if data else EMPTY


def node_hash(children: Mapping[int, bytes]) -> bytes:
    """Hash up to 256 children by position; absent ones count as empty."""
    cells = {**_NO_CHILDREN, **children}
    if len(cells) != FAN or {*map(len, cells.values())} != {DIGEST_BYTES}:
        raise ValueError(f"expected up to {FAN} children with {DIGEST_BYTES}-byte hashes")
    return cells_hash(cells.values())


def cells_hash(cells: Iterable[bytes]) -> bytes:
    """Hash all 256 children of a node, of which absent ones are empty.

    Each must have the length of a hash: children from outside need `node_hash`, which compares.
    """
    data = b"".join(cells)
    return hashing.digest_bytes(b"node" + data) if data != _ALL_EMPTY else EMPTY


def view_root(class_roots: Iterable[bytes]) -> bytes:
    """Hash the roots of all access classes that a viewer may read; empty ones are ignored."""
    return hashing.digest("view", tuple(sorted(root for root in class_roots if root != EMPTY)))


def state_root(content: bytes, vector_roots: Iterable[bytes], model: str | None) -> bytes:
    """Hash everything that can change an output: the content, the vectors and their model.

    A view without vectors has no model either, so that it does not reveal what others embedded.
    """
    vectors = tuple(sorted(root for root in vector_roots if root != EMPTY))
    return hashing.digest("state", content, vectors, model if vectors else None)


class Tree:
    """A tree in memory of all leaves that there are: one access class, without vectors."""

    def __init__(self, leaves: Iterable[tuple[bytes, bytes]]) -> None:
        self._leaves = dict(leaves)
        self._buckets: dict[int, list[tuple[bytes, bytes]]] = {}
        for key in sorted(self._leaves):
            self._buckets.setdefault(bucket_of(key), []).append((key, self._leaves[key]))
        self._nodes: dict[int, dict[int, bytes]] = {}
        for place, bucket in self._buckets.items():
            self._nodes.setdefault(place // FAN, {})[place % FAN] = bucket_hash(bucket)
        self._top = {place: node_hash(children) for place, children in self._nodes.items()}

    @property
    def root(self) -> bytes:
        """The hash of all leaves."""
        return node_hash(self._top)

    def prove(self, chunk_id: str) -> Proof:
        """Prove that a chunk's leaf is under the root."""
        key = bytes.fromhex(chunk_id)
        node, bucket = divmod(bucket_of(key), FAN)
        return Proof(
            chunk_id=chunk_id,
            leaf=self._leaves[key].hex(),
            bucket=tuple((name.hex(), leaf.hex()) for name, leaf in self._buckets[bucket_of(key)]),
            nodes=_others(self._nodes[node], bucket),
            top=_others(self._top, node),
            classes=(self.root.hex(),),
        )


def _others(children: Mapping[int, bytes], place: int) -> tuple[tuple[int, str], ...]:
    return tuple((other, children[other].hex()) for other in sorted(children) if other != place)


def verify(proof: Proof, chunk: Chunk, root: str) -> bool:
    """Return whether a proof shows that this exact chunk is part of this content root."""
    key, leaf = chunk_leaf(chunk)
    return proof.chunk_id == chunk.id and verify_leaf(proof, key, leaf, root)


def verify_record(proof: RecordProof, root: str) -> bool:
    """Return whether a proof shows that its record, as it is there, is part of a content root."""
    try:
        outline = None if proof.outline is None else bytes.fromhex(proof.outline)
    except ValueError:
        return False
    leaf = record_hash(proof.record, proof.readers, outline)
    return verify_leaf(proof.proof, record_key(proof.record.id), leaf, root)


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
