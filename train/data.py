"""Pairs as token ids, in batches."""

from __future__ import annotations

import json
import lzma
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from train.base import PREFIX

SEPARATOR = 102
PASSAGE_TOKENS = 288
QUESTION_TOKENS = 256
Ids = NDArray[np.int32]
STATEMENT = "statement"
"""The kind of pairs of which neither is a question."""


@dataclass(slots=True)
class Rows:
    """Pairs, their texts held once."""

    kinds: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    positives: list[int] = field(default_factory=list)
    negatives: list[list[int]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.kinds)


def read_rows(files: Iterable[Path]) -> Rows:
    """Read files of JSON lines, compressed with xz."""
    rows = Rows()
    places: dict[str, int] = {}

    def place(text: str) -> int:
        if text not in places:
            places[text] = len(rows.texts)
            rows.texts.append(text)
        return places[text]

    for file in sorted(files):
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                rows.kinds.append(row["s"])
                rows.origins.append(row["r"])
                rows.questions.append(row["q"])
                rows.positives.append(place(row["p"]))
                rows.negatives.append([place(text) for text in row["n"]])
    return rows


class WordPieces:
    """The model's tokenizer."""

    def __init__(self, file: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def encode(self, texts: Sequence[str], limit: int) -> list[Ids]:
        """Return the ids of each text, at most `limit`, the separator last."""
        encoded: list[Ids] = []
        for start in range(0, len(texts), 20_000):
            for one in self._tokenizer.encode_batch(list(texts[start : start + 20_000])):
                ids = one.ids
                cut = ids if len(ids) <= limit else [*ids[: limit - 1], SEPARATOR]
                encoded.append(np.array(cut, np.int32))
        return encoded

    def encode_asked(self, rows: Rows) -> list[Ids]:
        """Return the ids of what is asked: statements, which are no questions, have no prefix."""
        texts = [
            text if kind == STATEMENT else PREFIX + text
            for kind, text in zip(rows.kinds, rows.questions, strict=True)
        ]
        return self.encode(texts, QUESTION_TOKENS)

    def encode_questions(self, texts: Sequence[str], limit: int = QUESTION_TOKENS) -> list[Ids]:
        """Return the ids of questions, with the model's prefix."""
        return self.encode([PREFIX + text for text in texts], limit)


def cut(ids: Ids, limit: int) -> Ids:
    """Return at most so many ids, the separator last."""
    return ids if len(ids) <= limit else np.append(ids[: limit - 1], SEPARATOR).astype(np.int32)


def pad(ids: Sequence[Ids]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ids and mask of a batch."""
    length = max(len(one) for one in ids)
    padded = np.zeros((len(ids), length), np.int64)
    mask = np.zeros((len(ids), length), np.int64)
    for index, one in enumerate(ids):
        padded[index, : len(one)] = one
        mask[index, : len(one)] = 1
    return padded, mask


def chunks_by_length(ids: Sequence[Ids], tokens: int) -> list[list[int]]:
    """Group texts of like length, each group of at most so many tokens with its padding."""
    groups: list[list[int]] = []
    current: list[int] = []
    for index in sorted(range(len(ids)), key=lambda i: (len(ids[i]), i)):
        if current and len(ids[index]) * (len(current) + 1) > tokens:
            groups.append(current)
            current = []
        current.append(index)
    return [*groups, current] if current else groups


RUNS = {"commit": 64, "code-py": 24, "code-other": 24, "docs": 16, "hops": 16}
"""How many pairs of one repository follow each other: near ones make harder batches."""


def plan_batches(
    rows: Rows, used: Sequence[int], size: int, weights: dict[str, float], rng: random.Random
) -> list[list[int]]:
    """Return batches of one kind each, in random order; a kind's weight is its number of rounds."""
    kinds: dict[str, list[int]] = defaultdict(list)
    for index in used:
        kinds[rows.kinds[index]].append(index)
    batches: list[list[int]] = []
    for kind, members in sorted(kinds.items()):
        wanted = int(len(members) * weights.get(kind, 1.0))
        pool: list[int] = []
        while len(pool) < wanted:
            rng.shuffle(members)
            pool += members[: wanted - len(pool)]
        run = RUNS.get(kind, 0)
        if run:
            origins: dict[str, list[int]] = defaultdict(list)
            for index in pool:
                origins[rows.origins[index]].append(index)
            runs = [one[i : i + run] for one in origins.values() for i in range(0, len(one), run)]
            rng.shuffle(runs)
            pool = [index for one in runs for index in one]
        step = min(size, max(64, len(pool) // 4))
        batches += [pool[i : i + step] for i in range(0, len(pool) - step + 1, step)]
    rng.shuffle(batches)
    return batches


def tensors(ids: Sequence[Ids], device: str) -> tuple[Any, Any]:
    """Return a padded batch on a device."""
    import torch

    padded, mask = pad(ids)
    return (
        torch.from_numpy(padded).to(device, non_blocking=True),
        torch.from_numpy(mask).to(device, non_blocking=True),
    )
