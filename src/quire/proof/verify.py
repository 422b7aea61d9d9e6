"""Does a receipt hold?

Nothing is believed: hashes are computed again, tokens counted again, proofs climbed again. Each
check that fails is one sentence; none means that it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quire import hashes, merkle
from quire.contracts import Counter
from quire.proof import receipt as receipts
from quire.values import Chunk


def verify(
    receipt: Mapping[str, Any],
    counter: Counter,
    *,
    context: str | None = None,
    kept: Sequence[Chunk] | None = None,
    root: str | None = None,
) -> list[str]:
    """Check a receipt, with the context and with what a store holds where they are given."""
    try:
        found = [*_itself(receipt), *_proofs(receipt)]
        if context is not None:
            found += _context(receipt, counter, context)
        if kept is not None:
            found += _store(receipt, {chunk.id: chunk for chunk in kept}, root)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        return [f"the receipt is malformed: {type(error).__name__} {error}"]
    return found


def _itself(receipt: Mapping[str, Any]) -> Iterator[str]:
    if receipts.receipt_hash(receipt) != receipt["hash"]:
        yield "the receipt was altered: its hash does not fit"
    for part in ("request", "recipe"):
        if receipts.data_hash(receipt[part]) != receipt[f"{part}_hash"]:
            yield f"the {part} was altered: its hash does not fit"
    if receipt["recipe"]["budget"]["hard"] and receipt["tokens"] > receipt["available"]:
        yield f"{receipt['tokens']} tokens pass the budget of {receipt['available']}"


def _proofs(receipt: Mapping[str, Any]) -> Iterator[str]:
    for source in receipt["sources"]:
        chunk = source["chunk"]
        fields = tuple(
            tuple(chunk[name]) if name == "lines" else chunk[name]
            for name in (
                "id",
                "record_id",
                "kind",
                "path",
                "title",
                "sequence",
                "start",
                "end",
                "lines",
            )
        )
        leaf = merkle.leaf_of(fields, bytes.fromhex(chunk["text_hash"]))
        proof = receipts.proof_of(receipt, chunk["id"])
        key = bytes.fromhex(chunk["id"])
        if not merkle.verify_leaf(proof, key, leaf, receipt["content_root"]):
            yield f"{source['path']}: not shown to be under the root {receipt['content_root']}"


def _context(receipt: Mapping[str, Any], counter: Counter, context: str) -> Iterator[str]:
    if hashes.text_hash(context).hex() != receipt["text_hash"]:
        yield "the context was altered: its hash does not fit"
    if counter.name != receipt["counter"]:
        yield f"counted with {counter.name}, the receipt says {receipt['counter']}"
    elif (counted := counter.count(context)) != receipt["tokens"]:
        yield f"the context has {counted} tokens, the receipt says {receipt['tokens']}"


def _store(
    receipt: Mapping[str, Any], kept: Mapping[str, Chunk], root: str | None
) -> Iterator[str]:
    moved = root != receipt["view_root"]
    for source in receipt["sources"]:
        chunk = kept.get(source["chunk_id"])
        if chunk is None:
            if not moved:
                yield f"{source['path']}: the store says it is as it was, but this piece is gone"
        elif merkle.chunk_leaf(chunk)[1].hex() != receipt["proofs"]["chunks"][chunk.id]["leaf"]:
            yield f"{source['path']}: chunk {chunk.id} in the store is not what the receipt names"
