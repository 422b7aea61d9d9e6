"""Reference implementation of `dedup`: each text is compared with all before it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quire.core.types import Candidate
from quire.packing import Duplicate
from quire.packing.differences import may_replace


def word_runs(text: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of three words of a text, ignoring case; a shorter text is one run."""
    words = re.findall(r"\w+|[^\w\s]", text.lower())
    if len(words) < 3:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def overlap(text: str, other: str) -> float:
    """Return the share of a text's runs of three words that another text holds."""
    runs = word_runs(text)
    return len(runs & word_runs(other)) / len(runs) if runs else 0.0


def dedup_all_pairs(
    candidates: Sequence[Candidate], threshold: float, *, within: bool = True
) -> tuple[list[Candidate], list[Duplicate]]:
    """Split candidates, best first, into those to keep and those that duplicate a better one."""
    kept: list[Candidate] = []
    dropped: list[Duplicate] = []
    for candidate in candidates:
        runs = word_runs(candidate.chunk.text)
        same = [other for other in kept if other.chunk.text == candidate.chunk.text]
        shares = [
            (len(runs & word_runs(other.chunk.text)), -at)
            for at, other in enumerate(kept)
            if (within or other.chunk.record_id != candidate.chunk.record_id)
            and may_replace(candidate, other)
        ]
        most, place = max(shares, default=(0, 0))
        if same:
            dropped.append(Duplicate(candidate, same[0], 100))
        elif runs and most * 1000 > round(threshold * 1000) * len(runs):
            dropped.append(Duplicate(candidate, kept[-place], most * 100 // len(runs)))
        else:
            kept.append(candidate)
    return kept, dropped
