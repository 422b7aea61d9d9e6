"""How often the semantic judge is right about conditions that have a few situations each.

Unlike in practice, half of the pairs are true: `bench/judge` measures whole rule sets, and the
threshold is chosen there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from bench.judge.grids import Pair
from quire.core.protocols import Embedder
from quire.rules.semantic_judge import SemanticJudge

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Accuracy:
    pairs: int
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def pairs(name: str) -> list[list[Pair]]:
    """Return the labelled pairs of a file, by condition."""
    return [
        [
            Pair(case["says"], situation, applies)
            for key, applies in (("yes", True), ("no", False))
            for situation in case[key]
        ]
        for case in json.loads((FOLDER / name).read_text("utf-8"))
    ]


def scores(embedder: Embedder, cases: list[list[Pair]]) -> list[tuple[int, bool]]:
    """Return for each pair the margin of the judge, in thousandths, and the label."""
    judge = SemanticJudge(embedder, 0)
    return [
        (round(float(verdict.reason.split()[1]) * 1000), pair.applies)
        for case in cases
        for pair in case
        for verdict in judge.judge([pair.says], pair.situation)
    ]


def measure(scored: list[tuple[int, bool]], threshold: int) -> Accuracy:
    accepted = [applies for score, applies in scored if score >= threshold]
    return Accuracy(
        pairs=len(scored),
        precision=sum(accepted) / len(accepted) if accepted else 1.0,
        recall=sum(accepted) / sum(applies for _, applies in scored),
    )
