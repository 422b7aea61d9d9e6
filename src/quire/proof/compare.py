"""What differs between two receipts?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PLAIN = (
    "request_hash",
    "recipe_hash",
    "view_root",
    "content_root",
    "viewer_hash",
    "counter",
    "embedder",
    "tokens",
    "content_tokens",
    "available",
    "truncated",
    "text_hash",
)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say in sentences what differs, what moved the context first."""
    found = [
        f"{name}: {old.get(name)} -> {new.get(name)}"
        for name in PLAIN
        if old.get(name) != new.get(name)
    ]
    before = {source["chunk_id"]: source for source in old["sources"]}
    after = {source["chunk_id"]: source for source in new["sources"]}
    fate = {decision["chunk_id"]: decision for decision in new["decisions"]}
    for name, source in before.items():
        if name not in after:
            told = fate.get(name)
            why = f"{told['step']}: {told['reason']}" if told else "no longer found"
            found.append(f"gone: {_place(source)} ({why})")
    found += [f"new: {_place(source)}" for name, source in after.items() if name not in before]
    shared = [name for name in before if name in after]
    if shared != [name for name in after if name in before]:
        found.append("the shared pieces stand in another order")
    return found


def _place(source: Mapping[str, Any]) -> str:
    first, last = source["lines"]
    return f"{source['path']}:{first}-{last}" if first else str(source["path"])
