"""Print the curve of the semantic judge: `python -m bench.judge [--half tune|kept]`."""

from __future__ import annotations

import argparse

from bench.judge.grids import HALVES, TUNE, best_threshold, measure, pairs, scores
from quire.core.types import EmbedSettings, JudgeSettings
from quire.embed.local import LocalEmbedder

STEP = 10
"""Thousandths between two thresholds of the curve."""


def main() -> None:
    """Judge all pairs of one half, and print precision and recall for each threshold."""
    parser = argparse.ArgumentParser(prog="python -m bench.judge", description=__doc__)
    parser.add_argument("--half", choices=HALVES, default=TUNE)
    half = parser.parse_args().half
    embedder = LocalEmbedder(EmbedSettings())
    scored = scores(embedder, pairs(half))
    embedder.close()
    shipped = round(JudgeSettings().threshold * 1000)
    print(f"{len(scored)} pairs, {sum(applies for _, applies in scored)} true ({half})")
    if half == TUNE:
        print(f"best threshold by F1: {best_threshold(scored) / 1000:.3f}")
    print("threshold  precision  recall    F1  accepted")
    highest = max(score for score, _ in scored)
    for threshold in sorted({shipped, *range(0, highest + 1, STEP)}):
        point = measure(scored, threshold)
        mark = "  (shipped)" if threshold == shipped else ""
        print(
            f"{threshold / 1000:9.3f}  {point.precision:9.2f}  {point.recall:6.2f}"
            f"  {point.f1:.2f}  {point.accepted:8}{mark}"
        )


if __name__ == "__main__":
    main()
