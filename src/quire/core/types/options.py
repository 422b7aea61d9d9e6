"""The options of a context: one table that every interface is made from.

`Options` types the keyword arguments of `assemble` and describes each of them in place. The checks
of a request, the flags of the command line, the arguments of the MCP tools, the part of a receipt
that records the request, and the notes about options without effect are all made from it. A new
option is one entry here, a field of `Request` if receipts record it, and the code that uses it.

Annotations are evaluated in this module, since they hold the table.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypedDict, get_type_hints

from quire.core.frozen import dataclass
from quire.core.types.option_spec import (
    DATE,
    FILE,
    JSON,
    LIST,
    MESSAGES,
    ON_OFF,
    RECEIPT,
    TEXT,
    Option,
    Tool,
    described,
)
from quire.core.types.recipe import Recipe
from quire.core.types.viewer import Filter, Viewer


def _only_by_sources(_: Recipe) -> bool:
    return False


def _weighs_signals(recipe: Recipe) -> bool:
    return bool(recipe.rank.weights)


def _weighs_kinds(recipe: Recipe) -> bool:
    return "type" in recipe.rank.weights


def _has_history(recipe: Recipe) -> bool:
    return recipe.budget.history > 0


class Filters(TypedDict, total=False):
    """Which records may answer at all."""

    kinds: Annotated[
        Sequence[str],
        Option(
            "Only records of this kind; repeatable.",
            recorded=True,
            expected="a list of kinds",
            flag="--kind",
            metavar="KIND",
            tool=Tool(
                description="Only these kinds: document, code, conversation, commit, memory, "
                "experience."
            ),
        ),
    ]
    paths: Annotated[
        Sequence[str],
        Option(
            "Only paths that match this glob; repeatable.",
            recorded=True,
            expected="a list of globs",
            flag="--path",
            metavar="GLOB",
            tool=Tool(
                description="Only paths that match one of these globs, written as in .gitignore."
            ),
        ),
    ]
    since: Annotated[
        int | str | None,
        Option(
            "Only records modified at or after this date.",
            recorded=True,
            expected="a date, or seconds since 1970",
            form=DATE,
            metavar="DATE",
            tool=Tool(description="Only records modified at or after this date: 2026-01-31."),
        ),
    ]
    until: Annotated[
        int | str | None,
        Option(
            "Only records modified at or before this date.",
            recorded=True,
            expected="a date, or seconds since 1970",
            form=DATE,
            metavar="DATE",
            tool=Tool(),
        ),
    ]
    shared_only: Annotated[
        bool,
        Option(
            "Leave out what other users wrote for themselves; only the owner reads it otherwise.",
            recorded=True,
        ),
    ]

    where: Annotated[
        Filter | str | Mapping[str, Any],
        Option(
            'Only records whose metadata pass this condition: team = "north" and priority >= 3.',
            recorded=True,
            expected="a condition on metadata, or a Filter",
            form=TEXT,
            metavar="CONDITION",
            tool=Tool(
                description='Only records whose metadata pass this condition: team = "north" and '
                "priority >= 3; also !=, in [..], has(key), and, or, not. Dates are written "
                "2026-01-31."
            ),
        ),
    ]


class Options(Filters, total=False):
    """The options of a context; the recipe decides what is not given."""

    budget: Annotated[
        int,
        Option(
            "Size of the whole window in tokens, reserved parts included: see --reserve "
            "(default: the recipe's).",
            setting="budget.total",
            tool=Tool(
                "max_tokens",
                "Token budget (default: the recipe's); lowered to what one answer may hold.",
                minimum=1,
                maximum=100_000_000,
            ),
        ),
    ]
    recipe: Annotated[
        str | Recipe | Mapping[str, Any],
        Option(
            "Name of a shipped recipe, or a TOML file (default: documents).",
            expected="a name, a file, a mapping or a Recipe",
            form=TEXT,
            metavar="NAME|FILE",
            tool=Tool(
                description="agent: a page of everything; documents: the texts themselves; "
                "entities: functions and sections by name; workspace: blocks; situation: the rules "
                "that apply. Default: agent, or situation if one is given.",
                choices=("agent", "documents", "entities", "workspace", "situation"),
            ),
        ),
    ]
    format: Annotated[
        str,
        Option(
            "Output format: {choices}.",
            setting="render.format",
        ),
    ]
    types: Annotated[
        Sequence[str],
        Option(
            "Only these sections of the recipe: memories,code,experiences.",
            expected="a list of names",
            form=LIST,
            metavar="NAME,...",
            tool=Tool(description="Only these sections of the page: memories, code, experiences."),
        ),
    ]
    limit: Annotated[
        int,
        Option(
            "Maximum number of items in each section.",
            tool=Tool(minimum=1, maximum=100),
        ),
    ]
    model: Annotated[
        str | None,
        Option(
            "Count tokens for this model: gpt-4o, claude-…, llama-3 (default: o200k).",
            expected="a name",
            tool=Tool(
                description="Count tokens for this model: gpt-4o, claude-sonnet-4-5, llama-3 "
                "(default: o200k)."
            ),
        ),
    ]
    reserve: Annotated[
        Mapping[str, int],
        Option(
            "Tokens of the window to keep free, by purpose; `none` for nothing "
            "(default: system=200,query=100,response=500).",
            setting="budget.reserved",
            metavar="NAME=TOKENS,...",
            example="system=200,response=500 (or `none`)",
        ),
    ]
    pack: Annotated[
        str,
        Option(
            "How to choose what fits: {choices}.",
            setting="fit.pack",
        ),
    ]
    order: Annotated[
        str,
        Option(
            "Order of the pieces: {choices} (which needs --previous).",
            setting="fit.order",
        ),
    ]
    overflow: Annotated[
        str,
        Option(
            "What to do with a piece that does not fit: skip it, cut it, or stop.",
            setting="budget.overflow",
        ),
    ]
    hard: Annotated[
        bool,
        Option(
            "Let the last piece exceed the budget.",
            setting="budget.hard",
            flag="--soft",
            value=False,
        ),
    ]
    dedup: Annotated[
        float,
        Option(
            "Share of a piece that may repeat a better one before it is a duplicate (0.8).",
            setting="fit.dedup",
        ),
    ]
    per_document: Annotated[
        int,
        Option("Maximum number of pieces of one document.", setting="fit.per_document"),
    ]
    recent: Annotated[
        int,
        Option(
            "Raise the scores of new records by up to this many percent.",
            setting="rank.recent",
            flag="--prefer-recent",
        ),
    ]
    floor: Annotated[
        int,
        Option(
            "Leave out what is less likely to be relevant than this, in thousandths; 0: nothing.",
            setting="rank.floor",
        ),
    ]
    feedback: Annotated[
        int,
        Option(
            "Percent by which feedback changes a score at most (10); 0 ignores it.",
            setting="rank.feedback",
        ),
    ]
    as_of: Annotated[
        int | str | None,
        Option(
            "Measure recency from this date.",
            recorded=True,
            expected="a date, or seconds since 1970",
            form=DATE,
            metavar="DATE",
        ),
    ]
    metadata: Annotated[
        bool,
        Option("Show lines, headings and score of each piece.", setting="render.metadata"),
    ]
    groups: Annotated[
        bool,
        Option(
            "Group code, documents and conversations under titles of their own.",
            setting="render.groups",
            form=ON_OFF,
        ),
    ]
    content: Annotated[
        bool,
        Option(
            "Show the text itself, or only the signatures and summaries of entities.",
            setting="render.content",
            form=ON_OFF,
        ),
    ]
    cap: Annotated[
        int,
        Option("Maximum number of characters of a piece (0: no limit).", setting="render.cap"),
    ]
    sources: Annotated[
        int,
        Option("List up to this many sources at the end.", setting="render.sources"),
    ]
    levels: Annotated[
        Sequence[str],
        Option(
            "Levels of detail: full, or full,signature,outline to shorten what is too long.",
            setting="fit.levels",
            expected="a list of names",
            form=LIST,
            metavar="LEVEL,...",
        ),
    ]
    cut: Annotated[
        str,
        Option(
            "Part of a cut piece to keep: keep_start, keep_end, extractive or summarize.",
            setting="fit.cut",
        ),
    ]
    focus: Annotated[
        str | None,
        Option(
            "Record the user is viewing: its path, title, id or the beginning of its id.",
            recorded=True,
            expected="a path, a title or an id",
            metavar="NAME",
            used_by=_weighs_signals,
        ),
    ]
    include: Annotated[
        Sequence[str],
        Option(
            "Record to include in any case, named likewise; repeatable.",
            recorded=True,
            expected="a list of paths, titles or ids",
            metavar="NAME",
            used_by=_only_by_sources,
        ),
    ]
    exclude: Annotated[
        Sequence[str],
        Option(
            "Record to leave out, with everything below it; repeatable.",
            recorded=True,
            expected="a list of paths, titles or ids",
            metavar="NAME",
        ),
    ]
    depth: Annotated[
        int | None,
        Option(
            "Levels above and below the focus to search.",
            recorded=True,
            used_by=_only_by_sources,
        ),
    ]
    prefer: Annotated[
        Sequence[str],
        Option(
            "Kind that answers best; repeatable.",
            recorded=True,
            expected="a list of kinds",
            metavar="KIND",
            used_by=_weighs_kinds,
        ),
    ]
    shares: Annotated[
        Mapping[str, int],
        Option(
            "Relative share of the budget for sections: focus=2500,semantic=200.",
            expected="whole numbers by the names of sections",
            metavar="NAME=SHARE,...",
            example="focus=2500,semantic=200",
        ),
    ]
    situation: Annotated[
        Mapping[str, Any],
        Option(
            "Situation that rules are evaluated for: JSON, - for standard input, or @FILE.",
            recorded=True,
            expected="a mapping of plain data",
            form=JSON,
            tool=Tool(
                description="Situation that rules are evaluated for: tool, params, path, intent, "
                "task and more."
            ),
            used_by=_only_by_sources,
        ),
    ]
    base: Annotated[
        str,
        Option(
            "Context, file or folder whose rules apply.",
            recorded=True,
            expected="a path",
            metavar="PATH",
            tool=Tool(
                description="Folder, file or context, from the root, whose rules apply "
                "(recipe situation)."
            ),
            used_by=_only_by_sources,
        ),
    ]
    history: Annotated[
        Sequence[tuple[str, str]],
        Option(
            "Conversation so far: JSON with role and content.",
            recorded=True,
            expected="a list of (role, content) pairs",
            form=MESSAGES,
            metavar="FILE",
            used_by=_has_history,
        ),
    ]
    system: Annotated[
        str,
        Option(
            "Your own instructions, put into the context.",
            recorded=True,
            form=FILE,
            metavar="FILE",
        ),
    ]
    previous: Annotated[
        Sequence[str],
        Option(
            "An earlier receipt, for --order stable.",
            recorded=True,
            expected="a list of chunk ids",
            form=RECEIPT,
            metavar="FILE",
        ),
    ]
    seen: Annotated[
        Sequence[str],
        Option(
            "An earlier receipt, whose pieces the reader has and that are left out.",
            recorded=True,
            expected="a list of chunk ids",
            form=RECEIPT,
            metavar="FILE",
        ),
    ]
    exact: Annotated[
        bool,
        Option("Compare every vector, however many there are.", recorded=True),
    ]
    refresh: Annotated[
        bool,
        Option(
            "Do not read quoted files again that changed on disk; the context says which did.",
            flag="--no-refresh",
            value=False,
        ),
    ]
    allow_empty: Annotated[
        bool,
        Option("Return an empty context instead of an error when nothing fits."),
    ]
    viewer: Annotated[
        Viewer | str | None,
        Option(
            "Read as this user (default: the owner, who reads everything).",
            expected="a name or a Viewer",
            form=TEXT,
            metavar="NAME",
        ),
    ]


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for: the query and the options that receipts record.

    A field that is added must have a default, so that older receipts can be read.
    """

    query: str
    model: str
    """The counter that the tokens are counted with."""
    kinds: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    shared_only: bool = False
    where: str = ""
    """The condition on metadata, in its canonical form."""
    alive_at: int | None = None
    """Left out is what had expired by then: the last expiry before the request; None: none was."""
    as_of: int | None = None
    """The moment that recency is measured from; None: the newest time that the viewer may read."""
    exact: bool = False
    previous: tuple[str, ...] = ()
    """The chunks of an earlier context, in their order, for the order `stable`."""
    seen: tuple[str, ...] = ()
    """The chunks that the reader has already, which are left out."""
    focus: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    prefer: tuple[str, ...] = ()
    depth: int | None = None
    """Levels above and below the focus; None: as the recipe says."""
    history: tuple[tuple[str, str], ...] = ()
    """The conversation so far: role and content of each message."""
    system: str = ""
    situation: str = ""
    """The situation as canonical JSON."""
    base: str = ""
    stale: tuple[tuple[str, str], ...] = ()
    """The quoted files that were not as indexed when it was made: path, `changed` or `deleted`."""


def name_options(text: str, name: Callable[[Option], str]) -> str:
    """Let an interface name the options that a note has in backticks."""
    return _NAMED.sub(
        lambda match: name(OPTIONS[match[1]]) if match[1] in OPTIONS else match[0], text
    )


_NAMED = re.compile(r"`([a-z_]+)`")


def _table(kind: type) -> dict[str, Option]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: described(name, annotation) for name, annotation in hints.items()}


FILTERS: Mapping[str, Option] = _table(Filters)
OPTIONS: Mapping[str, Option] = {
    name: option for name, option in _table(Options).items() if name not in FILTERS
} | dict(FILTERS)
"""The table, by name: the options of a context, then its filters."""
BY_SETTING: Mapping[str, Option] = {
    option.setting: option for option in OPTIONS.values() if option.setting
}
"""The options that override a setting of the recipe, by the setting."""
