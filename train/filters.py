"""Keep evaluation sets out of training data: by name, by shingles of words, by lines of code."""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

SHINGLE = 8
PROSE_SHARE = 0.05
CODE_SHARE = 0.08
LINES_SHARE = 0.3
MIN_LINES_LENGTH = 70
EXCLUDED = Path(__file__).parent / "excluded.txt"


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return re.findall(r"\w+", text.lower())


def shingles(text: str, size: int = SHINGLE) -> list[int]:
    """Return a hash of each run of words; of the whole where it is shorter."""
    words = words_of(text)
    if not words:
        return []
    return [_digest(" ".join(words[i : i + size])) for i in range(max(1, len(words) - size + 1))]


def line_triples(code: str) -> list[int]:
    """Return a hash of each three lines that follow each other and are long enough to tell."""
    lines = [line.strip() for line in code.split("\n") if line.strip()]
    joined = ("".join(lines[i : i + 3]) for i in range(len(lines) - 2))
    return [_digest(text) for text in joined if len(text) > MIN_LINES_LENGTH]


def excluded_names() -> frozenset[str]:
    """Return the names of repositories that belong to evaluation sets, in lower case."""
    lines = EXCLUDED.read_text("utf-8").split("\n")
    return frozenset(line.lower() for line in lines if line and not line.startswith("#"))


def is_excluded(repository: str, names: frozenset[str]) -> bool:
    """Tell whether `owner/name`, its owner or its name belongs to an evaluation set."""
    owner, _, name = repository.lower().partition("/")
    return bool({f"{owner}/{name}", name, f"{owner}/*"} & names)


class EvaluationTexts:
    """What the evaluation sets contain, as hashes."""

    def __init__(self) -> None:
        self._shingles: set[int] = set()
        self._lines: set[int] = set()

    def add_text(self, text: str) -> None:
        self._shingles.update(shingles(text))

    def add_code(self, code: str) -> None:
        self._lines.update(line_triples(code))

    def contains_text(self, text: str, share: float = PROSE_SHARE) -> bool:
        """Tell whether a text shares at least two shingles, and this share of them, with a set."""
        found = shingles(text)
        if len(words_of(text)) < SHINGLE:
            return False
        return sum(one in self._shingles for one in found) >= max(2, share * len(found))

    def contains_code(self, code: str) -> bool:
        """Tell whether a definition is, in a third of its lines, one of a set."""
        found = line_triples(code)
        if not found:
            return False
        return sum(one in self._lines for one in found) >= max(1, LINES_SHARE * len(found))

    def __len__(self) -> int:
        return len(self._shingles) + len(self._lines)


def read_evaluation_sets(folder: Path) -> EvaluationTexts:
    """Read every set under a folder of `<task>.tar.xz` with lines of JSON."""
    known = EvaluationTexts()
    for archive in sorted(folder.glob("*.tar.xz")):
        for member, row in _rows(archive):
            text = row.get("text")
            if not isinstance(text, str):
                continue
            if member == "blobs.jsonl":
                known.add_code(text)
            else:
                known.add_text(text)
                known.add_code(text)
    return known


def _rows(archive: Path) -> Iterator[tuple[str, dict[str, object]]]:
    with tarfile.open(archive, "r:xz") as packed:
        for member in packed:
            file = packed.extractfile(member) if member.name.endswith(".jsonl") else None
            for line in file or ():
                yield Path(member.name).name, json.loads(line)


def clean_negatives(texts: Iterable[str], passage: str) -> list[str]:
    """Leave out negatives that are the passage itself, or empty."""
    key = "".join(passage.split())
    return [text for text in texts if len(text) > 20 and "".join(text.split()) != key]
