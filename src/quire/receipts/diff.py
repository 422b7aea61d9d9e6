"""Compare two receipts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quire.core.types import RECEIPT_PARTS
from quire.receipts.parts import EXCLUDED, all_decisions
from quire.receipts.schema import read

PLAIN_FIELDS = (
    "pipeline",
    "view_root",
    "content_root",
    "counter",
    "embedder",
    "judge",
    "writer",
    "reranker",
    "plugins",
    "failed",
    "tokens",
    "content_tokens",
    "available",
    "truncated",
    "omitted",
    "limit_exceeded",
    "text_hash",
)
NESTED_FIELDS = ("request", "recipe")
MODEL_FIELDS = {
    "verdicts": "a judge gave other verdicts on the sentences of rules",
    "summaries": "a writer gave other summaries",
    "reranks": "a reranker gave other scores",
}
DERIVED_FIELDS = ("version", "request_hash", "recipe_hash", "hash")
"""Fields that follow from the others and the version of the schema."""


def diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Describe what differs between two receipts, the causes first; of any versions.

    When they were written, and in which version of the schema, is no difference.
    """
    before, after = read(old), read(new)
    changes = [*_changes(before, after)]
    rest = [name for name in before if name not in (*DERIVED_FIELDS, *RECEIPT_PARTS, "parts")]
    rest += [name for name in RECEIPT_PARTS if _part_differs(before, after, name)]
    if not changes and any(before[name] != after[name] for name in rest):
        changes.append(f"hash: {before['hash']} -> {after['hash']}")
    return changes


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if old["viewer_hash"] != new["viewer_hash"]:
        yield "they are of two viewers, who may read different things"
    for name in NESTED_FIELDS:
        yield from _settings(name, old[name], new[name])
    for name in PLAIN_FIELDS:
        if old[name] != new[name]:
            yield f"{name}: {_shown(old[name])} -> {_shown(new[name])}"
    for name, description in MODEL_FIELDS.items():
        if old[name] != new[name]:
            yield description
    yield from _pieces(old, new)
    if any(old[name] != new[name] for name in ("query_vector", "section_vectors")):
        yield "the vector of the query differs"
    if old["decisions"] != new["decisions"] or _part_differs(old, new, EXCLUDED):
        yield _decisions(old, new)


def _part_differs(old: Mapping[str, Any], new: Mapping[str, Any], name: str) -> bool:
    """Compare a part by its entries if both receipts have it, else by the hashes they name."""
    if old[name] is None or new[name] is None:
        return bool(old["parts"][name]["hash"] != new["parts"][name]["hash"])
    return bool(old[name] != new[name])


def _shown(value: Any) -> Any:
    return None if value == "" else value


def _settings(place: str, old: Any, new: Any) -> Iterator[str]:
    """Name each setting that differs, down to the innermost."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        if old != new:
            yield f"{place}: {old} -> {new}"
        return
    for name in sorted({*old, *new}):
        yield from _settings(f"{place}.{name}", old.get(name), new.get(name))


def _pieces(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Name the pieces that are gone or new, and what became of them in the other context."""
    before = {source["chunk_id"]: source for source in old["sources"]}
    after = {source["chunk_id"]: source for source in new["sources"]}
    for name, source in before.items():
        if name not in after:
            yield f"gone: {_place(source)} ({_outcome(new, name, 'no longer found')})"
    for name, source in after.items():
        if name not in before:
            yield f"new: {_place(source)} (before: {_outcome(old, name, 'not found')})"
    if [name for name in before if name in after] != [name for name in after if name in before]:
        yield "the shared pieces are in another order"


def _outcome(receipt: Mapping[str, Any], chunk_id: str, otherwise: str) -> str:
    for decision in all_decisions(receipt):
        if decision["chunk_id"] == chunk_id:
            return f"{decision['step']}: {decision['reason']}"
    return otherwise if receipt[EXCLUDED] is not None else f"{otherwise}, or left out"


def _decisions(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    if old[EXCLUDED] is None or new[EXCLUDED] is None:
        return "the decisions on what was left out differ"
    before = {decision["chunk_id"]: decision for decision in all_decisions(old)}
    after = {decision["chunk_id"]: decision for decision in all_decisions(new)}
    count = sum(before.get(name) != after.get(name) for name in {*before, *after})
    if not count:
        return "the decisions are in another order"
    return f"the decisions on {count} of {len({*before, *after})} candidates differ"


def _place(source: Mapping[str, Any]) -> str:
    first, last = source["lines"]
    return f"{source['path']}:{first}-{last}" if first else str(source["path"])
