"""Texts that another retriever of a framework found, fitted into a budget.

They pass through deduplication, packing and cuts like every context (`ContextAssembler`). No store
is asked, and so no access is checked: whoever found them answers for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quire.adapters.retrieval import DEFAULT_BUDGET, OnContext
from quire.core.types import Context, RetrievalResult
from quire.recipes.assembler import ContextAssembler

PATHS = ("path", "source", "file_path", "url", "file_name")
"""The keys under which the frameworks' loaders say where a text is from; the first one counts."""


@dataclass(frozen=True, slots=True)
class Found:
    """A text with what its framework knows of it."""

    text: str
    metadata: Mapping[str, Any]
    score: float | None = None
    """None: its place in the list says how good it is."""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A context, and which of the texts are in it."""

    context: Context
    kept: tuple[tuple[int, str], ...]
    """The place of a text in what was given, and what is shown of it."""


def fit(
    query: str,
    texts: Sequence[Found],
    budget: int | None = None,
    options: Mapping[str, Any] | None = None,
    on_context: OnContext | None = None,
) -> Fitted:
    """Fit texts into a budget; nothing is reserved unless the options say so."""
    budget = DEFAULT_BUDGET if budget is None else budget
    assembler = ContextAssembler(**{"reserve": {}, **(options or {}), "budget": budget})
    scores = [text.score for text in texts if text.score is not None]
    if len(scores) < len(texts):  # those of some cannot be compared with the places of others
        scores = [float(place) for place in range(len(texts), 0, -1)]
    results = [
        _result(text, number, score)
        for number, (text, score) in enumerate(zip(texts, scores, strict=True))
    ]
    context = assembler.assemble(query, results)
    if on_context is not None:
        on_context(context)
    kept = ((int(chunk.source_id), chunk.text) for chunk in context.chunks)
    return Fitted(context, tuple((number, _own(texts[number].text, text)) for number, text in kept))


def _own(text: str, shown: str) -> str:
    """Return a text as it was given if all of it is shown: a page ends each with a line break."""
    return text if shown.removesuffix("\n") == text else shown


def _result(text: Found, number: int, score: float) -> RetrievalResult:
    known = (text.metadata.get(key) for key in PATHS)
    path: str = next((name for name in known if isinstance(name, str) and name), "")
    title = text.metadata.get("title")
    return RetrievalResult(
        text=text.text,
        path=path or text.id or f"text {number + 1}",
        score=score,
        id=str(number),
        title=title if isinstance(title, str) else "",
    )
