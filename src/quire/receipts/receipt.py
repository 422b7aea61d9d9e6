"""Receipts: everything that is needed to check a context later.

A receipt is canonical JSON: the request, the recipe, the counter, the model and the query's vector,
the root of what the viewer could read, every decision, every source with its proof, and the hash of
the text. `hash` covers all of it but itself and `created`, the time that the command line adds; the
long parts (proofs, and the decisions on what was left out) it covers by their own hashes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from quire.core import hashing
from quire.core.types import (
    BROUGHT,
    RECEIPT_PARTS,
    Chunk,
    Context,
    Proof,
    Recipe,
    Request,
    Roots,
    Verdict,
    Viewer,
)
from quire.errors import InputError
from quire.receipts import parts, proof_encoding
from quire.receipts.canonical import (
    canonical,
    data_hash,
    plain,
)
from quire.receipts.frozen import freeze
from quire.receipts.lazy import LazyDict
from quire.receipts.schema import VERSION, schema_version
from quire.receipts.written import WrittenDecisions, as_data

PIPELINE = 3
"""The version of the pipeline: raised by one when any recipe makes another context of the same
request and store."""
UNHASHED = ("hash", "created")
LAZY_FIELDS = ("decisions", *RECEIPT_PARTS)
"""Long fields, which are built when they are read."""

Receipt = dict[str, Any]


def make(
    request: Request,
    recipe: Recipe,
    context: Context,
    chunks: Sequence[Chunk],
    proofs: Sequence[Proof],
    **state: Any,
) -> Receipt:
    """Make the frozen receipt of a context.

    `state` holds the fields that `view_fields`, `verdict_fields`, `summary_fields` and
    `rerank_fields` return.
    """
    written = proof_encoding.encode(proofs)
    decisions = WrittenDecisions.of(context.decisions)
    receipt: Receipt = {
        "version": VERSION,
        "pipeline": PIPELINE,
        "request": plain(request),
        "recipe": plain(recipe),
        **state,
        "query_vector": None,
        "sources": [
            {**plain(source), "chunk": _chunk(chunk)}
            for source, chunk in zip(context.sources, chunks, strict=True)
        ],
        "proofs": partial(proof_encoding.decode, written, [proof.chunk_id for proof in proofs]),
        "decisions": partial(as_data, decisions.included),
        "excluded": partial(as_data, decisions.excluded),
        "parts": parts.name_parts(
            hashing.text_hash(decisions.excluded).hex(),
            decisions.excluded_count,
            hashing.text_hash(written).hex(),
            len(context.sources),
        ),
        "failed": plain(context.failed),
        "tokens": context.tokens,
        "content_tokens": context.content_tokens,
        "available": context.available,
        "truncated": context.truncated,
        "omitted": context.omitted,
        "limit_exceeded": context.limit_exceeded,
        "text_hash": hashing.text_hash(context.text).hex(),
    }
    # The vector of the query itself has a field of its own beside those of the sections.
    receipt["query_vector"] = receipt["section_vectors"].pop(request.query, None)
    texts = {name: canonical(value) for name, value in receipt.items() if name not in LAZY_FIELDS}
    texts["decisions"] = decisions.included
    for part in ("request", "recipe"):
        receipt[f"{part}_hash"] = hashing.text_hash(texts[part]).hex()
        texts[f"{part}_hash"] = canonical(receipt[f"{part}_hash"])
    receipt["hash"] = hashing.text_hash(proof_encoding.as_object(texts)).hex()
    return LazyDict({name: freeze(value) for name, value in receipt.items()})


def view_fields(
    roots: Roots,
    viewer: Viewer,
    counter: str,
    embedder: str | None,
    vectors: Mapping[str, bytes],
) -> dict[str, Any]:
    """Return the fields about the state that was read, and who read it with what."""
    return {
        "view_root": roots.state,
        "content_root": roots.content,
        "viewer_hash": viewer_hash(viewer),
        "counter": counter,
        "embedder": embedder,
        "section_vectors": {query: vectors[query].hex() for query in sorted(vectors)},
    }


def verdict_fields(judge: str, verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Return the fields about the verdicts of a judge."""
    return {"judge": judge, "verdicts": {key: plain(verdicts[key]) for key in sorted(verdicts)}}


def summary_fields(writer: str, summaries: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields about the summaries of a writer."""
    return {"writer": writer, "summaries": dict(sorted(summaries.items()))}


def rerank_fields(reranker: str, scores: Mapping[str, int]) -> dict[str, Any]:
    """Return the fields about the scores of a reranker, if there was one."""
    return {"reranker": reranker, "reranks": dict(sorted(scores.items()))} if scores else {}


def viewer_hash(viewer: Viewer) -> str:
    """Hash a viewer, so that a receipt identifies without naming them."""
    return hashing.digest("viewer", int(viewer.owner), tuple(sorted(viewer.principals))).hex()


def receipt_hash(receipt: Mapping[str, Any]) -> str:
    """Hash a receipt, without its own hash and the time it was written."""
    return data_hash(
        {key: value for key, value in parts.compact(receipt).items() if key not in UNHASHED}
    )


def parse(text: str) -> Receipt:
    """Parse a receipt as it was written; refuse what is not one, or of a newer version."""
    receipt = parse_json(text)
    if not isinstance(receipt, dict) or "version" not in receipt or "text_hash" not in receipt:
        raise InputError("this is not a receipt", hint="`quire assemble --receipt FILE` writes one")
    schema_version(receipt)
    return receipt


def parse_json(text: str) -> Any:
    """Parse JSON as receipts are written: no name occurs twice."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else error
        raise InputError(f"this is not a receipt: it is not JSON ({reason})") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that occurs twice: of two values one would be believed unseen."""
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name occurs twice")
    return values


def chunk_ids(receipt: Mapping[str, Any]) -> list[str]:
    """Return the ids of the chunks in a receipt's context, in their order."""
    return [source["chunk_id"] for source in receipt["sources"]]


def is_brought(receipt: Mapping[str, Any]) -> bool:
    """Tell whether the caller brought the texts of a context."""
    return [*receipt["recipe"].get("sources", ())] == [BROUGHT]


def _chunk(chunk: Chunk) -> dict[str, Any]:
    """Return everything that a chunk's leaf is made of, with the hash of its text."""
    data: dict[str, Any] = plain(chunk)
    data["text_hash"] = hashing.text_hash(data.pop("text")).hex()
    return data
