"""What differs between two receipts?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PLAIN = (
    "view_root",
    "content_root",
    "counter",
    "embedder",
    "judge",
    "writer",
    "failed",
    "tokens",
    "content_tokens",
    "available",
    "truncated",
    "omitted",
    "limit_exceeded",
    "text_hash",
)
ASKED = ("request", "recipe")
SAID = {
    "verdicts": "sentences of rules were judged otherwise",
    "summaries": "texts were summarized otherwise",
}
"""What a judge and a writer said."""


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say in sentences what differs, what moved the context first; `created` is no difference."""
    found = []
    if old["viewer_hash"] != new["viewer_hash"]:
        found.append("they are of two viewers, who may read different things")
    for part in ASKED:
        found += _changed(part, old[part], new[part])
    found += [
        f"{name}: {_shown(old[name])} -> {_shown(new[name])}"
        for name in PLAIN
        if old[name] != new[name]
    ]
    found += [words for name, words in SAID.items() if old[name] != new[name]]
    found += _pieces(old, new)
    if any(old[name] != new[name] for name in ("query_vector", "section_vectors")):
        found.append("the question's vector is another")
    if old["decisions"] != new["decisions"]:
        found.append(_decided(old, new))
    if not found and old["hash"] != new["hash"]:
        found.append(f"hash: {old['hash']} -> {new['hash']}")
    return found


def _shown(value: Any) -> Any:
    return None if value == "" else value


def _changed(place: str, old: Any, new: Any) -> Iterator[str]:
    """Name each setting that differs, down to the innermost."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        if old != new:
            yield f"{place}: {old} -> {new}"
        return
    for name in sorted({*old, *new}):
        yield from _changed(f"{place}.{name}", old.get(name), new.get(name))


def _pieces(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Name what is gone and what is new, and why it was not on the other side."""
    before = {source["chunk_id"]: source for source in old["sources"]}
    after = {source["chunk_id"]: source for source in new["sources"]}
    for name, source in before.items():
        if name not in after:
            yield f"gone: {_place(source)} ({_fate(new, name, 'not found any more')})"
    for name, source in after.items():
        if name not in before:
            yield f"new: {_place(source)} (before: {_fate(old, name, 'not found')})"
    if [name for name in before if name in after] != [name for name in after if name in before]:
        yield "the shared pieces stand in another order"


def _fate(receipt: Mapping[str, Any], chunk_id: str, otherwise: str) -> str:
    for decision in receipt["decisions"]:
        if decision["chunk_id"] == chunk_id:
            return f"{decision['step']}: {decision['reason']}"
    return otherwise


def _decided(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    before = {decision["chunk_id"]: decision for decision in old["decisions"]}
    after = {decision["chunk_id"]: decision for decision in new["decisions"]}
    count = sum(before.get(name) != after.get(name) for name in {*before, *after})
    if not count:
        return "the decisions stand in another order"
    return f"over {count} of {len({*before, *after})} candidates it was decided otherwise"


def _place(source: Mapping[str, Any]) -> str:
    first, last = source["lines"]
    return f"{source['path']}:{first}-{last}" if first else str(source["path"])
