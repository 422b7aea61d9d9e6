"""The picture of a context: what its receipt says, in the shape that a reader looks at.

How the window is spent, which share each section and each document has, how many candidates every
step let through, and what became of each of them. The report and the inspector draw the same one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quire import receipts
from quire.pipeline.steps import STEPS

FOUND = "retrieve"
"""The stage before the first step."""
IN = frozenset({"kept", "cut"})
"""The verdicts on candidates that are in the context."""
PIECES, MARKERS, FREE, EXCEEDED = "pieces", "markers", "free", "exceeded"
RESERVED = "reserved"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the window, in tokens."""

    kind: str
    """`pieces`, `markers`, `free`, `exceeded` or `reserved`."""
    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Share:
    """What the pieces of one section, or of one document, cost together."""

    name: str
    pieces: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Stage:
    """A step, and how many candidates came to it and left it."""

    name: str
    before: int
    dropped: int
    after: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A candidate: what spoke for it, and what became of it."""

    chunk_id: str
    path: str
    lines: tuple[int, int]
    step: str
    verdict: str
    reason: str
    tokens: int
    score: int
    signals: Mapping[str, int]
    colour: int | None = None
    """The number of its document among those of the context; None: it is not in."""

    @property
    def is_in(self) -> bool:
        """Whether the context shows it."""
        return self.verdict in IN


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """A piece of the context, in reading order, with why it is there."""

    entry: Entry
    section: str
    level: str
    title: str
    kind: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that is drawn of a context."""

    query: str
    recipe: str
    model: str
    total: int
    """The whole window."""
    tokens: int
    available: int
    budget: tuple[Part, ...]
    """The parts of the window, in the order in which they are drawn; they add up to it."""
    sections: tuple[Share, ...]
    documents: tuple[Share, ...]
    """By path, in the order of their colours."""
    stages: tuple[Stage, ...]
    """Empty if the receipt does not say what was left out."""
    found_by: tuple[tuple[str, int], ...]
    """How many candidates have a signal of each name."""
    pieces: tuple[ShownPiece, ...]
    candidates: tuple[Entry, ...]
    """All candidates, the best first."""
    failed: tuple[str, ...]
    roots: tuple[tuple[str, str], ...]
    """Names and hashes."""
    created: str = ""
    unlisted: int = 0
    """How many candidates were left out of which the receipt, without its parts, says nothing."""


def draw(receipt: Mapping[str, Any]) -> Picture:
    """Return the picture of a context by its receipt; refuse what is none."""
    data = receipts.read(receipt)
    documents = _shares((source["path"], source["tokens"]) for source in data["sources"])
    colours = {share.name: number for number, share in enumerate(documents)}
    entries = sorted(
        (_entry(decision, colours) for decision in receipts.all_decisions(data)),
        key=lambda entry: (-entry.score, entry.path, entry.lines, entry.chunk_id, entry.step),
    )
    request, recipe = data["request"], data["recipe"]
    unlisted = 0 if data["excluded"] is not None else data["parts"]["excluded"]["count"]
    return Picture(
        query=request["query"],
        recipe=recipe["name"],
        model=request["model"],
        total=recipe["budget"]["total"],
        tokens=data["tokens"],
        available=data["available"],
        budget=_parts(data),
        sections=_shares(
            (source["section"], source["tokens"]) for source in data["sources"] if source["section"]
        ),
        documents=documents,
        stages=() if unlisted else _stages(entries),
        found_by=tuple(
            sorted(
                Counter(name for entry in entries for name in entry.signals).items(),
                key=lambda item: (-item[1], item[0]),
            )
        ),
        pieces=_pieces(data["sources"], entries, colours),
        candidates=tuple(entries),
        failed=tuple(f"{failure['source']}: {failure['reason']}" for failure in data["failed"]),
        roots=(
            ("receipt", data["hash"]),
            ("text", data["text_hash"]),
            ("state of the store", data["view_root"]),
            ("content of the store", data["content_root"]),
            ("viewer", data["viewer_hash"]),
            ("request", data["request_hash"]),
            ("recipe", data["recipe_hash"]),
        ),
        created=str(receipt.get("created", "")),
        unlisted=unlisted,
    )


def _parts(data: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return what the window is spent on; only what is more than nothing."""
    pieces, tokens, available = data["content_tokens"], data["tokens"], data["available"]
    parts = [
        Part(PIECES, PIECES, min(pieces, tokens)),
        Part(MARKERS, MARKERS, max(0, tokens - pieces)),
        Part(FREE, FREE, max(0, available - tokens)),
        *(
            Part(RESERVED, name, count)
            for name, count in sorted(data["recipe"]["budget"]["reserved"].items())
        ),
        Part(EXCEEDED, EXCEEDED, data["limit_exceeded"]),
    ]
    return tuple(part for part in parts if part.tokens > 0)


def _shares(named: Iterable[tuple[str, int]]) -> tuple[Share, ...]:
    """Add up the tokens by name, in the order in which the names first occur."""
    pieces: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for name, count in named:
        pieces[name] += 1
        tokens[name] += count
    return tuple(Share(name, pieces[name], tokens[name]) for name in pieces)


def _entry(decision: Mapping[str, Any], colours: Mapping[str, int]) -> Entry:
    first, last = decision["lines"]
    return Entry(
        chunk_id=decision["chunk_id"],
        path=decision["path"],
        lines=(first, last),
        step=decision["step"],
        verdict=decision["verdict"],
        reason=decision["reason"],
        tokens=decision["tokens"],
        score=decision["score"],
        signals=decision["signals"],
        colour=colours.get(decision["path"]) if decision["verdict"] in IN else None,
    )


def _stages(entries: Sequence[Entry]) -> tuple[Stage, ...]:
    """Return how many candidates came to each step, and how many it dropped."""
    fallen = Counter(entry.step for entry in entries if not entry.is_in)
    left = len(entries)
    stages = [Stage(FOUND, left, 0, left)]
    for name, _ in STEPS:
        stages.append(Stage(name, left, fallen[name], left - fallen[name]))
        left -= fallen[name]
    return tuple(stages)


def _pieces(
    sources: Sequence[Mapping[str, Any]], entries: Sequence[Entry], colours: Mapping[str, int]
) -> tuple[ShownPiece, ...]:
    included = {entry.chunk_id: entry for entry in entries if entry.is_in}
    return tuple(
        ShownPiece(
            entry=included.get(source["chunk_id"]) or _undecided(source, colours),
            section=source["section"],
            level=source["level"],
            title=source["name"] or source["title"],
            kind=source["chunk"]["kind"],
        )
        for source in sources
    )


def _undecided(source: Mapping[str, Any], colours: Mapping[str, int]) -> Entry:
    """Return the entry of a source that a receipt names without a decision on it."""
    first, last = source["lines"]
    return Entry(
        chunk_id=source["chunk_id"],
        path=source["path"],
        lines=(first, last),
        step="",
        verdict="kept",
        reason="",
        tokens=source["tokens"],
        score=source["score"],
        signals={},
        colour=colours[source["path"]],
    )
