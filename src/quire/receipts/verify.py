"""Does a receipt hold?

Nothing is believed: hashes are computed again, sums added up again, tokens counted again, proofs
climbed again. Each check that fails is one sentence; none means that it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quire.core import hashing, merkle
from quire.core.protocols import Counter
from quire.core.types import Chunk
from quire.errors import InputError
from quire.receipts import proof_encoding
from quire.receipts import receipt as receipts
from quire.receipts.schema import check

IN_CONTEXT = ("kept", "cut")


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
        check(receipt)
        found = [*_hashes(receipt), *_sums(receipt), *_fates(receipt), *_proofs(receipt)]
        if context is not None:
            found += _context(receipt, counter, context)
        if kept is not None:
            found += _store(receipt, {chunk.id: chunk for chunk in kept}, root)
    except InputError as error:
        return [str(error)]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return [f"the receipt is malformed: {type(error).__name__} {error}"]
    return found


def _hashes(receipt: Mapping[str, Any]) -> Iterator[str]:
    if receipts.receipt_hash(receipt) != receipt["hash"]:
        yield "the receipt was altered: its hash does not fit"
    for part in ("request", "recipe"):
        if receipts.data_hash(receipt[part]) != receipt[f"{part}_hash"]:
            yield f"the {part} was altered: its hash does not fit"


def _sums(receipt: Mapping[str, Any]) -> Iterator[str]:
    """Add up again what follows from other parts."""
    budget = receipt["recipe"]["budget"]
    tokens, available = receipt["tokens"], receipt["available"]
    verdicts = [decision["verdict"] for decision in receipt["decisions"]]
    omitted = sum(decision["step"] == "pack" for decision in receipt["decisions"])
    passing = budget["overflow"] == "skip" or receipt["recipe"]["fit"]["pack"] == "optimal"
    may_end = not budget["hard"] or not passing
    should: dict[str, Any] = {
        "available": budget["total"] - sum(budget["reserved"].values()),
        "content_tokens": sum(source["tokens"] for source in receipt["sources"]),
        "limit_exceeded": max(0, tokens - available),
        "omitted": omitted,
        "truncated": "cut" in verdicts or (may_end and omitted > 0),
        "counter": receipt["request"]["model"],
    }
    for name, value in should.items():
        if receipt[name] != value:
            yield f"{name} is {receipt[name]}, but {value} follows from the rest of the receipt"
    if budget["hard"] and tokens > available:
        yield f"{tokens} tokens pass the budget of {available}"


def _fates(receipt: Mapping[str, Any]) -> Iterator[str]:
    """Compare the sources with their chunks, and with what was decided over each."""
    names = [decision["chunk_id"] for decision in receipt["decisions"]]
    if len(set(names)) != len(names):
        yield "a candidate was decided over twice"
    inside = {
        decision["chunk_id"]: decision
        for decision in receipt["decisions"]
        if decision["verdict"] in IN_CONTEXT
    }
    sources = receipts.chunk_ids(receipt)
    if sorted(sources) != sorted(inside) or set(receipt["proofs"]["chunks"]) != set(sources):
        yield "sources, decisions and proofs do not name the same pieces"
        return
    for source in receipt["sources"]:
        told = {**source["chunk"], "chunk_id": source["chunk"]["id"]}
        if any(source[name] != told[name] for name in _NAMED):
            yield f"{source['path']}: the source is not named as its chunk is"
        decision = inside[source["chunk_id"]]
        if any(source[name] != decision[name] for name in _DECIDED):
            yield f"{source['path']}: the source is not what was decided over"


_NAMED = ("chunk_id", "record_id", "path", "lines", "title")
_DECIDED = ("path", "lines", "tokens", "score")
_LEAF = ("id", "record_id", "kind", "path", "title", "sequence", "start", "end", "lines")


def _proofs(receipt: Mapping[str, Any]) -> Iterator[str]:
    for source in receipt["sources"]:
        chunk = {**source["chunk"], "lines": tuple(source["chunk"]["lines"])}
        leaf = merkle.chunk_leaf_hash(
            tuple(chunk[name] for name in _LEAF), bytes.fromhex(chunk["text_hash"])
        )
        proof = proof_encoding.proof_of(receipt, chunk["id"])
        key = bytes.fromhex(chunk["id"])
        if not merkle.verify_leaf(proof, key, leaf, receipt["content_root"]):
            yield f"{source['path']}: not shown to be under the root {receipt['content_root']}"
        elif merkle.top_nodes(proof) != proof_encoding.top_of(receipt, chunk["id"]):
            yield f"{source['path']}: the nodes above it are not those of its proof"


def _context(receipt: Mapping[str, Any], counter: Counter, context: str) -> Iterator[str]:
    if hashing.text_hash(context).hex() != receipt["text_hash"]:
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
