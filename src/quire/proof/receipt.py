"""What must be written down so that anyone can check a context later?

A receipt is canonical JSON: the request, the recipe, the counter, the model and the query's vector,
the root of what the viewer could read, every decision, every source with its proof, and the hash of
the text. `hash` covers all of it but itself and `created`, the only clock in Quire.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

from quire import hashes, merkle
from quire.errors import InputError
from quire.proof.sealed import SealedList, sealed
from quire.values import Chunk, Context, Proof, Recipe, Request, Roots, Verdict, Viewer

VERSION = 1
UNHASHED = ("hash", "created")
PAIRS = 1 << 16
"""As many nodes stand below the top of one tree."""
_PLAIN = (str, int, float, type(None))

Receipt = dict[str, Any]
Pairs = SealedList[SealedList[int | str]]


def make(
    request: Request,
    recipe: Recipe,
    context: Context,
    chunks: Sequence[Chunk],
    proofs: Sequence[Proof],
    **state: Any,
) -> Receipt:
    """Write the receipt of a context, never to be altered; `state` is what `viewed` gave."""
    receipt: Receipt = {
        "version": VERSION,
        "request": plain(request),
        "recipe": plain(recipe),
        **state,
        "query_vector": None,
        "sources": [
            {**plain(source), "chunk": _chunk(chunk)}
            for source, chunk in zip(context.sources, chunks, strict=True)
        ],
        "proofs": _shared(proofs),
        "decisions": plain(context.decisions),
        "failed": plain(context.failed),
        "tokens": context.tokens,
        "content_tokens": context.content_tokens,
        "available": context.available,
        "truncated": context.truncated,
        "omitted": context.omitted,
        "limit_exceeded": context.limit_exceeded,
        "text_hash": hashes.text_hash(context.text).hex(),
    }
    # The vector of the question itself has a place of its own beside those of the sections.
    receipt["query_vector"] = receipt["section_vectors"].pop(request.query, None)
    receipt["request_hash"] = data_hash(receipt["request"])
    receipt["recipe_hash"] = data_hash(receipt["recipe"])
    receipt["hash"] = receipt_hash(receipt)
    told: Receipt = sealed(receipt)
    return told


def plain(value: Any) -> Any:
    """Give a value as JSON would give it back: dictionaries, lists, texts and numbers."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}


def viewed(
    roots: Roots,
    viewer: Viewer,
    counter: str,
    embedder: str | None,
    vectors: Mapping[str, bytes],
) -> dict[str, Any]:
    """Give what a receipt says of the state that was read, and of who read it with what."""
    return {
        "view_root": roots.state,
        "content_root": roots.content,
        "viewer_hash": viewer_hash(viewer),
        "counter": counter,
        "embedder": embedder,
        "section_vectors": {query: vectors[query].hex() for query in sorted(vectors)},
    }


def judged(judge: str, verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Give what a receipt says of what was judged, and by whom."""
    return {"judge": judge, "verdicts": {key: plain(verdicts[key]) for key in sorted(verdicts)}}


def viewer_hash(viewer: Viewer) -> str:
    """Name a viewer without naming them."""
    return hashes.digest("viewer", int(viewer.owner), tuple(sorted(viewer.principals))).hex()


def canonical(data: object) -> str:
    """Write data as JSON in its one canonical form."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def data_hash(data: object) -> str:
    """Hash data by its canonical form."""
    return hashes.text_hash(canonical(data)).hex()


def receipt_hash(receipt: Mapping[str, Any]) -> str:
    """Hash a receipt without its own hash and its clock."""
    return data_hash({key: value for key, value in receipt.items() if key not in UNHASHED})


def parse(text: str) -> Receipt:
    """Read a receipt, or say why it is none."""
    try:
        receipt = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        told = "nested too deep" if isinstance(error, RecursionError) else error
        raise InputError(f"this is no receipt: it is not JSON ({told})") from error
    if not isinstance(receipt, dict) or "version" not in receipt or "text_hash" not in receipt:
        raise InputError("this is no receipt: `quire assemble --receipt FILE` writes one")
    if receipt["version"] != VERSION:
        raise InputError(
            f"the receipt has version {receipt['version']!r}; this Quire knows {VERSION}"
        )
    return receipt


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that is given twice: of two values one would be believed unseen."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def chunk_ids(receipt: Mapping[str, Any]) -> list[str]:
    """Name the chunks of a receipt's context, in their order."""
    return [source["chunk_id"] for source in receipt["sources"]]


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


def _chunk(chunk: Chunk) -> dict[str, Any]:
    """Give all that a chunk's leaf is made of, the text by its hash."""
    told: dict[str, Any] = plain(chunk)
    told["text_hash"] = hashes.text_hash(told.pop("text")).hex()
    return told


@lru_cache(PAIRS)
def _shared_pair(pair: tuple[int, str]) -> SealedList[int | str]:
    """Give a node's place and hash, as one object to all receipts: they hold thousands of them.

    Each that is made anew is one more for the garbage collector to look at, as long as any
    context that holds it is kept.
    """
    return SealedList(pair)


def _shared(proofs: Sequence[Proof]) -> dict[str, Any]:
    """Write proofs without repeating what they share: the class roots and the tops of trees."""
    tops: dict[str, Pairs] = {}
    chunks: dict[str, Any] = {}
    for proof in proofs:
        top = merkle.whole_top(proof)
        root = merkle.node_hash(top).hex()
        if root not in tops:
            nodes = ((place, top[place].hex()) for place in sorted(top))
            tops[root] = SealedList(map(_shared_pair, nodes))
        chunks[proof.chunk_id] = {
            "leaf": proof.leaf,
            "bucket": [list(pair) for pair in proof.bucket],
            "nodes": SealedList(map(_shared_pair, proof.nodes)),
            "class": root,
        }
    classes = list(proofs[0].classes) if proofs else []
    return {"classes": classes, "tops": tops, "chunks": chunks}
