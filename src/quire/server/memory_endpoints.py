"""Endpoints of memories, experiences, values (principles) and feedback."""

from __future__ import annotations

from typing import Any

from quire.core.json_schema import Schema, text, texts
from quire.core.types import ImportResult
from quire.server import schemas
from quire.server.context_endpoints import find_receipt
from quire.server.endpoint import WRITE, Call, Endpoint
from quire.server.schemas import ALLOW_SECRET, SHARE, body, long_text, page_of, result, written

_TEXTS = ("hypothesis", "action", "prediction")
_ENDED = ("result", "surprise", "root_cause", "lesson")


def list_memories(call: Call) -> Any:
    """List memories."""
    return call.quire.memories.list(
        **call.take("category", "history", "shared_only"), viewer=call.viewer
    )


def get_memory(call: Call) -> Any:
    """Fetch a memory."""
    return call.quire.memories.get(call.arguments["id"], viewer=call.viewer)


def add_memory(call: Call) -> Any:
    """Add a memory."""
    options = call.take("category", "importance", "supersedes", "share", "allow_secret")
    return call.quire.memories.add(
        call.arguments["content"], **options, viewer=call.viewer, at=call.at
    )


def edit_memory(call: Call) -> Any:
    """Correct a memory."""
    options = call.take("content", "category", "importance", "allow_secret")
    return call.quire.memories.edit(call.arguments["id"], **options, viewer=call.viewer, at=call.at)


def forget_memory(call: Call) -> Any:
    """Delete a memory."""
    return call.quire.memories.forget(call.arguments["id"], viewer=call.viewer)


def export_memories(call: Call) -> Any:
    """List all memories as they are imported."""
    return call.quire.memories.export(viewer=call.viewer)


def import_memories(call: Call) -> Any:
    """Import memories."""
    options = call.take("share", "allow_secret")
    return call.quire.memories.import_lines(
        call.arguments["lines"], **options, viewer=call.viewer, at=call.at
    )


def list_experiences(call: Call) -> Any:
    """List experiences."""
    options = call.take("domain", "strategy", "outcome", "shared_only")
    return call.quire.experiences.list(**options, viewer=call.viewer)


def get_experience(call: Call) -> Any:
    """Fetch an experience."""
    name, options = call.arguments["id"], call.take("shared_only")
    return call.quire.experiences.get(name, **options, viewer=call.viewer)


def start_experience(call: Call) -> Any:
    """Start an experience."""
    options = call.take("domain", "strategy", *_TEXTS, "share", "allow_secret")
    return call.quire.experiences.start(
        call.arguments["goal"], **options, viewer=call.viewer, at=call.at
    )


def update_experience(call: Call) -> Any:
    """Continue an experience."""
    options = call.take("goal", "domain", "strategy", *_TEXTS, "allow_secret")
    return call.quire.experiences.update(
        call.arguments["id"], **options, viewer=call.viewer, at=call.at
    )


def resolve_experience(call: Call) -> Any:
    """End an experience."""
    return call.quire.experiences.resolve(
        call.arguments["id"],
        call.arguments["outcome"],
        **call.take(*_ENDED, "allow_secret"),
        viewer=call.viewer,
        at=call.at,
    )


def list_values(call: Call) -> Any:
    """List principles."""
    return call.quire.principles.list(**call.take("axis"), viewer=call.viewer)


def refresh_values(call: Call) -> Any:
    """Derive all principles again."""
    refreshed = call.quire.principles.refresh(viewer=call.viewer)
    return {"values": refreshed.value, "notes": refreshed.notes}


def list_feedback(call: Call) -> Any:
    """List feedback."""
    return call.quire.feedback.list(viewer=call.viewer)


def add_feedback(call: Call) -> Any:
    """Rate the pieces of a context."""
    receipt, _ = find_receipt(call, call.arguments["receipt"])
    options = call.take("useful", "useless", "share")
    return call.quire.feedback.add(receipt, **options, viewer=call.viewer, at=call.at)


def forget_feedback(call: Call) -> Any:
    """Delete feedback."""
    call.quire.feedback.forget(call.arguments["id"], viewer=call.viewer)
    return {"id": call.arguments["id"]}


_IMPORTANCE: Schema = {
    "type": "number",
    "minimum": 0,
    "maximum": 1,
    "description": "From 0 to 1 (default: 0.5).",
}
_NAME: Schema = {"type": "string", "maxLength": 100}
_CATEGORY = {**_NAME, "description": "fact (default), preference, decision, error or your own."}
_DOMAIN = {**_NAME, "description": "The domain, such as debugging or testing."}
_STRATEGY = {**_NAME, "description": "The strategy, such as small-steps."}
_ID = result(id={"type": "string"})
_ATTEMPT = {
    "hypothesis": long_text("What you believe."),
    "action": long_text("What you do to find out."),
    "prediction": long_text("What you expect to see if it is true."),
}

ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/memories",
        "list_memories",
        "List the current memories, oldest first.",
        list_memories,
        page_of(schemas.MEMORY),
        parameters={
            "category": _CATEGORY,
            "history": {"type": "boolean", "description": "Include superseded ones."},
            "shared_only": schemas.SHARED_ONLY,
        },
        tag="memories",
        tagged=True,
        listed=True,
    ),
    Endpoint(
        "POST",
        "/v1/memories",
        "add_memory",
        "Add a memory; the one that it supersedes is no longer current.",
        add_memory,
        written(schemas.MEMORY),
        scope=WRITE,
        tag="memories",
        status=201,
        body=body(
            {
                "content": long_text("What to remember.", minLength=1),
                "category": _CATEGORY,
                "importance": _IMPORTANCE,
                "supersedes": text("Id of the memory that this one replaces.", maxLength=200),
                "share": SHARE,
                "allow_secret": ALLOW_SECRET,
            },
            "content",
        ),
        example={"content": "Releases are made on Thursdays.", "category": "decision"},
    ),
    Endpoint(
        "GET",
        "/v1/memories/export",
        "export_memories",
        "List all memories, superseded ones included, as they can be imported.",
        export_memories,
        page_of(schemas.MEMORY),
        tag="memories",
        tagged=True,
        listed=True,
    ),
    Endpoint(
        "POST",
        "/v1/memories/import",
        "import_memories",
        "Import memories as they are exported, as a list or one on a line; all or none.",
        import_memories,
        schemas.of_type(ImportResult),
        scope=WRITE,
        tag="memories",
        body={
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"content": long_text("What to remember.")},
                "required": ["content"],
            },
        },
        lines=True,
        parameters={"share": SHARE, "allow_secret": ALLOW_SECRET},
        example=[{"content": "Releases are made on Thursdays.", "category": "decision"}],
    ),
    Endpoint(
        "GET",
        "/v1/memories/{id}",
        "get_memory",
        "Fetch a memory by its id, or by an unambiguous beginning of it.",
        get_memory,
        schemas.MEMORY,
        tag="memories",
        tagged=True,
    ),
    Endpoint(
        "PATCH",
        "/v1/memories/{id}",
        "edit_memory",
        "Correct a memory; it keeps its id and its creation time.",
        edit_memory,
        written(schemas.MEMORY),
        scope=WRITE,
        tag="memories",
        body=body(
            {
                "content": long_text("What to remember.", minLength=1),
                "category": _CATEGORY,
                "importance": _IMPORTANCE,
                "allow_secret": ALLOW_SECRET,
            }
        ),
        example={"importance": 0.9},
    ),
    Endpoint(
        "DELETE",
        "/v1/memories/{id}",
        "forget_memory",
        "Delete a memory; an older one that only it superseded is current again.",
        forget_memory,
        written(schemas.MEMORY),
        scope=WRITE,
        tag="memories",
    ),
    Endpoint(
        "GET",
        "/v1/experiences",
        "list_experiences",
        "List experiences, oldest first.",
        list_experiences,
        page_of(schemas.EXPERIENCE),
        parameters={
            "domain": _DOMAIN,
            "strategy": _STRATEGY,
            "outcome": {**_NAME, "description": "open, confirmed, falsified or abandoned."},
            "shared_only": schemas.SHARED_ONLY,
        },
        tag="experiences",
        tagged=True,
        listed=True,
    ),
    Endpoint(
        "POST",
        "/v1/experiences",
        "start_experience",
        "Start recording an attempt to reach a goal.",
        start_experience,
        written(schemas.EXPERIENCE),
        scope=WRITE,
        tag="experiences",
        status=201,
        body=body(
            {
                "goal": long_text("What you want to reach.", minLength=1),
                "domain": _DOMAIN,
                "strategy": _STRATEGY,
                **_ATTEMPT,
                "share": SHARE,
                "allow_secret": ALLOW_SECRET,
            },
            "goal",
            "domain",
        ),
        example={"goal": "Find why the build is slow", "domain": "performance"},
    ),
    Endpoint(
        "GET",
        "/v1/experiences/{id}",
        "get_experience",
        "Fetch an experience by its id, or by an unambiguous beginning of it.",
        get_experience,
        schemas.EXPERIENCE,
        parameters={"shared_only": schemas.SHARED_ONLY},
        tag="experiences",
        tagged=True,
    ),
    Endpoint(
        "PATCH",
        "/v1/experiences/{id}",
        "update_experience",
        "Continue an open experience; a new hypothesis, action or prediction is an iteration.",
        update_experience,
        written(schemas.EXPERIENCE),
        scope=WRITE,
        tag="experiences",
        body=body(
            {
                "goal": long_text("What you want to reach."),
                "domain": _DOMAIN,
                "strategy": _STRATEGY,
                **_ATTEMPT,
                "allow_secret": ALLOW_SECRET,
            }
        ),
        example={"hypothesis": "The cache is cold"},
    ),
    Endpoint(
        "POST",
        "/v1/experiences/{id}/resolve",
        "resolve_experience",
        "End an open experience as confirmed, falsified or abandoned.",
        resolve_experience,
        written(schemas.EXPERIENCE),
        scope=WRITE,
        tag="experiences",
        body=body(
            {
                "outcome": {**_NAME, "description": "confirmed, falsified or abandoned."},
                "result": long_text("What you saw."),
                "surprise": long_text("What was unexpected."),
                "root_cause": long_text("Why the hypothesis failed."),
                "lesson": long_text("What to do next time."),
                "allow_secret": ALLOW_SECRET,
            },
            "outcome",
        ),
        example={"outcome": "confirmed", "lesson": "Warm the cache first"},
    ),
    Endpoint(
        "GET",
        "/v1/values",
        "list_values",
        "List the values (principles) as last refreshed, by axis, the largest first.",
        list_values,
        page_of(schemas.PRINCIPLE),
        parameters={"axis": {**_NAME, "description": "full, strategy, surprise or root_cause."}},
        tag="experiences",
        tagged=True,
        listed=True,
    ),
    Endpoint(
        "POST",
        "/v1/values/refresh",
        "refresh_values",
        "Derive all values again from the resolved experiences that the viewer may read.",
        refresh_values,
        result(values={"type": "array", "items": schemas.PRINCIPLE}, notes=schemas.NOTES),
        scope=WRITE,
        tag="experiences",
        body=body({}),
        example={},
    ),
    Endpoint(
        "GET",
        "/v1/feedback",
        "list_feedback",
        "List the feedback that the viewer may read, oldest first.",
        list_feedback,
        page_of(schemas.FEEDBACK),
        tag="feedback",
        tagged=True,
        listed=True,
    ),
    Endpoint(
        "POST",
        "/v1/feedback",
        "add_feedback",
        "Record which pieces of a receipt's context helped, and which did not.",
        add_feedback,
        written(schemas.FEEDBACK),
        scope=WRITE,
        tag="feedback",
        status=201,
        body=body(
            {
                "receipt": schemas.RECEIPT,
                "useful": texts("Chunks that helped, by id or path."),
                "useless": texts("Chunks that did not help, by id or path."),
                "share": SHARE,
            },
            "receipt",
        ),
    ),
    Endpoint(
        "DELETE",
        "/v1/feedback/{id}",
        "forget_feedback",
        "Delete feedback.",
        forget_feedback,
        _ID,
        scope=WRITE,
        tag="feedback",
    ),
)
