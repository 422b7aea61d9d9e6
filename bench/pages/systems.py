"""Who answers: Quire's pages, and two plain systems beside them that only fill the pool."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from typing import Any

from bench.pages.corpora import LEARNED, PAGES, RULES
from bench.pages.pieces import Piece, Span, pieces_of
from bench.pages.questions import Question
from bench.pages.stores import Opened

CHUNK = 1000
"""Characters of a chunk of the plain systems, ended at a line."""
DEPTH = 5
"""Passages that a plain system adds to the pool."""
SMALL = 2000
RECIPES: Mapping[str, tuple[str, ...]] = {
    PAGES: ("workspace",),
    "tree": ("agent", "entities"),
    LEARNED: ("agent",),
    RULES: ("situation",),
}
"""The recipes that answer questions about a corpus, by its form."""


def ask(opened: Opened, question: Question, recipe: str | Any, budget: int | None = None) -> Any:
    """Assemble the page for a question."""
    options: dict[str, Any] = {"recipe": recipe, "allow_empty": True}
    if budget is not None:
        options["budget"] = budget
    if question.focus:
        options["focus"] = opened.focus(question.focus)
    if opened.corpus.as_of:
        options["as_of"] = opened.corpus.as_of
    if question.situation:
        options["situation"] = dict(question.situation)
    return opened.store.assemble(question.text, **options)


def quire_pieces(
    opened: Opened, question: Question, recipe: str | Any, budget: int | None = None
) -> list[Piece]:
    """Return the pieces of Quire's page."""
    return pieces_of(opened, ask(opened, question, recipe, budget))


def dense_pieces(opened: Opened, question: Question) -> list[Piece]:
    """Return the chunks nearest by meaning alone, from the vectors of the store."""
    from quire.pipeline import recipe as recipes  # what only the pool needs

    documents = recipes.load("documents")
    semantic = replace(documents.sources["semantic"], options={})
    dense = replace(documents, sources={"semantic": semantic})
    pieces = quire_pieces(opened, replace(question, focus="", situation={}), dense, 20_000)
    return pieces[:DEPTH]


@dataclass(slots=True)
class Bm25:
    """BM25 over chunks of about a thousand characters, with nothing added."""

    texts: Mapping[str, str]
    frame: Sequence[str] = ()
    chunks: list[Span] = field(default_factory=list)
    counts: list[Counter[str]] = field(default_factory=list)
    holders: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for path in sorted(set(self.texts) - set(self.frame)):
            for span in split(path, self.texts[path]):
                lines = self.texts[path].split("\n")[span.first - 1 : span.last]
                words = Counter(terms("\n".join([path, *lines])))
                self.chunks.append(span)
                self.counts.append(words)
                self.holders.update(words.keys())

    def find(self, query: str, depth: int = DEPTH) -> list[Piece]:
        """Return the best chunks for a query."""
        sizes = [words.total() for words in self.counts]
        mean = sum(sizes) / max(1, len(sizes))
        scores: list[float] = [0.0] * len(self.chunks)
        for term in sorted(set(terms(query))):
            held = self.holders[term]
            weight = log(1 + (len(self.chunks) - held + 0.5) / (held + 0.5))
            for at, words in enumerate(self.counts):
                if count := words[term]:
                    scores[at] += weight * count * 2.2 / (count + 0.3 + 0.9 * sizes[at] / mean)
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], self.chunks[at]))
        return [Piece((self.chunks[at],)) for at in order[:depth] if scores[at] > 0]


def split(path: str, text: str) -> list[Span]:
    """Split a document into chunks at line ends."""
    spans: list[Span] = []
    first, size = 1, 0
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if size and size + len(line) > CHUNK:
            spans.append(Span(path, first, number - 1))
            first, size = number, 0
        size += len(line) + 1
    if size:
        spans.append(Span(path, first, len(lines)))
    return [trimmed for span in spans for trimmed in _trimmed(span, lines)]


def _trimmed(span: Span, lines: Sequence[str]) -> list[Span]:
    """Return a span without empty lines at its ends; nothing if all are empty."""
    full = [at for at in range(span.first, span.last + 1) if lines[at - 1].strip()]
    return [Span(span.path, full[0], full[-1])] if full else []


_STOP = re.compile(
    r"(a|an|and|are|as|at|be|by|can|do|does|for|from|has|have|how|i|if|in|is|it|my|of|on|or|our|"
    r"that|the|this|to|was|we|were|what|when|where|which|who|why|will|with|you|your)"
)


def terms(text: str) -> Sequence[str]:
    """Split a text into terms: lower case, parts of identifiers, plural endings cut."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text).lower()
    words = re.findall(r"[^\W_]+", spaced)
    return [re.sub(r"(?<=\w{3})s$", "", word) for word in words if not _STOP.fullmatch(word)]
