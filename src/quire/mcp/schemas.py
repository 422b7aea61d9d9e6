"""What may a tool be given, and what does it give back?

JSON Schema, as clients are told it. What is given is held against it before anything is done; what
is given back keeps to it, so that programs can rely on it.
"""

from __future__ import annotations

from typing import Any

from quire.errors import InputError
from quire.mcp.limits import BUDGET

Schema = dict[str, Any]

RECIPES = ("agent", "documents", "entities", "workspace", "situation")
"""Those that a client can fill."""


def text(about: str, **more: Any) -> Schema:
    """Describe a text."""
    return {"type": "string", "description": about, **more}


def number(about: str, least: int, most: int) -> Schema:
    """Describe a whole number."""
    return {"type": "integer", "description": about, "minimum": least, "maximum": most}


def texts(about: str) -> Schema:
    """Describe a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": about}


def record(properties: Schema, *required: str) -> Schema:
    """Describe an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def listed(properties: Schema) -> Schema:
    """Describe a list of objects that have all of these properties."""
    return {"type": "array", "items": record(properties, *properties)}


def told(properties: Schema) -> Schema:
    """Describe an answer that has all of these properties."""
    return record(properties, *properties)


def check(schema: Schema, given: dict[str, Any]) -> None:
    """Refuse what a tool cannot be given, and say what is wrong with it."""
    from jsonschema.exceptions import best_match
    from jsonschema.validators import Draft202012Validator

    wrong = best_match(Draft202012Validator(schema).iter_errors(given))
    if wrong is not None:
        place = ".".join(str(part) for part in wrong.absolute_path)
        said = wrong.message if len(wrong.message) < 500 else f"{wrong.message[:500]}…"
        raise InputError(f"{place or 'the arguments'}: {said}; see the tool's input schema")


# --- what is given -----------------------------------------------------------------------------

WHERE: Schema = {
    "kinds": texts("Only these kinds: document, code, conversation, commit, memory, experience."),
    "paths": texts("Only paths that match one of these globs, as in .gitignore."),
    "since": text("Only what was modified at or after this date: 2026-01-31."),
    "until": text("Only what was modified at or before this date."),
}
MODEL = text("Count tokens for this model: gpt-4o, claude-sonnet-4-5, llama-3 (default: o200k).")
LIMIT = number("At most so many items of each section.", 1, 100)
SHARE = texts("Who may read it: NAME, @GROUP, public or owner (default: as the viewer's own).")


def asking() -> Schema:
    """Describe what a context is asked for with."""
    return {
        "query": text("The task or the question.", minLength=1),
        "recipe": text(
            "agent: a page of memories, code, experiences, values and commits; documents: the "
            "texts themselves; entities: functions and sections by name; workspace: blocks; "
            "situation: the rules and contexts that hold. Default: agent; with a situation, that.",
            enum=list(RECIPES),
        ),
        "situation": {
            "type": "object",
            "description": "What is going on, for rules to be decided by: tool, params, path, "
            "intent, task, …",
        },
        "base": text("situation: the folder, file or context, from the root, whose rules hold."),
        "types": texts("Only these sections of the page: memories, code, experiences, …"),
        "limit": LIMIT,
        "max_tokens": number(
            f"The budget of the context (default: the recipe's; at most {BUDGET}: a larger one is "
            "lowered).",
            1,
            100_000_000,
        ),
        "model": MODEL,
        **WHERE,
    }


# --- what is given back ------------------------------------------------------------------------

NOTES: Schema = {
    "failed": {
        **listed({"source": {"type": "string"}, "reason": {"type": "string"}}),
        "description": "What could not be asked; the rest answered.",
    },
    "notes": texts("What there is to know beside it: what was left out, lowered or missing."),
}
LINES: Schema = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "First and last line; 0 where lines mean nothing.",
}
URI = {"type": "string", "description": "The resource that holds its text."}
CONTEXT = told(
    {
        "text": text("The context."),
        "tokens": {"type": "integer"},
        "available": {"type": "integer", "description": "What it could have had."},
        "omitted": {"type": "integer", "description": "How many pieces did not fit."},
        "sources": listed(
            {
                "path": {"type": "string"},
                "lines": LINES,
                "section": {"type": "string"},
                "tokens": {"type": "integer"},
                "uri": URI,
            }
        ),
        "receipt": text("The hash of its receipt, for `verify`."),
        "receipt_uri": text("The resource that is the receipt."),
        "context_uri": text("The resource that is the context."),
        **NOTES,
    }
)
SIGNALS: Schema = {"type": "object", "additionalProperties": {"type": "integer"}}
FOUND = told(
    {
        "results": listed(
            {
                "path": {"type": "string"},
                "lines": LINES,
                "title": {"type": "string"},
                "text": {"type": "string"},
                "score": {"type": "integer"},
                "signals": SIGNALS,
                "uri": URI,
            }
        ),
        "state_root": text("The hash over all that the viewer may read."),
        "exact": {"type": "boolean", "description": "Every vector was compared."},
        **NOTES,
    }
)
EXPLAINED = told(
    {
        "decisions": listed(
            {
                "path": {"type": "string"},
                "lines": LINES,
                "verdict": text("kept, cut, dropped or failed."),
                "step": {"type": "string"},
                "reason": {"type": "string"},
                "tokens": {"type": "integer"},
                "score": {"type": "integer"},
                "signals": SIGNALS,
            }
        ),
        "pieces": listed(
            {
                "path": {"type": "string"},
                "lines": LINES,
                "inside": {"type": "boolean"},
                "step": {"type": "string"},
                "reason": {"type": "string"},
                "lets_in": texts("Settings that together let it in."),
                "checked": {"type": "boolean", "description": "It was tried with them."},
            }
        ),
        "tokens": {"type": "integer"},
        "available": {"type": "integer"},
        **NOTES,
    }
)
MAYBE = {"type": ["string", "null"]}
MEMORY = told(
    {
        "id": {"type": "string"},
        "content": {"type": "string"},
        "category": {"type": "string"},
        "importance": {"type": "number"},
        "created": MAYBE,
        "edited": MAYBE,
        "author": MAYBE,
        "share": {"type": ["array", "null"], "items": {"type": "string"}},
        "supersedes": MAYBE,
        "superseded_by": MAYBE,
        "notes": NOTES["notes"],
    }
)
_SAID = ("hypothesis", "action", "prediction", "result", "surprise", "root_cause", "lesson")
EXPERIENCES = told(
    {
        "experiences": listed(
            {
                **{name: {"type": "string"} for name in ("id", "domain", "strategy", "goal")},
                **{name: {"type": "string"} for name in (*_SAID, "outcome", "tier", "source")},
                "iterations": {"type": "integer"},
                **dict.fromkeys(("started", "updated", "resolved", "author"), MAYBE),
                "share": {"type": ["array", "null"], "items": {"type": "string"}},
            }
        ),
        "notes": NOTES["notes"],
    }
)
VERIFIED = told(
    {
        "holds": {"type": "boolean"},
        "differences": texts("What differs, the first first; empty where it holds."),
        "notes": NOTES["notes"],
    }
)
