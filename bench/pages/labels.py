"""Labels: whether a passage helps to answer a question, by two people and perhaps a third.

A label names a place and a hash of what stood there, never the text itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench.pages.corpora import rows_of
from bench.pages.pieces import Span

FILE = Path(__file__).parent / "labels.jsonl"
LABELLERS = ("a", "b", "third")
HELPS = 2
ON_TOPIC = 1
VALUES = (0, ON_TOPIC, HELPS)


class LabelError(Exception):
    """An answer of a labeller cannot be used."""


@dataclass(frozen=True, slots=True)
class Label:
    """What was said about one passage."""

    question: str
    path: str
    first: int
    last: int
    hash: str
    a: int | None = None
    b: int | None = None
    third: int | None = None

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What there is one label of."""
        return self.question, self.path, self.first, self.last

    @property
    def span(self) -> Span:
        """The place of the passage."""
        return Span(self.path, self.first, self.last)

    @property
    def value(self) -> int | None:
        """The label that counts: the third one, else what both say, else the lower one."""
        if self.third is not None:
            return self.third
        if self.a is None or self.b is None:
            return None
        return min(self.a, self.b)

    @property
    def is_disputed(self) -> bool:
        """Whether the first two differ on whether it helps, and no third has decided."""
        if self.a is None or self.b is None or self.third is not None:
            return False
        return (self.a == HELPS) != (self.b == HELPS)


def load(file: Path = FILE) -> list[Label]:
    """Read the labels; none where there is no file."""
    return [Label(**row) for row in rows_of(file)] if file.exists() else []


def save(labels: Iterable[Label], file: Path = FILE) -> None:
    """Write the labels, in a fixed order."""
    rows = [
        {key: value for key, value in asdict(label).items() if value is not None}
        for label in sorted(labels, key=lambda label: label.key)
    ]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def labeller_of(file: Path) -> str:
    """Tell who answered, by the name of the file: `part-01.a.jsonl`."""
    name = file.name.removesuffix(".jsonl").rpartition(".")[2]
    if name not in LABELLERS:
        raise LabelError(f"{file}: name answers PART.a.jsonl, PART.b.jsonl or PART.third.jsonl")
    return name


def merge(
    labels: Iterable[Label], keys: Sequence[Mapping[str, Any]], files: Iterable[Path]
) -> list[Label]:
    """Add the answers in some files to the labels; a later answer replaces an earlier one."""
    places = {(row["question"], row["passage"]): row for row in keys}
    merged = {label.key: label for label in labels}
    for file in files:
        who = labeller_of(file)
        for number, row in enumerate(rows_of(file), 1):
            place = places.get((row.get("question"), row.get("passage")))
            if place is None:
                raise LabelError(f"{file}:{number}: the pool has no such passage: {row}")
            if row.get("label") not in VALUES or isinstance(row.get("label"), bool):
                raise LabelError(f"{file}:{number}: a label is 0, 1 or 2: {row}")
            fresh = Label(*(place[name] for name in ("question", "path", "first", "last", "hash")))
            known = merged.get(fresh.key, fresh)
            if known.hash != fresh.hash:  # the material changed: what was said of it is void
                known = fresh
            merged[fresh.key] = replace(known, **{who: row["label"]})
    return list(merged.values())


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well the first two labellers agree."""

    passages: int
    same: float
    """The share of passages with the same of three labels."""
    kappa: float
    """Cohen's kappa over three labels."""
    same_help: float
    """The share of passages on which both say, or neither says, that it helps."""
    kappa_help: float
    disputed: int
    """Passages on which they differ, and that no third has decided yet."""


def agreement(labels: Iterable[Label]) -> Agreement:
    """Measure how well two labellers agree on what both have labelled."""
    both = [label for label in labels if label.a is not None and label.b is not None]
    pairs = [(label.a, label.b) for label in both]
    helps = [(a == HELPS, b == HELPS) for a, b in pairs]
    return Agreement(
        passages=len(both),
        same=_same(pairs),
        kappa=cohens_kappa(pairs),
        same_help=_same(helps),
        kappa_help=cohens_kappa(helps),
        disputed=sum(label.is_disputed for label in both),
    )


def _same(pairs: Sequence[tuple[Any, Any]]) -> float:
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else 1.0


def cohens_kappa(pairs: Sequence[tuple[Any, Any]]) -> float:
    """Return the agreement above chance, as a share of what is possible above chance."""
    if not pairs:
        return 1.0
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(first[value] * second[value] for value in first) / len(pairs) ** 2
    return 1.0 if chance == 1 else (_same(pairs) - chance) / (1 - chance)
