"""What the labels say about a piece, and which answers a page shows.

Overlap is measured in characters that are not white space. The rules are those of docs/pages.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bench.pages.labels import HELPS, Label
from bench.pages.pieces import Piece, Span, size_of

SAME = 0.7
"""Two spans that share so much of their union are one passage."""
HALF = 0.5


def lines_of(span: Span) -> set[int]:
    """Return the line numbers of a span."""
    return set(range(span.first, span.last + 1))


class Judged:
    """The labels of one question, over the texts of its corpus."""

    def __init__(self, texts: Mapping[str, str], labels: Iterable[Label]) -> None:
        self._texts = texts
        self._labels = sorted(
            (label for label in labels if label.value is not None and label.path in texts),
            key=lambda label: label.key,
        )

    def value_of(self, piece: Piece) -> int | None:
        """Return the label of a piece: that of its best span; None: not judged."""
        if not piece.spans:
            return 0
        values = [self.value_of_span(span) for span in piece.spans]
        if HELPS in values or None not in values:
            return max(value for value in values if value is not None)
        return None

    def value_of_span(self, span: Span) -> int | None:
        """Return the label of a span, from the labelled passages that it overlaps."""
        near = [
            (label, self.likeness(span, label.span))
            for label in self._labels
            if label.path == span.path and lines_of(label.span) & lines_of(span)
        ]
        same = max(near, key=lambda pair: (pair[1], pair[0].value), default=None)
        if same is not None and same[1] >= SAME:
            return same[0].value
        if any(label.value == HELPS and self.held(label.span, [span]) >= HALF for label, _ in near):
            return HELPS
        if same is not None and same[1] >= HALF:
            return same[0].value
        idle = [label for label, _ in near if label.value != HELPS]
        if idle and self.held(span, [label.span for label in idle]) >= HALF:
            return max(label.value for label in idle if label.value is not None)
        return None

    def cores(self) -> list[Span]:
        """Return the distinct answers: the smallest passages that help, none within another."""
        cores: list[Span] = []
        helpful = [label.span for label in self._labels if label.value == HELPS]
        for span in sorted(helpful, key=lambda span: (self._size(span), span)):
            if not any(self.held(core, [span]) >= HALF for core in cores):
                cores.append(span)
        return cores

    def shows(self, pieces: Sequence[Piece], core: Span) -> bool:
        """Tell whether pieces together show at least half of an answer."""
        return self.held(core, [span for piece in pieces for span in piece.spans]) >= HALF

    def held(self, span: Span, others: Iterable[Span]) -> float:
        """Return the share of a span that other spans hold."""
        held = {
            line
            for other in others
            if other.path == span.path
            for line in lines_of(other) & lines_of(span)
        }
        return size_of(self._texts, span.path, held) / max(1, self._size(span))

    def likeness(self, one: Span, other: Span) -> float:
        """Return the share of two spans' union that both hold."""
        return likeness(self._texts, one, other)

    def _size(self, span: Span) -> int:
        return size_of(self._texts, span.path, lines_of(span))


def likeness(texts: Mapping[str, str], one: Span, other: Span) -> float:
    """Return the share of two spans' union that both hold."""
    if one.path != other.path:
        return 0.0
    union = size_of(texts, one.path, lines_of(one) | lines_of(other))
    return size_of(texts, one.path, lines_of(one) & lines_of(other)) / max(1, union)
