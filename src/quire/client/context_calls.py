"""What a client sends for contexts, searches and receipts.

Each function has the signature of the method of an open store, and returns a `Call`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from quire.client.call import (
    Call,
    Receipt,
    Steps,
    ViewerLike,
    context_members,
    escape_id,
    given,
    post,
    read_as,
    receipt_member,
    sent_filters,
)
from quire.core.deserialize import from_plain
from quire.core.serialize import to_plain
from quire.core.types import (
    Context,
    Filters,
    FormattedContext,
    Options,
    SearchResult,
    Verification,
    to_formatted_context,
)
from quire.pipeline.why_not import WhyNot
from quire.recipes.agent import (
    AGENT,
    AGENT_ITEMS,
    AGENT_TOKENS,
    PREMORTEM_ITEMS,
    PREMORTEM_TOKENS,
)
from quire.recipes.inspection import BudgetStep, StepTime
from quire.recipes.session import Turn, join_parts
from quire.rules.project_files import CheckedFiles, PlaceEvaluation, PlaceRules

# --- contexts ------------------------------------------------------------------------------------


def search(
    query: str,
    *,
    k: int = 10,
    viewer: ViewerLike = None,
    exact: bool = False,
    refresh: bool = True,
    **filters: Unpack[Filters],
) -> Call[SearchResult]:
    """Find the chunks that answer a query best, by its words and by its meaning."""
    options: dict[str, Any] = {
        "k": k,
        "exact": exact,
        "refresh": refresh,
        **sent_filters(dict(filters)),
    }
    return post("/v1/search", read_as(SearchResult), viewer, query=query, **options)


def assemble(query: str, **options: Unpack[Options]) -> Call[Context]:
    """Assemble one context for a query: within the budget, with sources and a receipt."""
    return post("/v1/assemble", read_as(Context), **context_members(query, options))


def continue_session(
    query: str, options: Options, fresh: int | None, last: Turn | None
) -> Steps[Turn]:
    """Add what a question needs to what a session shows."""
    before = () if last is None else last.parts
    parts = [
        {
            "text": part.text,
            "sources": [{"chunk_id": each.chunk_id, "path": each.path} for each in part.sources],
        }
        for part in before
    ]
    more: dict[str, Any] = {"fresh": fresh}
    if last is not None:
        more |= {"number": last.number, "parts": parts}
    data = yield post("/v1/session", dict, **more, **context_members(query, options))
    shown = (*before[: data["kept"]], from_plain(Context, data["added"]))
    return Turn(
        number=data["number"],
        query=data["query"],
        text=join_parts(shown),
        tokens=data["tokens"],
        cached_tokens=data["cached_tokens"],
        parts=shown,
        restarted=data["restarted"],
        notes=tuple(data["notes"]),
    )


def explain(query: str, **options: Unpack[Options]) -> Call[Context]:
    """Assemble, even where nothing fits; `decisions` says what became of each candidate."""
    return post("/v1/explain", read_as(Context), **context_members(query, options))


def why_not(
    query: str, path: str, line: int | None = None, **options: Unpack[Options]
) -> Call[list[WhyNot]]:
    """Explain for each chunk at a path why it is not in the context, and what lets it in."""

    def read(data: Any) -> list[WhyNot]:
        return [from_plain(WhyNot, item) for item in data["pieces"]]

    return post("/v1/why-not", read, path=path, line=line, **context_members(query, options))


def premortem(
    domain: str,
    strategy: str | None = None,
    *,
    limit: int = 10,
    budget: int = 1500,
    hard: bool = True,
    viewer: ViewerLike = None,
    model: str | None = None,
    meaning: bool = True,
    shared_only: bool = False,
) -> Call[Context]:
    """Assemble what went wrong before in a domain, and with a strategy."""
    options: dict[str, Any] = {
        "limit": limit,
        "budget": budget,
        "hard": hard,
        "model": model,
        "meaning": meaning,
    }
    return post(
        "/v1/premortem",
        read_as(Context),
        viewer,
        domain=domain,
        strategy=strategy,
        shared_only=shared_only,
        **options,
    )


def situate(
    situation: Mapping[str, Any],
    base: str = "",
    *,
    budget: int = 4000,
    viewer: ViewerLike = None,
    model: str | None = None,
) -> Call[Context]:
    """Assemble the contexts and rules that hold in a situation."""
    return post(
        "/v1/rules/situate",
        read_as(Context),
        viewer,
        situation=dict(situation),
        base=base,
        budget=budget,
        model=model,
    )


def assemble_context(
    query: str,
    context_types: Sequence[str] | None = None,
    limit: int = AGENT_ITEMS,
    max_tokens: int = AGENT_TOKENS,
    *,
    hard: bool = True,
    viewer: ViewerLike = None,
    model: str | None = None,
) -> Call[FormattedContext]:
    """Put what is known of a task on one page: memories, code, documents, experiences and more."""
    options: Options = {
        "recipe": AGENT,
        "limit": limit,
        "budget": max_tokens,
        "hard": hard,
        "viewer": viewer,
        "model": model,
        "allow_empty": True,
    }
    if context_types is not None:
        options["types"] = context_types
    return post("/v1/assemble", _formatted, **context_members(query, options))


def get_premortem_context(
    domain: str,
    strategy: str | None = None,
    limit: int = PREMORTEM_ITEMS,
    max_tokens: int = PREMORTEM_TOKENS,
    *,
    hard: bool = True,
    viewer: ViewerLike = None,
    model: str | None = None,
) -> Call[FormattedContext]:
    """Put past failures of a domain on one page, before it fails again."""
    call = premortem(
        domain, strategy, limit=limit, budget=max_tokens, hard=hard, viewer=viewer, model=model
    )
    return Call(call.method, call.path, _formatted, body=call.body)


def _formatted(data: Any) -> FormattedContext:
    return to_formatted_context(from_plain(Context, data))


def sweep(query: str, budgets: Sequence[int], **options: Unpack[Options]) -> Call[list[BudgetStep]]:
    """Tell which pieces a context would hold with each of several budgets."""

    def read(data: Any) -> list[BudgetStep]:
        return [from_plain(BudgetStep, each) for each in data["steps"]]

    return post("/v1/sweep", read, budgets=list(budgets), **context_members(query, options))


def times(query: str, **options: Unpack[Options]) -> Call[list[StepTime]]:
    """Run a request without any cache of contexts, and tell how long each step took."""

    def read(data: Any) -> list[StepTime]:
        return [from_plain(StepTime, each) for each in data["times"]]

    return post("/v1/times", read, **context_members(query, options))


# --- rules ---------------------------------------------------------------------------------------


def list_rules(path: str | None = None) -> Call[PlaceRules]:
    """List what applies at a path from the project's root, or at the root itself."""
    parameters = given({"path": path, "whole": True})
    return Call("GET", "/v1/rules", read_as(PlaceRules), parameters=parameters)


def check_rules(paths: Sequence[str] = ()) -> Call[CheckedFiles]:
    """Check the context files below some paths from the project's root, or all of them."""
    parameters = given({"path": [str(path) for path in paths] or None, "whole": True})
    return Call("GET", "/v1/rules/check", read_as(CheckedFiles), parameters=parameters)


def evaluate_rules(situation: Mapping[str, Any], path: str | None = None) -> Call[PlaceEvaluation]:
    """Evaluate which rules apply at a path from the root, in a situation, and why."""
    return post(
        "/v1/rules/test",
        read_as(PlaceEvaluation),
        situation=dict(situation),
        path=path,
        whole=True,
    )


# --- receipts ------------------------------------------------------------------------------------


def verify(
    receipt: Receipt,
    context: str | None = None,
    viewer: ViewerLike = None,
    *,
    signature: Mapping[str, Any] | None = None,
    key: bytes | str | None = None,
) -> Call[Verification]:
    """Check a receipt against its context, the store and its signature."""
    return post(
        "/v1/verify",
        read_as(Verification),
        viewer,
        receipt=receipt_member(receipt),
        context=context,
        signature=to_plain(signature),
        key=key.hex() if isinstance(key, bytes) else key,
    )


def replay(
    receipt: Receipt,
    viewer: ViewerLike = None,
    *,
    keep_failures: bool = False,
    ask_models: bool = False,
) -> Call[tuple[Context, list[str]]]:
    """Run a receipt's request again; return the context and what differs."""

    def read(data: Any) -> tuple[Context, list[str]]:
        return from_plain(Context, data["context"]), list(data["differences"])

    return post(
        "/v1/replay",
        read,
        viewer,
        receipt=receipt_member(receipt),
        keep_failures=keep_failures,
        ask_models=ask_models,
    )


def diff(old: Receipt, new: Receipt) -> Call[list[str]]:
    """Describe what differs between two receipts."""

    def read(data: Any) -> list[str]:
        return list(data["differences"])

    return post("/v1/diff", read, old=receipt_member(old), new=receipt_member(new))


def receipt_by_id(name: str) -> Call[dict[str, Any]]:
    """Fetch a receipt that the service keeps for this viewer."""

    def read(data: Any) -> dict[str, Any]:
        return dict(data["receipt"])

    return Call("GET", f"/v1/receipts/{escape_id(name)}", read)
