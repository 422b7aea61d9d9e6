"""What is an agent given to read before it goes on?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from quire.core.types.candidates import Failure
from quire.core.types.context import Context


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One thing on the page, and what is known of it."""

    source: str
    """What it is: `memory`, `code`, `experience`, `value`, `commit`."""
    content: str
    """What the page says of it."""
    relevance: float
    """How much speaks for it, as a share of what speaks for the best item: 0 to 1."""
    metadata: Mapping[str, object]
    """What its kind tells beside: a memory's category, a commit's author."""


@dataclass(frozen=True, slots=True)
class FormattedContext:
    """One page within a budget, and what stands on it."""

    markdown: str
    items: tuple[ContextItem, ...]
    token_count: int
    """The tokens of the page, as its model counts them."""
    sources_used: Mapping[str, int]
    """How many items there are of each source."""
    limit_exceeded: int = 0
    """By how many tokens a soft budget was passed."""
    failed: tuple[Failure, ...] = ()
    """The sources that did not answer, and why; the page names them as well."""
    receipt: Mapping[str, object] = field(default_factory=dict)

    def __iter__(self) -> Iterator[ContextItem]:
        return iter(self.items)


def formatted(context: Context) -> FormattedContext:
    """Give a context as an agent takes it."""
    best = max((item.score for item in context.items), default=0)
    used: dict[str, int] = {}
    for item in context.items:
        used[item.kind] = used.get(item.kind, 0) + 1
    return FormattedContext(
        markdown=context.text,
        items=tuple(
            ContextItem(item.kind, item.text, item.score / max(1, best), item.about)
            for item in context.items
        ),
        token_count=context.tokens,
        sources_used=used,
        limit_exceeded=context.limit_exceeded,
        failed=context.failed,
        receipt=context.receipt,
    )
