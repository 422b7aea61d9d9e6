"""What does made-up text look like, so that searching it costs what searching real text costs?

Words follow Zipf's law over a vocabulary of 200,000: the most frequent stand in nearly every
chunk, some twenty in a third to two thirds of them, most in a handful. Every record is made from
the seed and its own number alone, so that a larger corpus begins with the smaller one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from quire.core import hashing
from quire.core.types import Chunk, Document, Record

SEED = 20_240_601
VOCABULARY = 200_000
EXPONENT = 1.05
SHORTEST, LONGEST = 80, 120
"""Words in a chunk."""
CHUNKS_PER_RECORD = 10
FOLDERS = 300
SENTENCE = 12

_ONSETS = tuple("bdfgklmnprtvz")
_VOWELS = tuple("aeiou")
_ENDS = tuple("kmnprx")


@lru_cache
def vocabulary() -> tuple[str, ...]:
    """Give the words, the most frequent first: short ones where they are frequent, as in life."""
    made = []
    for number in range(VOCABULARY):
        rest = number
        letters: list[str] = []
        while rest or not letters:
            rest, onset = divmod(rest, len(_ONSETS))
            rest, vowel = divmod(rest, len(_VOWELS))
            letters.append(_ONSETS[onset] + _VOWELS[vowel])
        made.append("".join(letters) + _ENDS[number % len(_ENDS)])
    assert len(set(made)) == VOCABULARY, "each word is made once"
    return tuple(made)


@lru_cache
def _shares() -> npt.NDArray[np.float64]:
    ranks = np.arange(1, VOCABULARY + 1, dtype=np.float64) ** -EXPONENT
    shares: npt.NDArray[np.float64] = np.cumsum(ranks / ranks.sum())
    return shares


def draw(random: np.random.Generator, count: int) -> npt.NDArray[np.int64]:
    """Draw the ranks of so many words."""
    found: npt.NDArray[np.int64] = np.searchsorted(_shares(), random.random(count))
    return found.clip(max=VOCABULARY - 1)


def documents(chunks: int) -> Iterator[Document]:
    """Make records until there are so many chunks."""
    for number in range(-(-chunks // CHUNKS_PER_RECORD)):
        yield document(number)


def document(number: int, edition: int = 0) -> Document:
    """Make one record; another edition of it has other words in its last chunk alone."""
    random = np.random.default_rng((SEED, number))
    path = f"folder-{number % FOLDERS:03d}/part-{number % 7}/record-{number:06d}.md"
    name = hashing.record_id("document", path)
    chunks = []
    offset, line = 0, 1
    for sequence in range(CHUNKS_PER_RECORD):
        if edition and sequence == CHUNKS_PER_RECORD - 1:
            random = np.random.default_rng((SEED, number, edition))
        text = _text(random)
        lines = text.count("\n")
        chunks.append(
            Chunk(
                id=hashing.chunk_id(name, sequence, text),
                record_id=name,
                kind="document",
                path=path,
                title=f"Record {number} > Section {sequence}",
                sequence=sequence,
                start=offset,
                end=offset + len(text),
                lines=(line, line + lines - 1),
                text=text,
            )
        )
        offset += len(text)
        line += lines
    record = Record(name, "document", path, title=f"Record {number}", attrs={"language": "en"})
    return Document(record, tuple(chunks))


def _text(random: np.random.Generator) -> str:
    known = vocabulary()
    count = int(random.integers(SHORTEST, LONGEST + 1))
    ranks = draw(random, count).tolist()
    sentences = (
        " ".join(known[rank] for rank in ranks[at : at + SENTENCE])
        for at in range(0, count, SENTENCE)
    )
    return ".\n".join(sentences) + ".\n"
