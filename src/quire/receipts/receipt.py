"""What must be written down so that anyone can check a context later?

A receipt is canonical JSON: the request, the recipe, the counter, the model and the query's vector,
the root of what the viewer could read, every decision, every source with its proof, and the hash of
the text. `hash` covers all of it but itself and `created`, the only clock in Quire.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache, partial
from typing import Any

from quire.core import hashing
from quire.core.types import Chunk, Context, Proof, Recipe, Request, Roots, Verdict, Viewer
from quire.errors import InputError
from quire.receipts import proof_encoding
from quire.receipts.frozen import sealed
from quire.receipts.lazy import InParts

VERSION = 1
UNHASHED = ("hash", "created")
IN_PARTS = ("proofs", "decisions")
"""What is long, and put together when it is read."""
_PLAIN = (str, int, float, type(None))

Receipt = dict[str, Any]


def make(
    request: Request,
    recipe: Recipe,
    context: Context,
    chunks: Sequence[Chunk],
    proofs: Sequence[Proof],
    **state: Any,
) -> Receipt:
    """Write the receipt of a context, never to be altered; `state` is what `viewed` gave."""
    written = proof_encoding.write(proofs)
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
        "proofs": partial(proof_encoding.read, written, [proof.chunk_id for proof in proofs]),
        "decisions": partial(plain, context.decisions),
        "failed": plain(context.failed),
        "tokens": context.tokens,
        "content_tokens": context.content_tokens,
        "available": context.available,
        "truncated": context.truncated,
        "omitted": context.omitted,
        "limit_exceeded": context.limit_exceeded,
        "text_hash": hashing.text_hash(context.text).hex(),
    }
    # The vector of the question itself has a place of its own beside those of the sections.
    receipt["query_vector"] = receipt["section_vectors"].pop(request.query, None)
    texts = {name: canonical(value) for name, value in receipt.items() if name not in IN_PARTS}
    texts["proofs"], texts["decisions"] = written, canonical(context.decisions)
    for part in ("request", "recipe"):
        receipt[f"{part}_hash"] = hashing.text_hash(texts[part]).hex()
        texts[f"{part}_hash"] = canonical(receipt[f"{part}_hash"])
    receipt["hash"] = hashing.text_hash(proof_encoding.as_object(texts)).hex()
    return InParts({name: sealed(value) for name, value in receipt.items()})


def plain(value: Any) -> Any:
    """Give a value as JSON would give it back: dictionaries, lists, texts and numbers."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return {name: plain(item) for name, item in _as_data(value).items()}


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


def summarized(writer: str, summaries: Mapping[str, str]) -> dict[str, Any]:
    """Give what a receipt says of what was written of longer texts, and by whom."""
    return {"writer": writer, "summaries": dict(sorted(summaries.items()))}


def viewer_hash(viewer: Viewer) -> str:
    """Name a viewer without naming them."""
    return hashing.digest("viewer", int(viewer.owner), tuple(sorted(viewer.principals))).hex()


def canonical(data: object) -> str:
    """Write data as JSON in its one canonical form."""
    return json.dumps(
        data, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_as_data
    )


def data_hash(data: object) -> str:
    """Hash data by its canonical form."""
    return hashing.text_hash(canonical(data)).hex()


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


def _chunk(chunk: Chunk) -> dict[str, Any]:
    """Give all that a chunk's leaf is made of, the text by its hash."""
    told: dict[str, Any] = plain(chunk)
    told["text_hash"] = hashing.text_hash(told.pop("text")).hex()
    return told


def _as_data(value: object) -> dict[str, Any]:
    names = _names(type(value))  # type: ignore[arg-type]  # a type is hashable
    return {name: getattr(value, name) for name in names}


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
