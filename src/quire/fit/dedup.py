"""Does this say again what is already there?

The share of a text's three-word runs that stand in another text is its overlap with it. A
candidate that overlaps with a better one by more than the threshold is left out. Runs are looked
up in an index of what was kept, so the work grows with the text and not with the pairs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quire.values import Candidate

RUN = 3
Run = tuple[str, ...]
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A candidate that was left out, with the better one and how much of it stands there."""

    candidate: Candidate
    of: Candidate
    percent: int


def dedup(
    candidates: Sequence[Candidate], threshold: float, *, within: bool = True
) -> tuple[list[Candidate], list[Duplicate]]:
    """Part candidates, best first, into those to keep and those that repeat a better one.

    Pieces of one record are compared only if that is wanted (`within`): two functions of a file may
    be nearly alike, and yet be two.
    """
    permille = round(threshold * 1000)
    kept: list[Candidate] = []
    dropped: list[Duplicate] = []
    texts: dict[str, int] = {}
    runs_of: list[frozenset[Run]] = []
    first: dict[Run, int] = {}
    more: dict[Run, list[int]] = {}
    for candidate in candidates:
        text = candidate.chunk.text
        if text in texts:
            dropped.append(Duplicate(candidate, kept[texts[text]], 100))
            continue
        runs = word_runs(text)
        new = runs.difference(first)
        known = runs - new
        # Who shares more than the threshold shares one of any few that make up the rest. What
        # nobody holds is among them first, then what few hold: often there is nobody to look at.
        few = len(runs) - permille * len(runs) // 1000 - len(new)
        rarest = sorted(known, key=lambda run: len(more.get(run, ())))[:few] if few > 0 else ()
        near = {place for run in rarest for place in (first[run], *more.get(run, ()))}
        best, shared = None, 0
        for place in sorted(near):
            if not within and kept[place].chunk.record_id == candidate.chunk.record_id:
                continue
            common = len(runs & runs_of[place])
            if common > shared:
                best, shared = place, common
        if best is not None and shared * 1000 > permille * len(runs):
            dropped.append(Duplicate(candidate, kept[best], shared * 100 // len(runs)))
            continue
        first.update(dict.fromkeys(new, len(kept)))
        for run in known:
            more.setdefault(run, []).append(len(kept))
        texts[text] = len(kept)
        runs_of.append(runs)
        kept.append(candidate)
    return kept, dropped


def overlap(text: str, other: str) -> float:
    """Give the share of a text's three-word runs that stand in another."""
    runs = word_runs(text)
    return len(runs & word_runs(other)) / len(runs) if runs else 0.0


def word_runs(text: str) -> frozenset[Run]:
    """Give the runs of three words of a text, case aside; a shorter text is one run."""
    words = _WORD.findall(text.lower())
    if len(words) < RUN:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(words, words[1:], words[2:], strict=False))
