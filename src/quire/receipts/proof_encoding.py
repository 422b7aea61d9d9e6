"""How are proofs written down without repeating what they share?

The roots of the access classes stand once, the top of a class's tree once for all its chunks. They
are written as canonical JSON at once, of which nothing but hashes, names and numbers are a part:
as values they are thousands of pairs, which nobody may ever want to see.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quire.core import merkle
from quire.core.hashing import EMPTY
from quire.core.types import Proof

_OWN = ("leaf", "bucket", "nodes", "class")
"""What is told of each chunk, in this order."""


def write(proofs: Sequence[Proof]) -> str:
    """Write the proofs of a context as canonical JSON."""
    tops: dict[str, str] = {}
    chunks: dict[str, str] = {}
    classes = proofs[0].classes if proofs else ()
    alone = sum(root != EMPTY.hex() for root in classes) == 1
    root = ""
    for proof in proofs:
        if not (alone and root):  # else all are in the one class that there is
            top = merkle.top_nodes(proof)
            root = merkle.node_hash(top).hex()
            tops[root] = _pairs((place, top[place].hex()) for place in sorted(top))
        bucket = ",".join([f'["{name}","{value}"]' for name, value in proof.bucket])
        chunks[proof.chunk_id] = (
            f'{{"bucket":[{bucket}],"class":"{root}","leaf":"{proof.leaf}",'
            f'"nodes":{_pairs(proof.nodes)}}}'
        )
    named = ",".join([f'"{each}"' for each in classes])
    return f'{{"chunks":{as_object(chunks)},"classes":[{named}],"tops":{as_object(tops)}}}'


def read(text: str, ids: Iterable[str]) -> dict[str, Any]:
    """Give the proofs as a receipt tells them: those of the first chunk first."""
    told = json.loads(text)
    chunks = {name: {part: told["chunks"][name][part] for part in _OWN} for name in ids}
    roots = dict.fromkeys(one["class"] for one in chunks.values())
    tops = {root: told["tops"][root] for root in roots}
    return {"classes": told["classes"], "tops": tops, "chunks": chunks}


def top_of(receipt: Mapping[str, Any], chunk_id: str) -> dict[int, bytes]:
    """Give the nodes at the top of a source's tree; its own, which a proof leaves out, is told."""
    shared = receipt["proofs"]
    top = shared["tops"][shared["chunks"][chunk_id]["class"]]
    return {place: bytes.fromhex(value) for place, value in top}


def proof_of(receipt: Mapping[str, Any], chunk_id: str) -> Proof:
    """Put a source's proof together again."""
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
    """Write an object whose values are canonical JSON already; its names need no escapes."""
    return "{" + ",".join([f'"{name}":{texts[name]}' for name in sorted(texts)]) + "}"


def _pairs(nodes: Iterable[tuple[int, str]]) -> str:
    return "[" + ",".join([f'[{place},"{value}"]' for place, value in nodes]) + "]"
