"""Do two parts of a page tell of the same thing?

A value is worded by one of its experiences; a commit that changes one file alone tells of what
stands in it. Where both were found, for different sections, the weaker one says little more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from quire.core.types import Candidate

DROP, DEMOTE, KEEP = "drop", "demote", "keep"
SAME_PATH = (DROP, DEMOTE, KEEP)
"""What becomes of a commit and code that tell of one path."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A candidate that was left out, with the better one that tells of the same."""

    candidate: Candidate
    of: Candidate


def repeats(
    candidates: Sequence[Candidate], same_path: str
) -> tuple[list[Candidate], list[Repeat]]:
    """Part candidates into those to keep, best first, and those that tell of a better one's.

    The better one is who answers better. What lifts experiences within their section says nothing
    about a value beside them.
    """
    kept: list[Candidate] = []
    dropped: list[Repeat] = []
    told: dict[Key, list[Candidate]] = {}
    for candidate in sorted(candidates, key=_by_relevance):
        keys = list(_keys(candidate, paths=same_path != KEEP))
        better = [
            (key, other)
            for key in keys
            for other in told.get(key, ())
            if _kind(other) != _kind(candidate) and other.section != candidate.section
        ]
        if any(same_path == DROP or what != "path" for (what, _), _ in better):
            dropped.append(Repeat(candidate, better[0][1]))
            continue
        for key in keys:
            told.setdefault(key, []).append(candidate)
        kept.append(replace(candidate, score=candidate.score // 2) if better else candidate)
    return sorted(kept, key=lambda candidate: candidate.order), dropped


def _by_relevance(candidate: Candidate) -> tuple[int, tuple[int, str, int, int, str]]:
    return -candidate.relevance, candidate.order


def _keys(candidate: Candidate, *, paths: bool) -> Iterator[Key]:
    """Name what a candidate tells of."""
    record, text = candidate.record, candidate.chunk.text.strip()
    if record is None or candidate.section is None:
        return
    if record.kind == "value":
        yield "told", text
    elif record.kind == "experience":
        yield "told", text
        yield "told", str(record.attrs.get("lesson", "")).strip()
    elif paths and record.kind == "code":
        yield "path", record.path
    elif paths and record.kind == "commit" and len(record.paths) == 1:
        yield "path", record.paths[0]


def _kind(candidate: Candidate) -> str:
    return "" if candidate.record is None else candidate.record.kind
