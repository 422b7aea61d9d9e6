"""Endpoints of what the store holds: status, index jobs, blocks and rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from quire.core.json_schema import Schema, number, text, texts
from quire.core.serialize import all_members
from quire.core.types import ImportResult, Roots
from quire.core.types.blocks import TYPES
from quire.pipeline.codemap import CodeMap
from quire.server import schemas
from quire.server.endpoint import ADMIN, WRITE, Call, Endpoint, NotFoundError
from quire.server.schemas import ALLOW_SECRET, body, long_text, page_of, result, written
from quire.workspace import jsonl

MAX_PATHS = 256


def status(call: Call) -> Any:
    """Tell what the store holds, as far as the viewer may know."""
    return call.quire.status(call.viewer)


def roots(call: Call) -> Any:
    """Return the hashes of all that the viewer may read."""
    return call.quire.roots(call.viewer)


def notes(call: Call) -> Any:
    """Tell what whoever runs the service should know."""
    return {"notes": call.quire.notes}


def map_code(call: Call) -> Any:
    """Map the definitions below some paths."""
    paths = [_place(call, path) for path in call.arguments.get("path", ())]
    return call.quire.map(paths, **call.take("budget", "model"), viewer=call.viewer)


# --- index jobs ----------------------------------------------------------------------------------


def submit_job(call: Call) -> Any:
    """Start to index."""
    options = call.take("embed", "reembed", "history")
    return call.jobs.submit(call.arguments.get("paths", ()), options, call.at)


def list_jobs(call: Call) -> Any:
    """List the index jobs."""
    return call.jobs.list()


def get_job(call: Call) -> Any:
    """Tell the progress of a job."""
    return call.jobs.get(call.arguments["id"])


def cancel_job(call: Call) -> Any:
    """Cancel a job."""
    return call.jobs.cancel(call.arguments["id"])


# --- blocks --------------------------------------------------------------------------------------


def list_blocks(call: Call) -> Any:
    """List blocks in reading order."""
    listed = call.quire.blocks.tree(
        call.arguments.get("under"), **call.take("levels"), viewer=call.viewer
    )
    return [{"depth": depth, "block": block} for depth, block in listed]


def put_blocks(call: Call) -> Any:
    """Add blocks, or replace those with the same ids."""
    lines = "\n".join(json.dumps(block) for block in call.arguments["blocks"])
    stored = call.quire.blocks.put(
        jsonl.parse(lines), **call.take("allow_secret"), viewer=call.viewer, at=call.at
    )
    return {"blocks": stored.value, "notes": stored.notes}


def get_block(call: Call) -> Any:
    """Fetch a block."""
    return call.quire.blocks.get(call.arguments["id"], viewer=call.viewer)


def edit_block(call: Call) -> Any:
    """Change a block."""
    options = call.take("text", "properties", "relations", "links", "mentions", "allow_secret")
    if "properties" in options:  # lists of texts are tuples
        options["properties"] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in options["properties"].items()
        }
    return call.quire.blocks.edit(call.arguments["id"], **options, viewer=call.viewer, at=call.at)


def move_block(call: Call) -> Any:
    """Move a block."""
    return call.quire.blocks.move(
        call.arguments["id"],
        call.arguments["parent"],
        **call.take("position"),
        viewer=call.viewer,
        at=call.at,
    )


def share_block(call: Call) -> Any:
    """Set who may read a block."""
    return call.quire.blocks.share(
        call.arguments["id"], call.arguments["access"], viewer=call.viewer, at=call.at
    )


def view_block(call: Call) -> Any:
    """Fetch a block, and record that the viewer saw it."""
    return call.quire.blocks.view(call.arguments["id"], viewer=call.viewer, at=call.at)


def export_blocks(call: Call) -> Any:
    """List blocks as they are imported."""
    return call.quire.blocks.export(call.arguments.get("under"), viewer=call.viewer)


def import_blocks(call: Call) -> Any:
    """Import blocks."""
    return call.quire.blocks.import_lines(
        call.arguments["lines"], **call.take("allow_secret"), viewer=call.viewer, at=call.at
    )


def delete_block(call: Call) -> Any:
    """Delete a block with its children."""
    return call.quire.blocks.delete(call.arguments["id"], viewer=call.viewer)


# --- rules ---------------------------------------------------------------------------------------


def situate(call: Call) -> Any:
    """Assemble the rules and contexts that hold in a situation."""
    context = call.quire.rules.situate(
        call.arguments["situation"], **call.take("base", "budget", "model"), viewer=call.viewer
    )
    call.keep(context)
    return context


def list_rules(call: Call) -> Any:
    """List what applies at a place."""
    return _told(call, call.quire.rules.list(_place(call, call.arguments.get("path", ""))))


def check_rules(call: Call) -> Any:
    """Check the context files below some paths, or of the whole project."""
    paths = [_place(call, path) for path in call.arguments.get("path", ())]
    return _told(call, call.quire.rules.check(paths))


def test_rules(call: Call) -> Any:
    """Evaluate which rules apply at a place."""
    place = _place(call, call.arguments.get("path", ""))
    return _told(call, call.quire.rules.test(call.arguments["situation"], place))


def _told(call: Call, found: Any) -> Any:
    return all_members(found) if call.arguments.get("whole") else found


def _place(call: Call, path: str) -> Path:
    """Return a place of the project on disk."""
    parts = path.split("/")
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise NotFoundError(
            f"{path!r} is not a path in the project",
            field="path",
            value=path,
            hint="name a file or folder from the project's root",
        )
    return call.quire.root() / path


_WHOLE: Schema = {"type": "boolean", "description": "All fields, as the Python client reads them."}
_PATH = text("Path from the project's root.", maxLength=4096)
_PATHS = {**texts("Paths from the project's root; none: all of it."), "maxItems": MAX_PATHS}
_SITUATION: Schema = {
    "type": "object",
    "description": "What is going on: tool, params, path, intent, task and more.",
}
_JOB = result(
    id={"type": "string"},
    state={"type": "string", "enum": ["running", "finished", "failed", "cancelled"]},
    submitted={"type": "integer"},
    cancelling={"type": "boolean"},
    request={"type": "object"},
    progress={"type": "object"},
    result={"type": ["object", "null"]},
    error={"type": ["string", "null"]},
)
_PROPERTY: Schema = {
    "anyOf": [
        {"type": ["string", "number", "boolean", "null"]},
        {"type": "array", "items": {"type": "string"}},
    ]
}
_PROPERTIES: Schema = {"type": "object", "additionalProperties": _PROPERTY}
_RELATIONS: Schema = {
    "type": "object",
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
}
_TIME: Schema = {"type": ["string", "integer", "null"]}
_POSITION = number("Place among its siblings.", -(2**31), 2**31)
_BLOCK: Schema = {
    "type": "object",
    "properties": {
        "id": text("Id; without one it gets one."),
        "type": text("Its type.", enum=list(TYPES)),
        "text": long_text("Its text, or the title of a page."),
        "parent": {"type": ["string", "null"], "description": "Id of the block that contains it."},
        "position": _POSITION,
        "properties": _PROPERTIES,
        "relations": _RELATIONS,
        "links": texts("Ids of records that it links to."),
        "mentions": texts("People or blocks that it mentions."),
        "created": _TIME,
        "edited": _TIME,
        "author": {"type": ["string", "null"]},
        "access": {"type": ["array", "null"], "items": {"type": "string"}},
        "source": {"type": "string"},
        "file": text("The file that it was imported from."),
        "line": {"type": "integer", "minimum": 0},
    },
    "required": ["type"],
    "additionalProperties": False,
}

ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/status",
        "status",
        "Tell what the store holds, as far as the viewer may know.",
        status,
        schemas.STATUS,
        tag="store",
        hashed=True,
    ),
    Endpoint(
        "GET",
        "/v1/roots",
        "roots",
        "Return the hashes of everything that the viewer may read, as the store is now.",
        roots,
        schemas.of_type(Roots),
        tag="store",
        tagged=True,
    ),
    Endpoint(
        "GET",
        "/v1/notes",
        "notes",
        "Tell what whoever runs the service should know of its settings and store.",
        notes,
        result(notes=schemas.NOTES),
        owner=True,
        tag="store",
    ),
    Endpoint(
        "GET",
        "/v1/map",
        "map_code",
        "Map the most used definitions below some paths, or of the whole project.",
        map_code,
        schemas.of_type(CodeMap),
        parameters={
            "path": _PATHS,
            "budget": number("Tokens of the map.", 1, schemas.MAX_INTEGER),
            "model": text("Model to count tokens for.", maxLength=200),
        },
        tag="store",
        tagged=True,
    ),
    Endpoint(
        "POST",
        "/v1/index",
        "submit_job",
        "Start to index files and folders of the project, or all of it.",
        submit_job,
        _JOB,
        scope=ADMIN,
        owner=True,
        tag="index",
        status=202,
        body=body(
            {
                "paths": {
                    **texts("Files and folders from the project's root; none: all of it."),
                    "maxItems": MAX_PATHS,
                },
                "embed": {"type": "boolean", "description": "false: index words alone."},
                "reembed": {
                    "type": "boolean",
                    "description": "Make all vectors again; the old ones answer until then.",
                },
                "history": number("How many git commits to keep; -1: all.", -1, 10**9),
            }
        ),
        example={"paths": [], "embed": False},
    ),
    Endpoint(
        "GET",
        "/v1/index",
        "list_jobs",
        "List the index jobs, the newest first.",
        list_jobs,
        page_of(_JOB),
        scope=ADMIN,
        owner=True,
        tag="index",
        listed=True,
    ),
    Endpoint(
        "GET",
        "/v1/index/{id}",
        "get_job",
        "Tell the state and the progress of a job.",
        get_job,
        _JOB,
        scope=ADMIN,
        owner=True,
        tag="index",
    ),
    Endpoint(
        "DELETE",
        "/v1/index/{id}",
        "cancel_job",
        "Cancel a job; what it has committed stays.",
        cancel_job,
        _JOB,
        scope=ADMIN,
        owner=True,
        tag="index",
    ),
    Endpoint(
        "GET",
        "/v1/blocks",
        "list_blocks",
        "List blocks in reading order, each with its depth.",
        list_blocks,
        page_of(result(depth={"type": "integer"}, block=schemas.BLOCK)),
        parameters={
            "under": text("Id of the block to begin at.", maxLength=200),
            "levels": number("How many levels.", 1, 1000),
        },
        tag="blocks",
        tagged=True,
        listed=True,
    ),
    Endpoint(
        "POST",
        "/v1/blocks",
        "put_blocks",
        "Add blocks, or replace those with the same ids; all of them, or none.",
        put_blocks,
        result(blocks={"type": "array", "items": schemas.BLOCK}, notes=schemas.NOTES),
        scope=WRITE,
        tag="blocks",
        status=201,
        body=body(
            {
                "blocks": {"type": "array", "items": _BLOCK, "minItems": 1, "maxItems": 1000},
                "allow_secret": ALLOW_SECRET,
            },
            "blocks",
        ),
        example={"blocks": [{"type": "page", "text": "Release notes"}]},
    ),
    Endpoint(
        "GET",
        "/v1/blocks/export",
        "export_blocks",
        "List blocks, each after its parent, as they can be imported.",
        export_blocks,
        page_of(schemas.BLOCK),
        parameters={"under": text("Id of the block to begin at.", maxLength=200)},
        tag="blocks",
        tagged=True,
        listed=True,
    ),
    Endpoint(
        "POST",
        "/v1/blocks/import",
        "import_blocks",
        "Import blocks as they are exported, as a list or one on a line; all or none.",
        import_blocks,
        schemas.of_type(ImportResult),
        scope=WRITE,
        tag="blocks",
        body={"type": "array", "items": _BLOCK},
        lines=True,
        parameters={"allow_secret": ALLOW_SECRET},
        example=[{"type": "page", "text": "Release notes"}],
    ),
    Endpoint(
        "POST",
        "/v1/blocks/{id}/view",
        "view_block",
        "Fetch a block, and record that the viewer saw it.",
        view_block,
        schemas.BLOCK,
        scope=WRITE,
        tag="blocks",
        body=body({}),
        example={},
    ),
    Endpoint(
        "GET",
        "/v1/blocks/{id}",
        "get_block",
        "Fetch a block by its id.",
        get_block,
        schemas.BLOCK,
        tag="blocks",
        tagged=True,
    ),
    Endpoint(
        "PATCH",
        "/v1/blocks/{id}",
        "edit_block",
        "Change a block; properties and relations that are not named stay (null, []: removed).",
        edit_block,
        written(schemas.BLOCK),
        scope=WRITE,
        tag="blocks",
        body=body(
            {
                "text": long_text("Its text."),
                "properties": _PROPERTIES,
                "relations": _RELATIONS,
                "links": texts("Ids of records that it links to."),
                "mentions": texts("People or blocks that it mentions."),
                "allow_secret": ALLOW_SECRET,
            }
        ),
        example={"text": "Release notes of May"},
    ),
    Endpoint(
        "POST",
        "/v1/blocks/{id}/move",
        "move_block",
        "Move a block and its children under another block, or to the root.",
        move_block,
        written(schemas.BLOCK),
        scope=WRITE,
        tag="blocks",
        body=body(
            {"parent": {"type": ["string", "null"]}, "position": _POSITION},
            "parent",
        ),
        example={"parent": None},
    ),
    Endpoint(
        "POST",
        "/v1/blocks/{id}/share",
        "share_block",
        "Set who may read a block and its children; null: inherited from its parent.",
        share_block,
        written(schemas.BLOCK),
        scope=WRITE,
        tag="blocks",
        body=body(
            {"access": {"type": ["array", "null"], "items": {"type": "string"}}},
            "access",
        ),
        example={"access": ["public"]},
    ),
    Endpoint(
        "DELETE",
        "/v1/blocks/{id}",
        "delete_block",
        "Delete a block with those children that the viewer may read.",
        delete_block,
        schemas.REMOVED_BLOCKS,
        scope=WRITE,
        tag="blocks",
    ),
    Endpoint(
        "POST",
        "/v1/rules/situate",
        "situate",
        "Assemble the contexts and rules that hold in a situation.",
        situate,
        schemas.CONTEXT,
        tag="rules",
        body=body(
            {
                "situation": _SITUATION,
                "base": schemas.option_schema("base"),
                "budget": schemas.option_schema("budget"),
                "model": schemas.option_schema("model"),
            },
            "situation",
        ),
        example={"situation": {"tool": "edit", "path": "README.md"}},
    ),
    Endpoint(
        "GET",
        "/v1/rules",
        "list_rules",
        "List what applies at a path, and the file that each part comes from.",
        list_rules,
        {"type": "object"},
        owner=True,
        parameters={"path": _PATH, "whole": _WHOLE},
        tag="rules",
    ),
    Endpoint(
        "GET",
        "/v1/rules/check",
        "check_rules",
        "Check the context files below some paths, or of the whole project.",
        check_rules,
        {"type": "object"},
        owner=True,
        parameters={"path": _PATHS, "whole": _WHOLE},
        tag="rules",
    ),
    Endpoint(
        "POST",
        "/v1/rules/test",
        "test_rules",
        "Evaluate which rules apply at a path in a situation, and why.",
        test_rules,
        {"type": "object"},
        owner=True,
        tag="rules",
        body=body({"situation": _SITUATION, "path": _PATH, "whole": _WHOLE}, "situation"),
        example={"situation": {"tool": "edit"}},
    ),
)
