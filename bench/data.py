"""Which real texts are there to measure on?

The folder in BENCH_DATA holds `dev/<task>.tar.xz`: documents as lines of JSON, or whole trees of
files by commit. Nothing of it is kept but in the folder BENCH_CACHE.
"""

from __future__ import annotations

import json
import os
import random
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PASSAGE = 240
"""Long documents are cut into passages of about so many characters: they embed fast."""
PASSAGES_FROM = ("scifact_dev", "musique", "cosqa_dev", "ws_sourcegraph_handbook", "ws_peps")
QUERIES_FROM = ("scifact_dev", "musique", "cosqa_dev")


def folder() -> Path | None:
    """Tell where the real data is, if it is anywhere."""
    named = os.environ.get("BENCH_DATA")
    return Path(named) if named else None


def documents(task: str) -> Iterator[tuple[str, str]]:
    """Give path and text of each document of a task."""
    for row in lines(task, "docs.jsonl"):
        yield row["path"], row["text"]


def tree(task: str, corpus: int = 0) -> list[tuple[str, str]]:
    """Give path and text of every file of one tree: a task's largest is number 0."""
    trees = sorted(lines(task, "trees.jsonl"), key=lambda one: (-len(one["files"]), one["corpus"]))
    if not trees:
        return list(documents(task))
    texts = {blob["sha"]: blob["text"] for blob in lines(task, "blobs.jsonl")}
    return [(path, texts[sha]) for path, sha in trees[corpus]["files"]]


def queries(count: int) -> list[str]:
    """Give real questions, the same ones every time."""
    found = [row["text"] for task in QUERIES_FROM for row in lines(task, "queries.jsonl")]
    random.Random(1).shuffle(found)
    return found[:count]


def passages(count: int) -> list[str]:
    """Give short real texts, mixed from all kinds, the same ones every time."""
    found = sorted({text for task in PASSAGES_FROM for text in _passages(task)})
    random.Random(2).shuffle(found)
    return found[:count]


def _passages(task: str) -> Iterator[str]:
    for _, text in documents(task):
        held = ""
        for part in re.split(r"(?<=[.!?])\s+|\n\s*\n", text):
            held = f"{held} {part}".strip()
            if len(held) >= PASSAGE:
                yield held[: 4 * PASSAGE]
                held = ""
        if len(held) >= PASSAGE // 4:
            yield held[: 4 * PASSAGE]


def lines(task: str, file: str) -> list[dict[str, Any]]:
    """Read one file of JSON lines of a task."""
    where = folder()
    assert where is not None, "real data is asked for only where BENCH_DATA is set"
    with tarfile.open(where / "dev" / f"{task}.tar.xz", "r:xz") as packed:
        try:
            member = packed.extractfile(file)
        except KeyError:
            return []
        assert member is not None, f"{file} is a plain file"
        text = member.read().decode("utf-8", "surrogatepass")
    return [json.loads(line) for line in text.split("\n") if line]
