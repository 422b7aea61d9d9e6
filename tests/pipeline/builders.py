"""Chunks, pieces and drafts by hand, and counters that show what they count."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quire import tokens
from quire.core import hashing
from quire.core.protocols import Counter
from quire.core.types import (
    Candidate,
    Chunk,
    FusionStats,
    Hit,
    Hits,
    Outline,
    Piece,
    Recipe,
    Record,
    Request,
)
from quire.errors import EmbedError
from quire.pipeline import recipe as recipes
from quire.pipeline.draft import Draft
from quire.ranking import FeatureTable

DIMS = 16


@dataclass(frozen=True, slots=True)
class Words:
    """Counts words, so that a test can see how long a text is."""

    name: str = "words"
    exact: bool = True
    note: str | None = None

    def count(self, text: str) -> int:
        return len(text.split())


class Meaning:
    """An embedder of small vectors: texts that share words lie near each other."""

    dims = DIMS

    def __init__(self, model: str = "meaning/16") -> None:
        self.model = model
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> bytes:
        self.asked.append(text)
        return self._vector(text)

    def close(self) -> None:
        """Nothing is held."""

    def _vector(self, text: str) -> bytes:
        numbers = [0] * DIMS
        for word in text.lower().split():
            digest = hashlib.sha256(f"{self.model} {word}".encode()).digest()
            numbers[digest[0] % DIMS] += 1 if digest[1] % 2 else -1
        return bytes(max(-9, min(9, number)) % 256 for number in numbers)


class Broken(Meaning):
    """An embedder that cannot answer."""

    def embed_query(self, text: str) -> bytes:
        self.asked.append(text)
        raise EmbedError("the model is out of order")


def chunk(
    text: str, path: str = "a.md", sequence: int = 0, start: int | None = None, title: str = ""
) -> Chunk:
    """Make a chunk; without a start it stands alone, far from its neighbours."""
    record = hashing.record_id("document", path)
    begin = sequence * 1_000_000 if start is None else start
    return Chunk(
        id=hashing.chunk_id(record, sequence, text),
        record_id=record,
        kind="document",
        path=path,
        title=title,
        sequence=sequence,
        start=begin,
        end=begin + len(text.encode()),
        lines=(sequence + 1, sequence + 1),
        text=text,
    )


def document(path: str, *texts: str) -> list[Chunk]:
    """Make chunks that follow each other without a gap."""
    found: list[Chunk] = []
    line = 1
    for sequence, text in enumerate(texts):
        start = found[-1].end if found else 0
        last = line + text.rstrip("\n").count("\n")
        found.append(replace(chunk(text, path, sequence, start), lines=(line, last)))
        line += text.count("\n")
    return found


def piece(one: Chunk, score: int = 1000, tokens: int | None = None) -> Piece:
    """Make a piece with a score; its tokens are its words unless they are given."""
    counted = Words().count(one.text) if tokens is None else tokens
    return Piece(Candidate(one, score, {"lexical": score}), counted, one.text)


def ids(pieces: Sequence[Piece]) -> list[str]:
    return [each.candidate.chunk.id for each in pieces]


def hits(chunks: Sequence[Chunk], scores: Sequence[int] | None = None) -> Hits:
    """Give what a source found, best first."""
    points = scores or range(len(chunks), 0, -1)
    return Hits(
        tuple(
            Hit(one.id, score, one.path, one.sequence, one.start)
            for one, score in zip(chunks, points, strict=True)
        )
    )


def draft(
    found: Mapping[str, Sequence[Chunk]],
    recipe: Recipe | None = None,
    *,
    counter: Counter | None = None,
    modified: Mapping[str, int | None] | None = None,
    outlines: Mapping[str, Outline] | None = None,
    previous: Sequence[str] = (),
    allow_empty: bool = False,
    as_of: int | None = None,
    bearing: FusionStats | None = None,
) -> Draft:
    """Make the draft that gathering would give, of what each source found, best first."""
    counting = counter or tokens.open_counter("o200k")
    return Draft(
        request=Request("question", counting.name, previous=tuple(previous), as_of=as_of),
        recipe=recipe or recipes.load("documents"),
        counter=counting,
        hits={name: hits(chunks) for name, chunks in found.items()},
        fusion_stats=bearing or FusionStats(),
        chunks={one.id: one for chunks in found.values() for one in chunks},
        records={
            name: Record(name, "document", "", modified=at) for name, at in (modified or {}).items()
        },
        outlines=outlines or {},
        features=FeatureTable(as_of),
        allow_empty=allow_empty,
    )


def recipe(
    available: int = 1000,
    *,
    pack: str = "greedy",
    order: str = "auto",
    overflow: str = "skip",
    hard: bool = True,
    dedup: float = 0.8,
    per_document: int = 0,
    format: str = "markers",  # noqa: A002 - named as the option is
    metadata: bool = False,
    top: int = 100,
    recent: int = 0,
    fusion: str = "sum",
    overhead: int = 10,
) -> Recipe:
    """Make a recipe without reserves."""
    base = recipes.load("documents")
    return replace(
        base,
        budget=replace(
            base.budget,
            total=available,
            reserved={},
            overflow=overflow,
            hard=hard,
            overhead=overhead,
        ),
        rank=replace(base.rank, top=top, recent=recent, fusion=fusion, deeper=0, times=0),
        fit=replace(base.fit, pack=pack, order=order, dedup=dedup, per_document=per_document),
        render=replace(base.render, format=format, metadata=metadata),
    )
