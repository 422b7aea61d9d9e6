"""Verify receipts.

Nothing is taken on trust: hashes are computed again, sums added up again, tokens counted again,
proofs followed to their root again. Each check that fails is one sentence; none means that the
receipt holds. A receipt of an earlier version is hashed as it was written.
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
from quire.receipts.schema import read

INCLUDED = ("kept", "cut")
"""The verdicts over candidates that are in the context."""


def verify(
    receipt: Mapping[str, Any],
    counter: Counter,
    *,
    context: str | None = None,
    stored: Sequence[Chunk] | None = None,
    root: str | None = None,
) -> list[str]:
    """Check a receipt, against its context and against the chunks of a store if they are given."""
    try:
        data = read(receipt)
        problems = [*_hashes(receipt), *_sums(data), *_sources(data), *_proofs(data)]
        if context is not None:
            problems += _context(data, counter, context)
        if stored is not None:
            problems += _store(data, {chunk.id: chunk for chunk in stored}, root)
    except InputError as error:
        return [str(error)]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return [f"the receipt is malformed: {type(error).__name__} {error}"]
    return problems


def _hashes(receipt: Mapping[str, Any]) -> Iterator[str]:
    """Compute the hashes again, over the fields that the receipt was written with."""
    if receipts.receipt_hash(receipt) != receipt["hash"]:
        yield "the receipt was altered: its hash does not match"
    for part in ("request", "recipe"):
        if receipts.data_hash(receipt[part]) != receipt[f"{part}_hash"]:
            yield f"the {part} was altered: its hash does not match"


def _sums(receipt: Mapping[str, Any]) -> Iterator[str]:
    """Add up again what follows from other parts."""
    budget = receipt["recipe"]["budget"]
    tokens, available = receipt["tokens"], receipt["available"]
    verdicts = [decision["verdict"] for decision in receipt["decisions"]]
    omitted = sum(decision["step"] == "pack" for decision in receipt["decisions"])
    skips = budget["overflow"] == "skip" or receipt["recipe"]["fit"]["pack"] == "optimal"
    may_stop = not budget["hard"] or not skips
    expected: dict[str, Any] = {
        "available": budget["total"] - sum(budget["reserved"].values()),
        "content_tokens": sum(source["tokens"] for source in receipt["sources"]),
        "limit_exceeded": max(0, tokens - available),
        "omitted": omitted,
        "truncated": "cut" in verdicts or (may_stop and omitted > 0),
        "counter": receipt["request"]["model"],
    }
    for name, value in expected.items():
        if receipt[name] != value:
            yield f"{name} is {receipt[name]}, but {value} follows from the rest of the receipt"
    if budget["hard"] and tokens > available:
        yield f"{tokens} tokens exceed the budget of {available}"


def _sources(receipt: Mapping[str, Any]) -> Iterator[str]:
    """Compare the sources with their chunks, and with the decision on each."""
    names = [decision["chunk_id"] for decision in receipt["decisions"]]
    if len(set(names)) != len(names):
        yield "there are two decisions on one candidate"
    included = {
        decision["chunk_id"]: decision
        for decision in receipt["decisions"]
        if decision["verdict"] in INCLUDED
    }
    sources = receipts.chunk_ids(receipt)
    if sorted(sources) != sorted(included) or set(receipt["proofs"]["chunks"]) != set(sources):
        yield "sources, decisions and proofs do not name the same pieces"
        return
    for source in receipt["sources"]:
        chunk = {**source["chunk"], "chunk_id": source["chunk"]["id"]}
        if any(source[name] != chunk[name] for name in _CHUNK_FIELDS):
            yield f"{source['path']}: the source does not match its chunk"
        decision = included[source["chunk_id"]]
        if any(source[name] != decision[name] for name in _DECISION_FIELDS):
            yield f"{source['path']}: the source does not match its decision"


_CHUNK_FIELDS = ("chunk_id", "record_id", "path", "lines", "title")
_DECISION_FIELDS = ("path", "lines", "tokens", "score")
_LEAF_FIELDS = ("id", "record_id", "kind", "path", "title", "sequence", "start", "end", "lines")


def _proofs(receipt: Mapping[str, Any]) -> Iterator[str]:
    for source in receipt["sources"]:
        chunk = {**source["chunk"], "lines": tuple(source["chunk"]["lines"])}
        leaf = merkle.chunk_leaf_hash(
            tuple(chunk[name] for name in _LEAF_FIELDS), bytes.fromhex(chunk["text_hash"])
        )
        proof = proof_encoding.proof_of(receipt, chunk["id"])
        key = bytes.fromhex(chunk["id"])
        if not merkle.verify_leaf(proof, key, leaf, receipt["content_root"]):
            yield f"{source['path']}: not proved to be under the root {receipt['content_root']}"
        elif merkle.top_nodes(proof) != proof_encoding.top_of(receipt, chunk["id"]):
            yield f"{source['path']}: the nodes above it are not those of its proof"


def _context(receipt: Mapping[str, Any], counter: Counter, context: str) -> Iterator[str]:
    if hashing.text_hash(context).hex() != receipt["text_hash"]:
        yield "the context was altered: its hash does not match"
    if counter.name != receipt["counter"]:
        yield f"counted with {counter.name}, but the receipt says {receipt['counter']}"
    elif (counted := counter.count(context)) != receipt["tokens"]:
        yield f"the context has {counted} tokens, but the receipt says {receipt['tokens']}"


def _store(
    receipt: Mapping[str, Any], stored: Mapping[str, Chunk], root: str | None
) -> Iterator[str]:
    changed = root != receipt["view_root"]
    for source in receipt["sources"]:
        chunk = stored.get(source["chunk_id"])
        if chunk is None:
            if not changed:
                yield f"{source['path']}: the store claims to be unchanged, but this piece is gone"
        elif merkle.chunk_leaf(chunk)[1].hex() != receipt["proofs"]["chunks"][chunk.id]["leaf"]:
            yield f"{source['path']}: chunk {chunk.id} in the store is not the one in the receipt"
