"""Evaluation: gold questions, the share of evidence that contexts hold, and what lost the rest.

Run it: `python examples/evaluation.py FOLDER`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import quire
from quire.evaluation.evaluate import evaluate
from quire.evaluation.questions import read_questions

FILES = {
    "refunds.md": "# Refunds\n\nRefunds are paid within 30 days.\n",
    "shipping.md": "# Shipping\n\nShipping takes a week. Express shipping takes a day.\n",
    "returns.md": "# Returns\n\nReturns are free for members.\n",
}
GOLD = (
    {"query": "when are refunds paid", "expect": ["refunds.md"]},
    {"query": "how long does shipping take", "expect": ["shipping.md"]},
    {"query": "what do we pay the carrier", "expect": ["carriers.md"]},
)


def main(folder: str) -> None:
    """Measure how much of the evidence is in the contexts of three questions."""
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (root / name).write_text(text)
    questions = read_questions("\n".join(map(json.dumps, GOLD)))
    with quire.open(root, settings={"embed": {"provider": "none"}}) as q:
        q.index()
        result = evaluate(q, questions, budgets=(60, 500))
    for each in result.measured:
        print(f"{each.recipe} at {each.budget} tokens: {each.recall:.0%} of the evidence")
        for miss in each.misses:
            print(f"  {miss.expected}: {miss.cause} ({miss.detail})")


if __name__ == "__main__":
    main(sys.argv[1])
