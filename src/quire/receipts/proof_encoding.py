"""Encode proofs without repeating what they share.

The roots of the access classes are written once, and the top of a class's tree once for all its
chunks. Proofs are written directly as canonical JSON, since they contain nothing but hashes, names
and numbers: as values they would be thousands of pairs that few callers ever look at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quire.core import merkle
from quire.core.hashing import EMPTY
from quire.core.types import Proof

_OWN_FIELDS = ("leaf", "bucket", "nodes", "class")
"""The fields of each chunk's proof, in this order."""


def encode(proofs: Sequence[Proof]) -> str:
    """Encode the proofs of a context as canonical JSON."""
    tops: dict[str, str] = {}
    chunks: dict[str, str] = {}
    classes = proofs[0].classes if proofs else ()
    single_class = sum(root != EMPTY.hex() for root in classes) == 1
    root = ""
    for proof in proofs:
        if not (single_class and root):  # else all chunks are in the one class that there is
            top = merkle.top_nodes(proof)
            root = merkle.node_hash(top).hex()
            tops[root] = _pairs((place, top[place].hex()) for place in sorted(top))
        bucket = ",".join([f'["{name}","{value}"]' for name, value in proof.bucket])
        chunks[proof.chunk_id] = (
            f'{{"bucket":[{bucket}],"class":"{root}","leaf":"{proof.leaf}",'
            f'"nodes":{_pairs(proof.nodes)}}}'
        )
    roots = ",".join([f'"{each}"' for each in classes])
    return f'{{"chunks":{as_object(chunks)},"classes":[{roots}],"tops":{as_object(tops)}}}'


def decode(text: str, ids: Iterable[str]) -> dict[str, Any]:
    """Decode proofs as the field of a receipt, in the order of the chunks."""
    data = json.loads(text)
    chunks = {name: {part: data["chunks"][name][part] for part in _OWN_FIELDS} for name in ids}
    roots = dict.fromkeys(proof["class"] for proof in chunks.values())
    tops = {root: data["tops"][root] for root in roots}
    return {"classes": data["classes"], "tops": tops, "chunks": chunks}


def top_of(receipt: Mapping[str, Any], chunk_id: str) -> dict[int, bytes]:
    """Return the nodes at the top of a source's tree, with its own, which a proof leaves out."""
    shared = receipt["proofs"]
    top = shared["tops"][shared["chunks"][chunk_id]["class"]]
    return {place: bytes.fromhex(value) for place, value in top}


def proof_of(receipt: Mapping[str, Any], chunk_id: str) -> Proof:
    """Return the proof of a source."""
    shared = receipt["proofs"]
    own = shared["chunks"][chunk_id]
    at = bytes.fromhex(chunk_id)[0]
    return Proof(
        chunk_id=chunk_id,
        leaf=own["leaf"],
        bucket=tuple((name, value) for name, value in own["bucket"]),
        nodes=tuple((place, value) for place, value in own["nodes"]),
        top=tuple((place, value) for place, value in shared["tops"][own["class"]] if place != at),
        classes=tuple(shared["classes"]),
    )


def as_object(texts: Mapping[str, str]) -> str:
    """Write an object whose values are canonical JSON already, and whose names need no escapes."""
    return "{" + ",".join([f'"{name}":{texts[name]}' for name in sorted(texts)]) + "}"


def _pairs(nodes: Iterable[tuple[int, str]]) -> str:
    return "[" + ",".join([f'[{place},"{value}"]' for place, value in nodes]) + "]"
