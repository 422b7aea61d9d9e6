"""Contexts from a retriever of the caller's own (specifications 0, 1 and 4): `ContextAssembler`.

The caller brings the texts with their scores; ranking, deduplication, packing, cuts, rendering and
the receipt are those of every other context. No store is needed, and no access is checked.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Unpack

from quire import receipts
from quire.core.protocols import Searcher
from quire.core.types import (
    BROUGHT,
    AssemblyConfig,
    Context,
    Options,
    RetrievalResult,
    Verification,
)
from quire.errors import ContextAssemblyError, InputError, QuireError
from quire.indexing import audit
from quire.pipeline import steps
from quire.pipeline.brought import (
    Brought,
    as_retrieved,
    bring,
    evidence,
    state_fields,
    with_brought,
)
from quire.pipeline.draft import start_draft
from quire.pipeline.request import resolve
from quire.system import clock, events, tracing
from quire.tokens import Tokenizer

DEFAULT_K = 100
OPTIONS = (
    "allow_empty", "as_of", "budget", "cap", "content", "cut", "dedup", "format", "groups", "hard",
    "levels", "metadata", "model", "order", "overflow", "pack", "per_document", "previous",
    "recent", "recipe", "reserve", "sources",
)  # fmt: skip
"""The options of a context that need no store."""

SearchFunction = Callable[[str, int], Any]


class ContextAssembler:
    """Assembles contexts of results that the caller's own retriever finds.

    Args:
        searcher: The retriever: an object with `search(query, k)`, or such a function. It returns
            results (`RetrievalResult`, or mappings with its fields), now or from a coroutine. None
            if results are given to each call.
        config: How results are assembled, in the words of specification 0.
        tokenizer: The model to count tokens for; None for the default, `o200k`.
        k: How many results the searcher is asked for.
        **options: Options of `Quire.assemble` that need no store, for all calls: `budget`,
            `reserve`, `recipe`, `format`, ...
    """

    def __init__(
        self,
        searcher: Searcher | SearchFunction | None = None,
        *,
        config: AssemblyConfig | None = None,
        tokenizer: Tokenizer | str | None = None,
        k: int = DEFAULT_K,
        **options: Unpack[Options],
    ) -> None:
        search = getattr(searcher, "search", searcher)
        if search is not None and not callable(search):
            raise InputError(
                f"expected an object with a method `search`, not {type(searcher).__name__}",
                field="searcher",
            )
        if not isinstance(k, int) or isinstance(k, bool) or k < 1:
            raise InputError(f"must be a whole number of at least 1, not {k!r}", field="k", value=k)
        self._search: SearchFunction | None = search
        self._k = k
        self._options: Options = {}
        if tokenizer is not None:
            model = tokenizer.model if isinstance(tokenizer, Tokenizer) else tokenizer
            self._options["model"] = Tokenizer(model).model
        if config is not None:
            self._options |= config.options
        self._options |= options
        _check_options(self._options)

    def assemble(
        self,
        query: str,
        results: Iterable[RetrievalResult | Mapping[str, Any]] | None = None,
        **options: Unpack[Options],
    ) -> Context:
        """Assemble one context within a budget, with sources and a receipt.

        Args:
            query: What the context is for.
            results: The results; None to ask the searcher.
            **options: Options of this call, in place of those of the assembler.
        """
        if results is None:
            found = self._ask(query)
            if isinstance(found, Awaitable | AsyncIterable):
                if inspect.iscoroutine(found):
                    found.close()
                raise ContextAssemblyError(
                    "the searcher is asynchronous", hint="use `assemble_async`"
                )
            results = found
        return self._assemble(query, results, options)

    async def assemble_async(
        self,
        query: str,
        results: Iterable[RetrievalResult | Mapping[str, Any]] | None = None,
        **options: Unpack[Options],
    ) -> Context:
        """Assemble one context; the searcher may be a coroutine, or else runs in a thread."""
        found: Any = results
        if results is None:
            found = await asyncio.to_thread(self._ask, query)
            try:
                if isinstance(found, Awaitable):
                    found = await found
                if isinstance(found, AsyncIterable):
                    found = [item async for item in found]
            except Exception as error:
                raise _searcher_failed(error) from error
        return await asyncio.to_thread(self._assemble, query, found, options)

    def verify(
        self,
        receipt: Mapping[str, Any],
        context: str | None = None,
        results: Iterable[RetrievalResult | Mapping[str, Any]] | None = None,
        *,
        signature: Mapping[str, Any] | None = None,
        key: bytes | str | None = None,
    ) -> Verification:
        """Check a receipt against its context, its signature and the results it was made from.

        With the results the page is rendered again and compared to the byte.

        Args:
            receipt: The receipt, as it was written.
            context: The text that it is of; None: only its hash is compared.
            results: The results that were brought, all of them; None: their texts are not compared.
            signature: The signature that came with it (`Quire.sign`), if one did.
            key: The public key that must have signed it, as bytes or hexadecimal digits.
        """
        return verify_brought(receipt, context, results, signature=signature, key=key)

    def _ask(self, query: str) -> Any:
        if self._search is None:
            raise InputError(
                "there are neither results nor a searcher", field="results", hint="give either one"
            )
        try:
            with events.source(BROUGHT):
                return self._search(query, self._k)
        except Exception as error:
            raise _searcher_failed(error) from error

    def _assemble(self, query: str, results: Any, options: Options) -> Context:
        with events.timed("assemble") as facts:
            context = self._assemble_now(query, results, options)
            facts.update(events.context_facts(context), brought=True)
            return context

    def _assemble_now(self, query: str, results: Any, options: Options) -> Context:
        _check_options(options)
        resolved = resolve(query, {**self._options, **options})
        resolved = replace(resolved, recipe=with_brought(resolved.recipe))
        brought = bring(_listed(results))
        retrieved = as_retrieved(brought, resolved)
        draft = start_draft(resolved, retrieved)
        context = steps.assemble(draft, (), resolved.notes, tracing.span)
        ids = [source.chunk_id for source in context.sources]
        receipt = receipts.make(
            resolved.request,
            resolved.recipe,
            context,
            [brought.chunks[name] for name in ids],
            [brought.prove(name) for name in ids],
            **state_fields(brought, resolved.counter.name),
        )
        context = replace(_with_origins(context, brought), receipt=receipt)
        return replace(context, created=clock.today())


def verify_brought(
    receipt: Mapping[str, Any],
    context: str | None,
    results: Iterable[Any] | None,
    *,
    signature: Mapping[str, Any] | None = None,
    key: bytes | str | None = None,
) -> Verification:
    """Check the receipt of a context whose texts were brought."""
    try:
        receipts.check(receipt)
        store = None if results is None else evidence(receipt, _listed(results))
    except QuireError as error:
        return Verification((str(error),))
    return audit.verify_receipt(receipt, context, signature=signature, key=key, store=store)


def _check_options(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in OPTIONS:
            raise InputError(
                "has no effect without a store", field=name, hint="leave it out", value=name
            )


def _listed(results: Any) -> Iterable[Any]:
    """Return results as a list; what raises while they are read is the searcher's failure."""
    if isinstance(results, str | bytes | Mapping) or not isinstance(results, Iterable):
        raise InputError(
            f"expected a list of results, not {type(results).__name__}", field="results"
        )
    if isinstance(results, list | tuple):
        return results
    return _guarded(results)


def _guarded(results: Iterable[Any]) -> Iterable[Any]:
    try:
        yield from results
    except Exception as error:
        raise _searcher_failed(error) from error


def _searcher_failed(error: Exception) -> ContextAssemblyError:
    return ContextAssemblyError(f"the searcher failed: {type(error).__name__}: {error}")


def _with_origins(context: Context, brought: Brought) -> Context:
    """Return a context whose chunks have the caller's own ids and metadata."""
    chunks = tuple(
        replace(chunk, source_id=origin.id, metadata=receipts.freeze(dict(origin.metadata)))
        for chunk in context.chunks
        for origin in [brought.origins[chunk.chunk_id]]
    )
    return replace(context, chunks=chunks)
