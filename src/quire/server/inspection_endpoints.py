"""Endpoints of the inspector: who asks, a context with its picture, other budgets, kept receipts.

Everything that the inspector shows beside these comes from the endpoints that anyone uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from quire.core.json_schema import Schema, number
from quire.errors import InputError, QuireError
from quire.pipeline import recipe as recipes
from quire.pipeline.picture import Picture, draw
from quire.pipeline.spans import Span, find_spans
from quire.recipes.inspection import MAX_BUDGETS
from quire.server import schemas
from quire.server.context_endpoints import context_options, find_receipt
from quire.server.endpoint import ADMIN, WRITE, Call, Endpoint
from quire.server.schemas import body, result

MAX_BUDGET = 10_000_000


def who_am_i(call: Call) -> Any:
    """Tell who reads with the token, and what it allows."""
    caller = call.caller
    return {
        "viewer": None if caller.viewer.owner else caller.viewer.name,
        "scope": caller.scope,
        "may_chat": caller.chat,
        "may_write": caller.allows(WRITE),
        "may_choose_viewer": caller.viewer.owner and caller.allows(ADMIN),
        "may_index": caller.viewer.owner and caller.allows(ADMIN),
        "recipes": [*recipes.shipped()],
    }


def inspect(call: Call) -> Any:
    """Assemble a context, and draw it."""
    query, options = call.arguments["query"], context_options(call)
    context = call.quire.explain(query, **options)
    call.keep(context)
    # A page may say in a few words what a piece is a part of.
    texts = [f"{chunk.text}\n{chunk.summary}".rstrip("\n") for chunk in context.chunks]
    return {
        **_drawn(draw(context.receipt), context.text, texts),
        "notes": context.notes,
        "times": call.quire.inspection.times(query, **options),
    }


def sweep(call: Call) -> Any:
    """Tell which pieces a context would hold with other budgets."""
    options = {
        name: value for name, value in context_options(call).items() if name != "allow_empty"
    }
    budgets = call.arguments["budgets"]
    return {"steps": call.quire.inspection.sweep(call.arguments["query"], budgets, **options)}


def times(call: Call) -> Any:
    """Tell how long each step of a request takes."""
    return {"times": call.quire.inspection.times(call.arguments["query"], **context_options(call))}


def draw_receipt(call: Call) -> Any:
    """Draw a receipt that is kept, or that was sent."""
    receipt, text = find_receipt(call, call.arguments["receipt"])
    picture = draw(receipt)
    if picture.unlisted and text is not None:
        # A kept one: what was left out is known again once its request has run again.
        with suppress(QuireError):  # then the picture says that it is not known
            context, differences = call.quire.replay(receipt, call.viewer)
            if not differences:
                picture = draw(context.receipt)
    texts = [_text(call, piece.entry.chunk_id) for piece in picture.pieces]
    return {**_drawn(picture, text or "", texts), "notes": [], "times": []}


def _drawn(picture: Picture, text: str, texts: Sequence[str]) -> dict[str, Any]:
    spans = find_spans(text, texts) if text else ()
    return {
        "picture": picture,
        "receipt": dict(picture.roots)["receipt"],
        "spans": [*spans],
    }


def _text(call: Call, chunk_id: str) -> str:
    """Return the text of a piece, if it is still there and the viewer may read it."""
    with suppress(InputError):
        return call.quire.documents.text(chunk_id, viewer=call.viewer)
    return ""


_STRING: Schema = {"type": "string"}
_BOOLEAN: Schema = {"type": "boolean"}
_TIMES: Schema = {"type": "array", "items": result(step=_STRING, ms={"type": "number"})}
_DRAWN: Schema = result(
    picture=schemas.of_type(Picture),
    receipt={"type": "string", "description": "The id of the receipt."},
    spans={"type": "array", "items": schemas.of_type(Span)},
    notes=schemas.NOTES,
    times=_TIMES,
)
_QUESTION = {"query": "Which files are skipped when a folder is indexed?"}

ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/me",
        "who_am_i",
        "Tell who reads with the token, what it allows, and which recipes there are.",
        who_am_i,
        result(
            viewer={"type": ["string", "null"], "description": "null: the owner."},
            scope=_STRING,
            may_chat=_BOOLEAN,
            may_write=_BOOLEAN,
            may_choose_viewer=_BOOLEAN,
            may_index=_BOOLEAN,
            recipes={"type": "array", "items": _STRING},
        ),
        tag="inspection",
    ),
    Endpoint(
        "POST",
        "/v1/inspect",
        "inspect",
        "Assemble a context and draw it: budget, shares, pieces, candidates, time of each step.",
        inspect,
        _DRAWN,
        tag="inspection",
        body=body(schemas.context_body(), "query"),
        example={**_QUESTION, "budget": 2000},
    ),
    Endpoint(
        "POST",
        "/v1/sweep",
        "sweep",
        "Tell which pieces a context would hold with each of several budgets.",
        sweep,
        result(steps={"type": "array", "items": {"type": "object"}}),
        tag="inspection",
        body=body(
            {
                **{name: each for name, each in schemas.context_body().items() if name != "budget"},
                "budgets": {
                    "type": "array",
                    "items": number("A budget in tokens.", 1, MAX_BUDGET),
                    "minItems": 1,
                    "maxItems": MAX_BUDGETS,
                },
            },
            "query",
            "budgets",
        ),
        example={**_QUESTION, "budgets": [1000, 2000, 4000]},
    ),
    Endpoint(
        "POST",
        "/v1/times",
        "times",
        "Run a request without a cache of contexts, and tell how long each step took.",
        times,
        result(times=_TIMES),
        tag="inspection",
        body=body(schemas.context_body(), "query"),
        example={**_QUESTION, "budget": 2000},
    ),
    Endpoint(
        "POST",
        "/v1/picture",
        "draw_receipt",
        "Draw a receipt: budget, shares, pieces, candidates.",
        draw_receipt,
        _DRAWN,
        tag="inspection",
        body=body({"receipt": schemas.RECEIPT}, "receipt"),
    ),
)
