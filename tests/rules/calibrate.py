"""Calibration of the semantic judge: its threshold, and how often it is right.

The threshold is chosen on every second condition of `judged.json` (the highest F1), and measured on
the others; `unseen.json` was written when the way of judging had been chosen.
Run it: `python -m tests.rules.calibrate`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click import echo

from quire.core.protocols import Embedder
from quire.core.types import EmbedSettings
from quire.rules.semantic_judge import SemanticJudge

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Pair:
    says: str
    situation: dict[str, Any]
    applies: bool


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


def best_threshold(scored: list[tuple[int, bool]]) -> int:
    """Choose the threshold with the highest F1; of several, the highest."""
    return max(
        (measure(scored, candidate).f1, candidate) for candidate in {score for score, _ in scored}
    )[1]


def main() -> None:
    from quire.embed.local import LocalEmbedder

    embedder = LocalEmbedder(EmbedSettings())
    cases, unseen = pairs("judged.json"), pairs("unseen.json")
    chosen, rest = scores(embedder, cases[::2]), scores(embedder, cases[1::2])
    threshold = best_threshold(chosen)
    echo(f"best on the half that it is chosen on: {threshold / 1000}")
    for name, scored in (
        ("chosen on", chosen),
        ("other half", rest),
        ("unseen", scores(embedder, unseen)),
    ):
        result = measure(scored, threshold)
        echo(
            f"{name:<10} {result.pairs:>4} pairs  "
            f"precision {result.precision:.2f}  recall {result.recall:.2f}  F1 {result.f1:.2f}"
        )
    embedder.close()


if __name__ == "__main__":
    main()
