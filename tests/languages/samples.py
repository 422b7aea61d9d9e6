"""Short notes in many languages, each with questions that inflect its words otherwise."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple


class Sample(NamedTuple):
    """Three notes, and questions with the index of the note that answers."""

    notes: tuple[str, ...]
    questions: tuple[tuple[str, int], ...]


_TABLE = tomllib.loads((Path(__file__).parent / "samples.toml").read_text(encoding="utf-8"))


def _read(group: str) -> dict[str, Sample]:
    return {
        code: Sample(
            tuple(row["notes"]), tuple((text, answer) for text, answer in row["questions"])
        )
        for code, row in _TABLE[group].items()
    }


SAMPLES = _read("stemmed")
"""Languages with a stemmer, by code."""
DENSE_SAMPLES = _read("dense")
"""Languages whose script has no blanks between words, or few."""
