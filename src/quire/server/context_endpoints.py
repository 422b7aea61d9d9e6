"""Endpoints that assemble contexts, search, explain and check receipts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quire.core.json_schema import Schema, number, record, text, texts
from quire.core.serialize import to_plain
from quire.core.types.options import FILTERS
from quire.errors import InputError
from quire.recipes.session import DECIDED
from quire.server import schemas
from quire.server.endpoint import (
    WRITE,
    Call,
    Endpoint,
    NotAllowedError,
    NotFoundError,
    viewer_key,
)
from quire.server.schemas import body, filter_body, query_schema, result

MAX_LINE = 2**31


def assemble(call: Call) -> Any:
    """Assemble a context, and keep its receipt."""
    context = call.quire.assemble(call.arguments["query"], **context_options(call))
    call.keep(context)
    return context


def explain(call: Call) -> Any:
    """Assemble a context, even an empty one, with what became of each candidate."""
    context = call.quire.explain(call.arguments["query"], **context_options(call))
    call.keep(context)
    return context


def continue_session(call: Call) -> Any:
    """Add what a question needs to what the earlier turns of a session showed."""
    arguments = call.arguments
    session = call.quire.session(**call.take("fresh"), **context_options(call))
    parts = [
        (part["text"], [(each["chunk_id"], each["path"]) for each in part["sources"]])
        for part in arguments.get("parts", ())
    ]
    if parts:
        session.resume(arguments.get("number", 1), parts)
    turn = session.ask(arguments["query"])
    call.keep(turn.context)
    return {
        "number": turn.number,
        "query": turn.query,
        "kept": len(turn.parts) - 1,
        "added": turn.context,
        "tokens": turn.tokens,
        "cached_tokens": turn.cached_tokens,
        "restarted": turn.restarted,
        "notes": turn.notes,
    }


def search(call: Call) -> Any:
    """Find passages."""
    filters = call.take("k", "exact", "refresh", *FILTERS)
    return call.quire.search(call.arguments["query"], viewer=call.viewer, **filters)


def why_not(call: Call) -> Any:
    """Explain why a place is not in a context."""
    arguments = call.arguments
    pieces = call.quire.why_not(
        arguments["query"], arguments["path"], arguments.get("line"), **context_options(call)
    )
    return {"pieces": pieces}


def premortem(call: Call) -> Any:
    """Assemble what went wrong before."""
    options = call.take("limit", "budget", "hard", "model", "meaning", "shared_only")
    context = call.quire.agent.premortem(
        call.arguments["domain"], call.arguments.get("strategy"), viewer=call.viewer, **options
    )
    call.keep(context)
    return context


def verify(call: Call) -> Any:
    """Check a receipt."""
    receipt, kept_text = find_receipt(call, call.arguments["receipt"])
    options = call.take("signature", "key")
    verification = call.quire.verify(
        receipt, call.arguments.get("context", kept_text), call.viewer, **options
    )
    return {"holds": verification.holds, **to_plain(verification)}


def replay(call: Call) -> Any:
    """Run a receipt's request again."""
    receipt, _ = find_receipt(call, call.arguments["receipt"])
    options = call.take("keep_failures", "ask_models")
    if options.get("ask_models") and not call.caller.allows(WRITE):
        raise NotAllowedError(
            f"to ask models again needs a token with the scope `{WRITE}`", field="ask_models"
        )
    context, differences = call.quire.replay(receipt, call.viewer, **options)
    return {"context": context, "differences": differences}


def diff(call: Call) -> Any:
    """Compare two receipts."""
    old, _ = find_receipt(call, call.arguments["old"])
    new, _ = find_receipt(call, call.arguments["new"])
    return {"differences": call.quire.diff(old, new)}


def list_receipts(call: Call) -> Any:
    """List the receipts of a viewer."""
    return call.journal.receipts(viewer_key(call.viewer))


def get_receipt(call: Call) -> Any:
    """Fetch a receipt by its id."""
    receipt, kept_text = find_receipt(call, call.arguments["id"])
    return {"receipt": receipt, "text": kept_text}


def find_receipt(call: Call, value: Any) -> tuple[Mapping[str, Any], str | None]:
    """Return a receipt that was sent, or a kept one by its id, with the text that it is of.

    A kept one is returned only while all that it tells of may still be read.
    """
    if not isinstance(value, str):
        return value, None
    kept = call.journal.receipt(viewer_key(call.viewer), value)
    if kept is None:
        raise NotFoundError(
            f"no receipt {value!r} is kept for this viewer",
            field="receipt",
            value=value,
            hint="assemble the context again",
        )
    documents = call.quire.documents
    records = sorted(documents.records_of(kept.chunks, viewer=call.viewer))
    if len(documents.readable(records, viewer=call.viewer)) < len(records):
        raise NotFoundError(
            f"receipt {value!r} tells of sources that are gone, or that you may no longer read",
            field="receipt",
            value=value,
            hint="assemble the context again",
        )
    return kept.receipt, kept.text


def context_options(call: Call) -> Any:
    """Return the options of a context that were sent, with who reads."""
    options = call.take(*schemas.sent_options())
    if "history" in options:
        options["history"] = [_pair("history", each) for each in options["history"]]
    return {**options, "viewer": call.viewer}


def _pair(name: str, value: list[str]) -> tuple[str, str]:
    if len(value) != 2:
        raise InputError("expected a list of [role, content] pairs", field=name, value=value)
    return value[0], value[1]


_QUESTION = {"query": "Which files are skipped when a folder is indexed?", "budget": 2000}
_DIFFERENCES = texts("What differs, one sentence each.")
_OPTIONS: dict[str, Schema] = schemas.context_body()

_COUNT: Schema = {"type": "integer", "minimum": 0}
_PART = record(
    {
        "text": schemas.long_text("Its text."),
        "sources": {
            "type": "array",
            "items": record(
                {"chunk_id": text("Id of a chunk."), "path": text("Its path.")}, "chunk_id", "path"
            ),
        },
    },
    "text",
    "sources",
)

ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/assemble",
        "assemble",
        "Assemble one context for a query, within the budget, with sources and a receipt.",
        assemble,
        schemas.CONTEXT,
        body=body(_OPTIONS, "query"),
        example=_QUESTION,
    ),
    Endpoint(
        "POST",
        "/v1/explain",
        "explain",
        "Assemble, even where nothing fits; `decisions` says what became of each candidate.",
        explain,
        schemas.CONTEXT,
        body=body(_OPTIONS, "query"),
        example=_QUESTION,
    ),
    Endpoint(
        "POST",
        "/v1/session",
        "continue_session",
        "Add what a question needs to what earlier turns showed, which stays as it is.",
        continue_session,
        result(
            number=_COUNT,
            query={"type": "string"},
            kept={**_COUNT, "description": "How many of the parts still hold."},
            added=schemas.CONTEXT,
            tokens={**_COUNT, "description": "Of the whole text: kept parts, and the added one."},
            cached_tokens=_COUNT,
            restarted={"type": "string", "description": "Why parts were left out."},
            notes=schemas.NOTES,
        ),
        body=body(
            {
                **{name: each for name, each in _OPTIONS.items() if name not in DECIDED},
                "fresh": number("The most tokens that a turn adds.", 1, schemas.MAX_INTEGER),
                "number": number("Number of the turn before.", 1, schemas.MAX_INTEGER),
                "parts": {
                    "type": "array",
                    "items": _PART,
                    "maxItems": 1000,
                    "description": "What earlier turns showed, the oldest first; a line break "
                    "stands between two parts.",
                },
            },
            "query",
        ),
        example={"query": "Which files are skipped?", "budget": 4000},
    ),
    Endpoint(
        "POST",
        "/v1/search",
        "search",
        "Find the chunks that answer a query best, by its words and by its meaning.",
        search,
        schemas.SEARCH,
        body=body(
            {
                "query": query_schema(),
                "k": number("Number of results (default: 10).", 1, schemas.MAX_RESULTS),
                "exact": schemas.option_schema("exact"),
                "refresh": schemas.option_schema("refresh"),
                **filter_body(),
            },
            "query",
        ),
        example={"query": "Which files are skipped?", "k": 3},
    ),
    Endpoint(
        "POST",
        "/v1/why-not",
        "why_not",
        "Explain for each chunk at a path why it is not in a context, and what lets it in.",
        why_not,
        result(pieces={"type": "array", "items": schemas.WHY_NOT}),
        body=body(
            {
                **_OPTIONS,
                "path": text("Path of the record.", maxLength=4096),
                "line": {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_LINE},
            },
            "query",
            "path",
        ),
        example={**_QUESTION, "path": "README.md"},
    ),
    Endpoint(
        "POST",
        "/v1/premortem",
        "premortem",
        "Assemble past failures, surprises, root causes and principles of a domain.",
        premortem,
        schemas.CONTEXT,
        body=body(
            {
                "domain": text("The domain, such as debugging or testing.", maxLength=100),
                "strategy": {
                    "type": ["string", "null"],
                    "maxLength": 100,
                    "description": "The strategy, such as small-steps.",
                },
                "meaning": {"type": "boolean", "description": "false: search by words alone."},
                **{
                    name: schemas.option_schema(name)
                    for name in ("limit", "budget", "hard", "model", "shared_only")
                },
            },
            "domain",
        ),
        example={"domain": "debugging"},
    ),
    Endpoint(
        "POST",
        "/v1/verify",
        "verify",
        "Check a receipt against its context, the store and its signature.",
        verify,
        schemas.VERIFICATION,
        tag="receipts",
        body=body(
            {
                "receipt": schemas.RECEIPT,
                "context": schemas.long_text("Text that it is of (default: the kept one)."),
                "signature": {"type": "object", "description": "Signature that came with it."},
                "key": text("Public key that must have signed it, in hexadecimal digits."),
            },
            "receipt",
        ),
    ),
    Endpoint(
        "POST",
        "/v1/replay",
        "replay",
        "Run a receipt's request again, and tell what differs.",
        replay,
        result(context=schemas.CONTEXT, differences=_DIFFERENCES),
        tag="receipts",
        body=body(
            {
                "receipt": schemas.RECEIPT,
                "keep_failures": {
                    "type": "boolean",
                    "description": "Let the sources fail again that failed then.",
                },
                "ask_models": {
                    "type": "boolean",
                    "description": "Ask the judge and the writer again as well.",
                },
            },
            "receipt",
        ),
    ),
    Endpoint(
        "POST",
        "/v1/diff",
        "diff",
        "Describe what differs between two receipts.",
        diff,
        result(differences=_DIFFERENCES),
        tag="receipts",
        body=body({"old": schemas.RECEIPT, "new": schemas.RECEIPT}, "old", "new"),
    ),
    Endpoint(
        "GET",
        "/v1/receipts",
        "list_receipts",
        "List the receipts that are kept for the viewer, the newest first.",
        list_receipts,
        schemas.page_of(
            result(
                id={"type": "string"},
                at={"type": "integer"},
                query={"type": ["string", "null"]},
                recipe={"type": ["string", "null"]},
                tokens={"type": ["integer", "null"]},
                available={"type": ["integer", "null"]},
            )
        ),
        tag="receipts",
        hashed=True,
        listed=True,
    ),
    Endpoint(
        "GET",
        "/v1/receipts/{id}",
        "get_receipt",
        "Fetch a receipt of the viewer, and the text that it is of.",
        get_receipt,
        result(receipt={"type": "object"}, text={"type": "string"}),
        tag="receipts",
        hashed=True,
    ),
)
