"""Labelled pairs, their scores, and the curve of precision and recall over thresholds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quire.core.protocols import Embedder
from quire.rules.semantic_judge import SemanticJudge

GRIDS = Path(__file__).parent / "grids.json"
TUNE, KEPT = "tune", "kept"
HALVES = (TUNE, KEPT)


@dataclass(frozen=True)
class Pair:
    """A condition, a situation, and whether the condition holds in it."""

    says: str
    situation: dict[str, Any]
    applies: bool


@dataclass(frozen=True)
class Point:
    """The accuracy at a threshold, which is in thousandths."""

    threshold: int
    precision: float
    recall: float
    accepted: int

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def pairs(half: str, path: Path = GRIDS) -> list[Pair]:
    """Return the labelled pairs of one half."""
    return list(_pairs(json.loads(path.read_text("utf-8"))[HALVES.index(half) :: 2]))


def _pairs(grids: Sequence[dict[str, Any]]) -> Iterator[Pair]:
    for grid in grids:
        for row in grid["situations"]:
            for number, says in enumerate(grid["rules"]):
                yield Pair(says, row["situation"], number in row["holds"])


def scores(embedder: Embedder, labelled: Sequence[Pair]) -> list[tuple[int, bool]]:
    """Return the score that the judge gives each pair, in thousandths, and the label."""
    judge = SemanticJudge(embedder, 0)
    by_situation: dict[str, list[Pair]] = {}
    for pair in labelled:
        by_situation.setdefault(json.dumps(pair.situation, sort_keys=True), []).append(pair)
    return [
        (round(float(verdict.reason.split()[1]) * 1000), pair.applies)
        for group in by_situation.values()
        for pair, verdict in zip(
            group,
            judge.judge([pair.says for pair in group], group[0].situation),
            strict=True,
        )
    ]


def measure(scored: Sequence[tuple[int, bool]], threshold: int) -> Point:
    """Return the accuracy at a threshold."""
    accepted = [applies for score, applies in scored if score >= threshold]
    true = sum(applies for _, applies in scored)
    return Point(
        threshold,
        precision=sum(accepted) / len(accepted) if accepted else 1.0,
        recall=sum(accepted) / true if true else 1.0,
        accepted=len(accepted),
    )


def best_threshold(scored: Sequence[tuple[int, bool]]) -> int:
    """Return the threshold with the highest F1; of several, the highest."""
    candidates = {score for score, _ in scored}
    return max((measure(scored, threshold).f1, threshold) for threshold in candidates)[1]
