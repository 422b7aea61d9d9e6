"""What a client sends for blocks.

Each function has the signature of the method of an open store, and returns a `Call`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quire.client.call import (
    Call,
    ViewerLike,
    escape_id,
    given,
    list_of,
    post,
    read_as,
    read_written,
    send_lines,
    viewer_parameter,
    with_members,
)
from quire.core.deserialize import from_plain
from quire.core.serialize import to_plain
from quire.core.types import ImportResult, Written
from quire.core.types.blocks import Block, Property, RemovedBlocks


def put_blocks(
    blocks: Iterable[Block], *, viewer: ViewerLike = None, allow_secret: bool = False
) -> Call[Written[tuple[Block, ...]]]:
    """Add blocks, or replace those with the same ids; all of them, or none."""

    def read(data: Any) -> Written[tuple[Block, ...]]:
        stored = tuple(from_plain(Block, item) for item in data["blocks"])
        return Written(stored, tuple(data["notes"]))

    sent = [to_plain(block) for block in blocks]
    return post("/v1/blocks", read, viewer, writes=True, blocks=sent, allow_secret=allow_secret)


def get_block(block_id: str, *, viewer: ViewerLike = None) -> Call[Block]:
    """Return one block by its id."""
    path = f"/v1/blocks/{escape_id(block_id)}"
    return Call("GET", path, read_as(Block), parameters=viewer_parameter(viewer))


def edit_block(
    block_id: str,
    *,
    text: str | None = None,
    properties: Mapping[str, Property | None] | None = None,
    relations: Mapping[str, Sequence[str]] | None = None,
    links: Sequence[str] | None = None,
    mentions: Sequence[str] | None = None,
    viewer: ViewerLike = None,
    allow_secret: bool = False,
) -> Call[Written[Block]]:
    """Change a block; properties and relations that are not named stay (None, (): removed)."""
    return post(
        f"/v1/blocks/{escape_id(block_id)}",
        read_written(Block),
        viewer,
        verb="PATCH",
        writes=True,
        text=text,
        properties=to_plain(properties),
        relations=to_plain(relations),
        links=to_plain(links),
        mentions=to_plain(mentions),
        allow_secret=allow_secret,
    )


def move_block(
    block_id: str,
    parent: str | None,
    *,
    position: int | None = None,
    viewer: ViewerLike = None,
) -> Call[Written[Block]]:
    """Move a block and its children under another block (None: to the root)."""
    call = post(
        f"/v1/blocks/{escape_id(block_id)}/move",
        read_written(Block),
        viewer,
        writes=True,
        position=position,
    )
    return with_members(call, parent=parent)


def share_block(
    block_id: str, access: Sequence[str] | None, *, viewer: ViewerLike = None
) -> Call[Written[Block]]:
    """Set who may read a block and its children (None: inherited from its parent)."""
    path = f"/v1/blocks/{escape_id(block_id)}/share"
    call = post(path, read_written(Block), viewer, writes=True)
    return with_members(call, access=None if access is None else list(access))


def delete_block(block_id: str, *, viewer: ViewerLike = None) -> Call[RemovedBlocks]:
    """Delete a block with those children that the viewer may read; return what was deleted."""
    path = f"/v1/blocks/{escape_id(block_id)}"
    return Call(
        "DELETE", path, read_as(RemovedBlocks), parameters=viewer_parameter(viewer), writes=True
    )


def block_tree(
    under: str | None = None, *, levels: int | None = None, viewer: ViewerLike = None
) -> Call[list[tuple[int, Block]]]:
    """List blocks in reading order, each with its depth: one and its children, or all."""

    def read(items: Any) -> list[tuple[int, Block]]:
        return [(item["depth"], from_plain(Block, item["block"])) for item in items]

    parameters = {"under": under, "levels": levels, **viewer_parameter(viewer)}
    return Call("GET", "/v1/blocks", read, parameters=given(parameters), paged=True)


def view_block(block_id: str, *, viewer: ViewerLike = None) -> Call[Block]:
    """Return one block by its id, and record the view (if the viewer has a name)."""
    path = f"/v1/blocks/{escape_id(block_id)}/view"
    return post(path, read_as(Block), viewer, writes=True)


def export_blocks(under: str | None = None, *, viewer: ViewerLike = None) -> Call[list[Block]]:
    """Return blocks, each after its parent, as `import_lines` takes them."""
    return list_of("/v1/blocks/export", Block, {"under": under, **viewer_parameter(viewer)})


def import_blocks(
    text: str, *, viewer: ViewerLike = None, allow_secret: bool = False
) -> Call[ImportResult]:
    """Import blocks from JSON lines, as `quire block export` prints them; all or nothing."""
    options = {"allow_secret": allow_secret}
    return send_lines("/v1/blocks/import", read_as(ImportResult), text, options, viewer)
