"""What is left out as a repeat, said in the plainest way: each is compared with all before it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quire.core.types import Candidate
from quire.packing import Duplicate


def word_runs(text: str) -> frozenset[tuple[str, ...]]:
    """Give the runs of three words of a text, case aside; a shorter text is one run."""
    words = re.findall(r"\w+|[^\w\s]", text.lower())
    if len(words) < 3:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def overlap(text: str, other: str) -> float:
    """Give the share of a text's three-word runs that stand in another."""
    runs = word_runs(text)
    return len(runs & word_runs(other)) / len(runs) if runs else 0.0


def plainly(
    candidates: Sequence[Candidate], threshold: float, *, within: bool = True
) -> tuple[list[Candidate], list[Duplicate]]:
    """Part candidates, best first, into those to keep and those that repeat a better one."""
    kept: list[Candidate] = []
    dropped: list[Duplicate] = []
    for each in candidates:
        runs = word_runs(each.chunk.text)
        same = [one for one in kept if one.chunk.text == each.chunk.text]
        shares = [
            (len(runs & word_runs(one.chunk.text)), -at)
            for at, one in enumerate(kept)
            if within or one.chunk.record_id != each.chunk.record_id
        ]
        most, place = max(shares, default=(0, 0))
        if same:
            dropped.append(Duplicate(each, same[0], 100))
        elif runs and most * 1000 > round(threshold * 1000) * len(runs):
            dropped.append(Duplicate(each, kept[-place], most * 100 // len(runs)))
        else:
            kept.append(each)
    return kept, dropped
