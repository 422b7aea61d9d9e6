"""Tools that assemble contexts, explain them and search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from quire.core.json_schema import Schema, number, record, text, texts
from quire.core.serialize import pick, to_plain
from quire.core.types.options import BY_SETTING, name_options
from quire.mcp import schemas
from quire.mcp.limits import MAX_CONTEXT_TOKENS
from quire.mcp.memory_tools import DOMAIN, STRATEGY
from quire.mcp.resources import context_uri, receipt_uri, source_uri
from quire.mcp.schemas import LIMIT, LINES, MODEL, NOTES, answer, objects
from quire.mcp.session import Session
from quire.mcp.tool import Arguments, Step, Tool, ToolResult

if TYPE_CHECKING:
    from quire.core.types import Context, Failure, Options

AGENT = "agent"
SITUATION = "situation"

SHARES = ("relevance", "similarity")
"""What is known of a source from 0 to 1; null where it is not."""
_SHARE = {"type": ["number", "null"]}


def assemble(session: Session, arguments: Arguments, step: Step) -> ToolResult:
    """Assemble a context for a task or a question."""
    step("opening the store")
    quire = session.quire()
    step("assembling")
    options, notes = _options(session, arguments)
    return _context_result(session, quire.assemble(arguments["query"], **options), notes)


def premortem(session: Session, arguments: Arguments, step: Step) -> ToolResult:
    """Assemble what went wrong before in a domain."""
    step("opening the store")
    quire = session.quire()
    step("assembling")
    options, notes = _budget(arguments)
    options |= {name: arguments[name] for name in ("limit", "model") if name in arguments}
    context = quire.agent.premortem(
        arguments["domain"],
        arguments.get("strategy"),
        shared_only=session.shared_only,
        **options,
    )
    return _context_result(session, context, notes)


def explain(session: Session, arguments: Arguments, step: Step) -> ToolResult:
    """Explain each candidate's fate, or why a place is not in the context."""
    step("opening the store")
    quire = session.quire()
    step("assembling")
    options, notes = _options(session, arguments)
    context = quire.assemble(arguments["query"], **options)
    pieces = []
    if "path" in arguments:
        step("trying what would let it in")
        path = quire.documents.path_of(arguments["path"])
        missing = quire.why_not(arguments["query"], path, arguments.get("line"), **options)
        pieces = [_missing_piece(to_plain(piece)) for piece in missing]
    ranked = sorted(
        context.decisions, key=lambda decision: (-decision.score, decision.path, decision.chunk_id)
    )
    names = ("path", "lines", "verdict", "step", "reason", "tokens", "score", "signals")
    data = {
        "decisions": [pick(to_plain(decision), *names) for decision in ranked],
        "pieces": pieces,
        "tokens": context.tokens,
        "available": context.available,
        **_remarks(context.failed, [*notes, *context.notes]),
    }
    return ToolResult(data, "decisions")


def search(session: Session, arguments: Arguments, step: Step) -> ToolResult:
    """Find the passages that answer a question best."""
    step("opening the store")
    quire = session.quire()
    step("searching")
    filters = pick(arguments, *(name for name in schemas.FILTER_ARGUMENTS if name in arguments))
    found = quire.search(
        arguments["query"],
        k=arguments.get("k", 10),
        shared_only=session.shared_only,
        **filters,
    )
    names = (
        "path",
        "document",
        "lines",
        "title",
        "author",
        "metadata",
        "text",
        "score",
        "likely",
        "signals",
    )
    results = [
        {**pick(result, *names), "uri": source_uri(result["id"])}
        for result in to_plain(found.results)
    ]
    data = {"results": results, "state_root": found.state_root, "exact": found.exact}
    return ToolResult({**data, **_remarks(found.failed, found.notes)}, "results")


def _missing_piece(piece: dict[str, Any]) -> dict[str, Any]:
    return {
        **pick(piece, "path", "lines", "inside", "step", "reason"),
        "lets_in": [
            f"{_setting_name(change['setting'])} = {change['value']}" for change in piece["relaxed"]
        ],
        "checked": piece["checked"],
    }


def _context_result(session: Session, context: Context, notes: Sequence[str]) -> ToolResult:
    name = session.add(context)
    data = {
        "text": context.text,
        "tokens": context.tokens,
        "available": context.available,
        "omitted": context.omitted,
        "sources": [
            {
                **pick(
                    source, "path", "document", "lines", "section", "tokens", "metadata", *SHARES
                ),
                "uri": source_uri(source["chunk_id"]),
            }
            for source in to_plain(context)["sources"]
        ],
        "receipt": name,
        "receipt_uri": receipt_uri(name),
        "context_uri": context_uri(name),
        **_remarks(context.failed, [*notes, *context.notes]),
    }
    remarks = [
        *(f"FAILED: {failure.source}: {failure.reason}" for failure in context.failed),
        *(f"note: {note}" for note in data["notes"]),
        *filter(None, (context.why_empty,)),
        f"{context.tokens} of {context.available} tokens; receipt {name}",
    ]
    return ToolResult(data, "sources", "text", "\n".join(remarks))


def _remarks(failed: Iterable[Failure], notes: Iterable[str]) -> dict[str, Any]:
    named = [
        name_options(note, lambda option: f"`{schemas.argument_name(option.name)}`")
        for note in notes
    ]
    return {"failed": to_plain(list(failed)), "notes": named}


def _setting_name(setting: str) -> str:
    """Return what changes a setting of a recipe: an argument of a tool if there is one."""
    option = BY_SETTING.get(setting)
    return setting if option is None or option.tool is None else schemas.argument_name(option.name)


def _options(session: Session, arguments: Arguments) -> tuple[Options, list[str]]:
    budget, notes = _budget(arguments)
    options = {
        "recipe": SITUATION if SITUATION in arguments else AGENT,
        **schemas.context_options(arguments),
        **budget,
        # The client owns the window and its reserves; a context is all that is sent.
        "reserve": {},
        "allow_empty": True,
        "shared_only": session.shared_only,
    }
    return options, notes  # type: ignore[return-value]  # the names are those of Options


def _budget(arguments: Arguments) -> tuple[dict[str, Any], list[str]]:
    """Return the budget of a context, limited to what fits an answer; nothing: the recipe's."""
    if "max_tokens" not in arguments:
        return {}, []
    budget = arguments["max_tokens"]
    if budget <= MAX_CONTEXT_TOKENS:
        return {"budget": budget}, []
    note = (
        f"max_tokens is lowered from {budget} to {MAX_CONTEXT_TOKENS}, the most that one answer has"
    )
    return {"budget": MAX_CONTEXT_TOKENS}, [note]


_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}
_LINES = schemas.undescribed(LINES)
_NOTES = {name: schemas.undescribed(schema) for name, schema in NOTES.items()}
_DOCUMENT = {"type": "string", "description": "Its name: of a note, the file and line."}
_URI = {"type": "string", "description": "URI of the resource with its text."}
_METADATA: Schema = {"type": "object"}
_SIGNALS: Schema = {"type": "object", "additionalProperties": {"type": "integer"}}
_CONTEXT = answer(
    {
        "text": text("The context."),
        "tokens": _INTEGER,
        "available": {"type": "integer", "description": "Tokens that were available."},
        "omitted": {"type": "integer", "description": "Number of pieces that did not fit."},
        "sources": objects(
            {
                "path": _STRING,
                "document": _DOCUMENT,
                "lines": LINES,
                "section": _STRING,
                "tokens": _INTEGER,
                "metadata": _METADATA,
                **dict.fromkeys(SHARES, _SHARE),
                "uri": _URI,
            }
        ),
        "receipt": text("Hash of its receipt, for `verify`."),
        "receipt_uri": text("URI of the receipt."),
        "context_uri": text("URI of the context."),
        **NOTES,
    }
)

_SAME_CONTEXT = answer(
    {name: schemas.undescribed(schema) for name, schema in _CONTEXT["properties"].items()}
)
"""The same, without what is said of it already."""

TOOLS = (
    Tool(
        "assemble_context",
        "Assemble a context",
        "Assemble what is known of a task or a question into one text within a token budget: "
        "memories, code, documents, experiences, values, commits. Every "
        "source is named, and a receipt proves it. Call it before you begin with a task.",
        lambda: record(schemas.context_arguments(), "query"),
        _CONTEXT,
        assemble,
    ),
    Tool(
        "get_premortem_context",
        "What went wrong before",
        "Show past failures, surprises, root causes and principles of a domain. Call it when a "
        "test or build fails for the first time, before you look for the cause.",
        lambda: record(
            {
                "domain": DOMAIN,
                "strategy": STRATEGY,
                "limit": schemas.undescribed(LIMIT),
                "max_tokens": number("The budget (default: 1500).", 1, 100_000_000),
                "model": schemas.undescribed(MODEL),
            },
            "domain",
        ),
        _SAME_CONTEXT,
        premortem,
    ),
    Tool(
        "search",
        "Search",
        "Find the passages of documents, code, conversations and git history that answer a "
        "question best, by words and by meaning.",
        lambda: record(
            {
                "query": text("What to look for.", minLength=1),
                "k": number("Number of results (default: 10).", 1, 100),
                **schemas.FILTER_ARGUMENTS,
            },
            "query",
        ),
        answer(
            {
                "results": objects(
                    {
                        "path": _STRING,
                        "document": _STRING,
                        "lines": _LINES,
                        "title": _STRING,
                        "author": text("Who wrote it, if it was another user."),
                        "metadata": _METADATA,
                        "text": _STRING,
                        "score": _INTEGER,
                        "likely": {"type": "boolean", "description": "Likely to help."},
                        "signals": _SIGNALS,
                        "uri": _URI,
                    }
                ),
                "state_root": text("Hash over everything that the viewer can read."),
                "exact": {"type": "boolean", "description": "Whether every vector was compared."},
                **_NOTES,
            }
        ),
        search,
    ),
    Tool(
        "explain",
        "Explain a context",
        "Explain for each candidate of a context whether it is in, at which step it was dropped, "
        "and why. With a path: why that file, or its line, is not in, and what lets it in. The "
        "other arguments are those of `assemble_context`.",
        lambda: record(
            {
                **schemas.repeated_arguments(),
                "path": text("File that is missing from the context."),
                "line": number("Only what is at this line.", 1, 1_000_000_000),
            },
            "query",
        ),
        answer(
            {
                "decisions": objects(
                    {
                        "path": _STRING,
                        "lines": _LINES,
                        "verdict": text("kept, cut, dropped or failed."),
                        "step": _STRING,
                        "reason": _STRING,
                        "tokens": _INTEGER,
                        "score": _INTEGER,
                        "signals": _SIGNALS,
                    }
                ),
                "pieces": objects(
                    {
                        "path": _STRING,
                        "lines": _LINES,
                        "inside": {"type": "boolean"},
                        "step": _STRING,
                        "reason": _STRING,
                        "lets_in": texts("Settings that together let it in."),
                        "checked": {
                            "type": "boolean",
                            "description": "Whether the request was run again with them.",
                        },
                    }
                ),
                "tokens": _INTEGER,
                "available": _INTEGER,
                **_NOTES,
            }
        ),
        explain,
    ),
)
