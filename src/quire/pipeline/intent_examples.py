"""What a question is after, by the labelled questions that it is most like.

The table of words of a recipe decides first. Where it says nothing, the vector of the question is
compared with those of labelled questions (`intent_examples.json`, written by `make intents` for the
model that comes with Quire). An intent must be clearly nearer than questions without one. With
another model, or none, nothing is guessed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources

import numpy as np

from quire.embed import scale

NONE = "-"
"""The label of questions without an intent."""
NEAREST = 7
"""How many questions of each label are looked at, the nearest ones."""
MARGIN = 50
"""How much nearer an intent must be than no intent, in thousandths of the cosine."""
FILE = "intent_examples.json"

Examples = Mapping[str, "np.ndarray[tuple[int, int], np.dtype[np.int64]]"]
"""The vectors of labelled questions, by label."""


@cache
def load_examples(model: str) -> Examples:
    """Return the labelled questions as a model embeds them; none if it is another model."""
    data = json.loads(resources.files("quire.pipeline").joinpath(FILE).read_text("utf-8"))
    if data["model"] != model:
        return {}
    labels = sorted({label for label, _ in data["vectors"]})
    return {
        label: np.array(
            [_values(base64.b64decode(vector)) for own, vector in data["vectors"] if own == label]
        )
        for label in labels
    }


def guess_intent(vector: bytes, examples: Examples) -> str:
    """Return the intent of a question by its vector; empty: none is near enough."""
    if NONE not in examples:
        return ""
    own = _values(vector)
    scores = {
        label: int(np.sort(rows @ own)[::-1][:NEAREST].sum()) for label, rows in examples.items()
    }
    best = min((label for label in scores if label != NONE), key=lambda name: (-scores[name], name))
    needed = scores[NONE] * 1000 + MARGIN * NEAREST * int(scale(len(vector)) ** 2)
    return best if scores[best] * 1000 >= needed else ""


def _values(vector: bytes) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.frombuffer(vector, dtype=np.int8).astype(np.int64)
