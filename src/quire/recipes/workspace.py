"""Contexts of a workspace (specification 3).

The types of that specification over the one pipeline: a request becomes a query with options, a
context becomes a payload. Nothing is decided here that a recipe could decide.
"""

from __future__ import annotations

from quire import packing, tokens
from quire.core.aio import make_async
from quire.core.dates import parse_date
from quire.core.protocols import View
from quire.core.types import (
    BLOCK_PREFIX,
    BlockItem,
    Context,
    ContextHints,
    ContextPayload,
    ContextRequest,
    ContextSection,
    Filter,
    Options,
    PayloadMetadata,
    TokenBudget,
    Validation,
    Viewer,
)
from quire.core.types.blocks import PAGES, TYPES
from quire.errors import BudgetError, InputError, unknown
from quire.memory.authoring import OpenProject
from quire.pipeline.validate import check_tokens
from quire.recipes.protocol import Assemble
from quire.retrieval import ancestors

RECIPE = "workspace"
MAX_OVERLAP = 0.9
"""Two items whose texts overlap more than this are duplicates."""
SUPERSEDES = "supersedes"
RELATION = "relation:"
MAX_SCORE = 100_000
"""The score of a candidate with every signal at its best."""
SPLITS: dict[str, TokenBudget] = {
    "assist": TokenBudget(4000, 1500, 1200, 800, 300, 500, 200),
    "chat": TokenBudget(4000, 500, 1500, 500, 300, 1000, 200),
    "search": TokenBudget(4000, 0, 3000, 500, 300, 0, 200),
    "automate": TokenBudget(4000, 2000, 800, 800, 200, 0, 200),
}
"""The shares of the sections, by the type of a request."""


class WorkspaceContexts:
    """Contexts of a workspace, from an open store."""

    def __init__(self, project: OpenProject, assemble: Assemble) -> None:
        self._project = project
        self._assemble = assemble

    def build(self, request: ContextRequest) -> ContextPayload:
        """Build the context for a user, what they are viewing and what they ask."""
        total, shares = _budget_of(request)
        options: Options = {
            "recipe": RECIPE,
            "budget": total,
            "shares": shares,
            "viewer": _named(request.user),
            "model": request.model,
            "focus": request.focus.record_id,
            "include": _included(request),
            "exclude": request.hints.exclude_blocks,
            "prefer": _preferred(request),
            "depth": request.hints.max_depth,
            "history": request.conversation_history,
            "system": _instructions(request),
            "as_of": request.as_of,
            "where": _time_filter(request.hints),
            "allow_empty": True,
        }
        if request.preferences.format:
            options["format"] = request.preferences.format
        return _payload(request, total, self._assemble(request.query, **options))

    build_async = make_async(build)

    @staticmethod
    def estimate_tokens(payload: ContextPayload) -> int:
        """Count the tokens of a payload, exactly, as its model does."""
        return tokens.open_counter(payload.metadata.model).count(payload.serialized)

    def validate(self, payload: ContextPayload, user: Viewer | str) -> Validation:
        """Check a payload: budget, access, duplicates, empty sections, superseded pages."""
        name = user.actor if isinstance(user, Viewer) else user
        problems: list[str] = []
        counted = self.estimate_tokens(payload)
        if counted != payload.metadata.total_tokens:
            problems.append(f"it states {payload.metadata.total_tokens} tokens, but has {counted}")
        if counted > payload.metadata.budget:
            problems.append(f"{counted} tokens exceed the budget of {payload.metadata.budget}")
        items = [item for section in payload.sections for item in section.items]
        with self._project.view(_named(user)) as view:
            readable = {record.id for record in view.records([item.block_id for item in items])}
            problems += [
                f"{item.block_id} may not be read by {name}, or does not exist"
                for item in items
                if item.block_id not in readable
            ]
            stale = _find_superseded(view, [item for item in items if item.block_id in readable])
        problems += [
            f"the source {failure.source} failed: {failure.reason}" for failure in payload.failed
        ]
        problems += _find_duplicates(items)
        problems += [f"{item.block_id} is empty" for item in items if not item.content.strip()]
        empty = [
            f"the section {section.type} is empty"
            for section in payload.sections
            if not section.items
        ]
        return Validation(tuple(dict.fromkeys(problems)), (*stale, *empty))


def _named(user: Viewer | str | None) -> Viewer | str:
    """Return the user of a request, who must be named: nobody is not the owner."""
    if user is None:
        raise InputError(
            "a request must name its user",
            field="user",
            hint="give a user's name or a Viewer; the owner is Viewer('', owner=True)",
        )
    return user


def _time_filter(hints: ContextHints) -> Filter:
    """Return the filter for a range of times, of dates or of seconds since 1970."""
    field = "hints.time_range"
    moments = hints.time_range
    if not isinstance(moments, tuple | list) or len(moments) != 2:
        raise InputError(
            f"expected the first and the last moment, not {moments!r}", field=field, value=moments
        )
    for moment in moments:
        if isinstance(moment, bool) or not isinstance(moment, int | str | None):
            raise InputError(
                f"expected a date, seconds since 1970 or None, not {moment!r}",
                field=field,
                value=moment,
            )
    since, until = (
        parse_date(field, moment, end=bool(at)) if isinstance(moment, str) else moment
        for at, moment in enumerate(moments)
    )
    return Filter(since=since, until=until)


def _included(request: ContextRequest) -> tuple[str, ...]:
    """Return the blocks that must be in: those of the hints, and the page of a focused block."""
    focus = request.focus
    page = () if focus.page_id in (None, focus.record_id) else (focus.page_id,)
    return tuple(dict.fromkeys((*request.hints.include_blocks, *filter(None, page))))


def _preferred(request: ContextRequest) -> tuple[str, ...]:
    for field, types in (
        ("hints.prioritize_types", request.hints.prioritize_types),
        ("preferences.types", request.preferences.types),
    ):
        for name in types:
            if name not in TYPES:
                raise unknown("block type", name, TYPES, field=field)
    return (*request.hints.prioritize_types, *request.preferences.types)


def _budget_of(request: ContextRequest) -> tuple[int, dict[str, int]]:
    """Return the total, and the share of each part: as given, or as the request's type says."""
    if request.type not in SPLITS:
        raise unknown("request type", request.type, SPLITS, field="type")
    split = SPLITS[request.type]
    budget = request.token_budget or split
    check_tokens("token_budget.total", budget.total)
    shares: dict[str, int] = {}
    for name, share in budget.shares.items():
        usual = (split.shares[name] or 0) * budget.total // split.total
        shares[name] = usual if share is None else share
        if not 0 <= shares[name] <= budget.total:
            raise BudgetError(
                f"must be between 0 and the total of {budget.total} tokens, not {share}",
                field=f"token_budget.{name}",
                value=share,
            )
    return budget.total, shares


def _instructions(request: ContextRequest) -> str:
    language = request.preferences.language
    return f"{request.system}\nAnswer in {language}." if language else request.system


def _payload(request: ContextRequest, total: int, context: Context) -> ContextPayload:
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
                relevance=(
                    min(1.0, item.score / MAX_SCORE) if item.relevance is None else item.relevance
                ),
                metadata=item.about,
                similarity=item.similarity,
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
            budget=total,
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


def _find_superseded(view: View, items: list[BlockItem]) -> list[str]:
    """Describe which blocks, or pages above them, are superseded."""
    records = view.records(sorted({item.block_id for item in items}))
    above = ancestors(view, records)
    pages = {page.id: page for record in records for page in (record, *above[record.id])}
    links = view.links(sorted(pages), back=True)
    return [
        f"{pages[link.target].title or link.target} is superseded by {link.source}"
        for link in links
        if link.kind.removeprefix(RELATION) == SUPERSEDES
    ]


def _find_duplicates(items: list[BlockItem]) -> list[str]:
    duplicates = []
    for index, item in enumerate(items):
        for other in items[:index]:
            if item.block_id == other.block_id and item.content == other.content:
                duplicates.append(f"{item.block_id} occurs twice")
            elif (
                item.block_id != other.block_id
                and item.block_type not in PAGES  # titles, and what they are related to
                and packing.overlap(item.content, other.content) > MAX_OVERLAP
            ):
                duplicates.append(f"{item.block_id} repeats {other.block_id}")
    return duplicates
