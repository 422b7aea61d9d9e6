"""Endpoints of the blocks of a workspace."""

from __future__ import annotations

import json
from typing import Any

from quire.core.json_schema import Schema, number, text, texts
from quire.core.types import ImportResult
from quire.core.types.blocks import TYPES
from quire.server import schemas
from quire.server.endpoint import WRITE, Call, Endpoint
from quire.server.schemas import ALLOW_SECRET, body, long_text, page_of, result, written
from quire.workspace import block_lines


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
        block_lines.parse(lines), **call.take("allow_secret"), viewer=call.viewer, at=call.at
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
)
