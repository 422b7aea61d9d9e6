"""Contexts of a workspace (specification 3).

The types of that specification over the one pipeline: a request becomes a query with options, a
context becomes a payload. Nothing is decided here that a recipe could decide.
"""

from __future__ import annotations

from quire import packing, tokens
from quire.core.aio import make_async
from quire.core.protocols import View
from quire.core.types import (
    BLOCK_PREFIX,
    BlockItem,
    Context,
    ContextPayload,
    ContextRequest,
    ContextSection,
    Filter,
    Options,
    PayloadMetadata,
    TokenBudget,
    Validation,
)
from quire.errors import BudgetError, InputError
from quire.memory.authoring import OpenProject
from quire.recipes.protocol import Assemble
from quire.retrieval import ancestors

RECIPE = "workspace"
ALIKE = 0.9
SUPERSEDES = "supersedes"
RELATION = "relation:"
BEST = 100_000
"""The score of a candidate for which everything speaks."""
SPLITS: dict[str, TokenBudget] = {
    "assist": TokenBudget(),
    "chat": TokenBudget(4000, 500, 1500, 500, 300, 1000, 200),
    "search": TokenBudget(4000, 0, 3000, 500, 300, 0, 200),
    "automate": TokenBudget(4000, 2000, 800, 800, 200, 0, 200),
}
"""What the parts of a page may take, by the type of a request."""


class WorkspaceContexts:
    """Contexts of a workspace, from an open store."""

    def __init__(self, project: OpenProject, assemble: Assemble) -> None:
        self._project = project
        self._assemble = assemble

    def build(self, request: ContextRequest) -> ContextPayload:
        """Build the context for a user, what they are viewing and what they ask."""
        budget = _budget(request)
        options: Options = {
            "recipe": RECIPE,
            "budget": budget.total,
            "shares": budget.shares,
            "viewer": request.user,
            "model": request.model,
            "focus": request.focus.record_id,
            "include": request.hints.include_blocks,
            "exclude": request.hints.exclude_blocks,
            "prefer": (*request.hints.prioritize_types, *request.preferences.types),
            "depth": request.hints.max_depth,
            "history": request.conversation_history,
            "system": _instructions(request),
            "as_of": request.as_of,
            "where": Filter(since=request.hints.time_range[0], until=request.hints.time_range[1]),
            "allow_empty": True,
        }
        if request.preferences.format:
            options["format"] = request.preferences.format
        return _payload(request, budget, self._assemble(request.query, **options))

    build_async = make_async(build)

    @staticmethod
    def estimate_tokens(payload: ContextPayload) -> int:
        """Count the tokens of a payload, exactly, as its model does."""
        return tokens.open_counter(payload.metadata.model).count(payload.serialized)

    def validate(self, payload: ContextPayload, user: str) -> Validation:
        """Check a payload: budget, access, duplicates, empty parts, what is superseded."""
        problems: list[str] = []
        counted = self.estimate_tokens(payload)
        if counted != payload.metadata.total_tokens:
            problems.append(f"it says {payload.metadata.total_tokens} tokens, and has {counted}")
        if counted > payload.metadata.budget:
            problems.append(f"{counted} tokens pass the budget of {payload.metadata.budget}")
        items = [item for section in payload.sections for item in section.items]
        with self._project.view(user) as view:
            readable = {record.id for record in view.records([item.block_id for item in items])}
            problems += [
                f"{item.block_id} may not be read by {user}, or is gone"
                for item in items
                if item.block_id not in readable
            ]
            stale = _superseded(view, [item for item in items if item.block_id in readable])
        problems += _repeated(items)
        problems += [f"{item.block_id} is empty" for item in items if not item.content.strip()]
        empty = [
            f"the section {section.type} is empty"
            for section in payload.sections
            if not section.items
        ]
        return Validation(tuple(dict.fromkeys(problems)), (*stale, *empty))


def _budget(request: ContextRequest) -> TokenBudget:
    if request.type not in SPLITS:
        raise InputError(
            f"there is no request type {request.type!r}; there are {', '.join(SPLITS)}"
        )
    budget = request.token_budget or SPLITS[request.type]
    if budget.total <= 0:
        raise BudgetError(f"the budget is {budget.total} tokens: it must be above zero")
    for name, part in budget.shares.items():
        if part < 0:
            raise BudgetError(f"{part} tokens for {name}: it must not be negative")
        if part > budget.total:
            raise BudgetError(f"{part} tokens for {name} of {budget.total} in all: too many")
    return budget


def _instructions(request: ContextRequest) -> str:
    language = request.preferences.language
    return f"{request.system}\nAnswer in {language}." if language else request.system


def _payload(request: ContextRequest, budget: TokenBudget, context: Context) -> ContextPayload:
    titles: dict[str, str] = {
        section["name"]: section["title"]
        for section in context.receipt["recipe"]["sections"]  # type: ignore[index]  # checked data
    }
    by_section: dict[str, list[BlockItem]] = {name: [] for name in titles}
    spent = dict.fromkeys(titles, 0)
    for item in context.items:
        spent[item.section] += item.tokens
        by_section[item.section].append(
            BlockItem(
                block_id=item.record_id,
                block_type=item.kind.removeprefix(BLOCK_PREFIX),
                content=item.text,
                relevance=min(1.0, item.score / BEST),
                metadata=item.about,
            )
        )
    considered = {decision.path for decision in context.decisions}
    return ContextPayload(
        sections=tuple(
            ContextSection(name, title, tuple(by_section[name]), spent[name])
            for name, title in titles.items()
        ),
        metadata=PayloadMetadata(
            total_tokens=context.tokens,
            budget=budget.total,
            focus_block_id=request.focus.block_id,
            focus_page_id=request.focus.page_id,
            collectors_used=tuple(name for name in titles if by_section[name]),
            blocks_included=len({item.record_id for item in context.items}),
            blocks_considered=len(considered),
            model=request.model,
        ),
        serialized=context.text,
        failed=context.failed,
        notes=context.notes,
        receipt=context.receipt,
    )


def _superseded(view: View, items: list[BlockItem]) -> list[str]:
    """Say which pages are superseded that items stand on."""
    records = view.records(sorted({item.block_id for item in items}))
    above = ancestors(view, records)
    pages = {each.id: each for record in records for each in (record, *above[record.id])}
    links = view.links(sorted(pages), back=True)
    return [
        f"{pages[link.target].title or link.target} is superseded by {link.source}"
        for link in links
        if link.kind.removeprefix(RELATION) == SUPERSEDES
    ]


def _repeated(items: list[BlockItem]) -> list[str]:
    found = []
    for place, item in enumerate(items):
        for other in items[:place]:
            if item.block_id == other.block_id and item.content == other.content:
                found.append(f"{item.block_id} stands in it twice")
            elif item.block_id != other.block_id and (
                packing.overlap(item.content, other.content) > ALIKE
            ):
                found.append(f"{item.block_id} says again what {other.block_id} says")
    return found
