"""The questions: as people ask them, each with texts of which one must stand on the page."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).parent
TUNE, KEPT = "tune", "kept"
SPLITS = (TUNE, KEPT, "all")
_BLANK = re.compile(r"[\s\\]+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a project, with its gold strings."""

    id: str
    project: str
    question: str
    gold: tuple[str, ...] = ()
    """Texts of the project; one of them answers. None: the project has no answer."""
    kind: str = ""
    """What a question without an answer is about: something else (`other`), other software
    (`software`), or something that such a project could have (`near`)."""

    @property
    def split(self) -> str:
        """The half that it belongs to, by a hash of its id."""
        return TUNE if hashlib.sha256(self.id.encode()).digest()[0] % 2 else KEPT

    def is_held(self, page: str) -> bool:
        """Tell whether a page holds an answer; blanks and marks of escaping do not count."""
        shown = compact(page)
        return any(compact(text) in shown for text in self.gold)


def compact(text: str) -> str:
    """Return a text without blanks, backslashes and entities."""
    return _BLANK.sub("", html.unescape(text))


def load(split: str, projects: Sequence[str] = ()) -> list[Question]:
    """Load the questions of a half, or all of them."""
    return _choose(_read("questions.jsonl"), split, projects)


def load_further(_: str, projects: Sequence[str] = ()) -> list[Question]:
    """Load the questions about further projects: all of them were looked at while tuning."""
    return _choose(_read("further.jsonl"), "all", projects)


def load_unanswered(split: str, projects: Sequence[str] = ()) -> list[Question]:
    """Load the questions of a half, or all of them, to which a project has no answer."""
    rows = map(json.loads, (HOME / "unanswered.jsonl").read_text("utf-8").splitlines())
    return _choose([Question(**row) for row in rows], split, projects)


def _read(name: str) -> list[Question]:
    rows = map(json.loads, (HOME / name).read_text("utf-8").splitlines())
    return [Question(**{**row, "gold": tuple(row["gold"])}) for row in rows]


def _choose(questions: Sequence[Question], split: str, projects: Sequence[str]) -> list[Question]:
    return [
        one
        for one in questions
        if split in {"all", one.split} and (not projects or one.project in projects)
    ]
