"""DSPy: a retriever to call in a program, and one to configure as `rm`.

Needs the extra `dspy`.
"""

from __future__ import annotations

import asyncio
from typing import Any, Self

from quire.adapters.extras import missing
from quire.adapters.retrieval import Engine, OnContext, Passage, Retrieval
from quire.core.types import Viewer

try:
    import dspy
except ImportError as error:
    raise missing("dspy", error) from error


class QuireRetrieve(dspy.Retrieve):
    """Finds passages in a store.

    A prediction has `passages` (the texts), and in the same order `paths`, `lines`, `titles`,
    `scores`; `receipt` is the id of the receipt, empty with `k`.

    Args:
        engine: The open store.
        viewer: Who reads; None for the configured viewer, or the owner.
        budget: The tokens of all passages together; 2,000 if there is no `k` either.
        k: The number of hits, in place of a budget.
        on_context: Called with each context that was assembled.
        callbacks: Of DSPy.
        **options: Filters (`kinds`, `paths`, `since`, `until`, `where`) and other options of
            `assemble`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        viewer: Viewer | str | None = None,
        budget: int | None = None,
        k: int | None = None,
        on_context: OnContext | None = None,
        callbacks: list[Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(k=k, callbacks=callbacks)
        self._retrieval = Retrieval(engine, viewer, budget, k, options, on_context)

    def forward(self, query: str, k: int | None = None, **options: Any) -> dspy.Prediction:
        """Return the passages that answer a query best."""
        wanted = self.k if k is None else k  # DSPy may have loaded another `k` than we were given
        passages = self._retrieval.passages(query, k=wanted, **options)
        return dspy.Prediction(
            passages=[passage.text for passage in passages],
            paths=[passage.path for passage in passages],
            lines=[passage.lines for passage in passages],
            titles=[passage.title for passage in passages],
            scores=[passage.score for passage in passages],
            receipt=passages[0].receipt if passages else "",
        )

    async def acall(self, query: str, k: int | None = None, **options: Any) -> dspy.Prediction:
        """Return the same, without blocking the event loop."""
        return await asyncio.to_thread(self.forward, query, k, **options)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Copy all but the store: optimizers copy programs, and a store is open once."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        memo[id(self)] = copied
        return copied


class QuireRM:
    """Answers `dspy.Retrieve` in programs that have one: `dspy.configure(rm=QuireRM(q))`.

    How many passages it finds is what the program asks for.

    Args:
        engine: The open store.
        viewer: Who reads; None for the configured viewer, or the owner.
        **options: Filters: `kinds`, `paths`, `since`, `until`, `where`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        viewer: Viewer | str | None = None,
        **options: Any,
    ) -> None:
        self._retrieval = Retrieval(engine, viewer, options=options)

    def __call__(self, query: str, k: int | None = None, **options: Any) -> list[Any]:
        """Return the passages, each with its text as `long_text`."""
        return [_answer(passage) for passage in self._retrieval.passages(query, k=k, **options)]


def _answer(passage: Passage) -> Any:
    return dspy.Prediction(long_text=passage.text, **passage.metadata())
