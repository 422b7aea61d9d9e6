"""The questions: who asks what, about which corpus, and which half they belong to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.pages.corpora import CORPORA, rows_of

FOLDER = Path(__file__).parent / "questions"
TUNE = "tune"
KEPT = "kept"
SPLITS = (TUNE, KEPT)


@dataclass(frozen=True, slots=True)
class Question:
    """One question."""

    id: str
    kind: str
    """`workspace`, `code`, `memory` or `rules`."""
    corpus: str
    text: str
    focus: str = ""
    """The page that the user is viewing (`path`), or the block (`path:line`)."""
    situation: Mapping[str, Any] = field(default_factory=dict)
    answer: bool = True
    """Whether the corpus answers it."""
    reworded: bool = False
    """Whether it is asked in other words than the source's."""

    @property
    def split(self) -> str:
        """The half that it belongs to, by a hash of its id."""
        return SPLITS[hashlib.sha256(self.id.encode()).digest()[0] % 2]


def load(folder: Path = FOLDER, corpora: Sequence[str] = ()) -> list[Question]:
    """Read all questions, in the order of their ids."""
    questions = [
        Question(**row) for file in sorted(folder.glob("*.jsonl")) for row in rows_of(file)
    ]
    ids = [question.id for question in questions]
    if len(set(ids)) < len(ids):
        twice = sorted({name for name in ids if ids.count(name) > 1})
        raise ValueError(f"questions with the same id: {', '.join(twice)}")
    for question in questions:
        if question.corpus not in CORPORA:
            raise ValueError(f"{question.id}: unknown corpus {question.corpus!r}")
    chosen = [one for one in questions if not corpora or one.corpus in corpora]
    return sorted(chosen, key=lambda question: question.id)
