"""The context of an agent, as specification 4 defines it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from quire.core.frozen import dataclass
from quire.core.types.candidates import Failure
from quire.core.types.context import Context


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One item of the page with its metadata."""

    source: str
    """Its kind: `memory`, `code`, `experience`, `value`, `commit`."""
    content: str
    """Its text on the page."""
    relevance: float
    """How likely it is that it is about what the query asks, from 0 to 1. Where that is not known,
    its score as a share of the best item's."""
    metadata: Mapping[str, object]
    """Metadata of its kind: a memory's category, a commit's author."""
    similarity: float | None = None
    """How similar it is to the query by its vector, from 0 to 1; None: it has none."""


@dataclass(frozen=True, slots=True)
class FormattedContext:
    """One page within a budget, and its items."""

    markdown: str
    items: tuple[ContextItem, ...]
    token_count: int
    """Number of tokens of the page, as its model counts them."""
    sources_used: Mapping[str, int]
    """Number of items of each kind."""
    limit_exceeded: int = 0
    """Number of tokens by which a soft budget was exceeded."""
    failed: tuple[Failure, ...] = ()
    """The sources that failed, with the reason; the page names them as well."""
    notes: tuple[str, ...] = ()
    """What the caller should know: why the page is empty, what could not be searched."""
    receipt: Mapping[str, object] = field(default_factory=dict)

    def __iter__(self) -> Iterator[ContextItem]:
        return iter(self.items)


def to_formatted_context(context: Context) -> FormattedContext:
    """Return a context as a page for an agent."""
    best = max((item.score for item in context.items), default=0)
    used: dict[str, int] = {}
    for item in context.items:
        used[item.kind] = used.get(item.kind, 0) + 1
    return FormattedContext(
        markdown=context.text,
        items=tuple(
            ContextItem(
                item.kind,
                item.text,
                item.score / max(1, best) if item.relevance is None else item.relevance,
                item.about,
                item.similarity,
            )
            for item in context.items
        ),
        token_count=context.tokens,
        sources_used=used,
        limit_exceeded=context.limit_exceeded,
        failed=context.failed,
        notes=context.notes,
        receipt=context.receipt,
    )
