"""Where the blocks of an imported folder stand in its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.pages.locate import locate, place_pages

Place = tuple[str, int, int]
"""A path, a first and a last line."""


def place_blocks(store: Any, files: Mapping[str, str]) -> dict[str, Place]:
    """Return the place of each block, by its id; blocks that stand in no file are left out."""
    blocks = list(store.blocks.export())
    by_id = {block.id: block for block in blocks}
    homes = {block.id: _page(block, by_id) for block in blocks}
    texts: dict[str, list[str]] = {}
    for block in blocks:
        if block.type != "page" and homes[block.id]:
            texts.setdefault(homes[block.id], []).append(block.text)
    for block in blocks:
        if block.type == "page":
            texts.setdefault(block.id, []).append(block.text)
    paths = place_pages(files, texts)
    placed: dict[str, Place] = {}
    for page, path in paths.items():
        file, at = files[path], 1
        span = locate(file, by_id[page].text)
        placed[page] = (path, *(span or (1, 1)))
        for block in _below(page, blocks, homes):
            span = locate(file, block.text, at)
            if span:
                placed[block.id] = (path, *span)
                at = max(at, span[0])
    return placed


def _page(block: Any, by_id: Mapping[str, Any]) -> str:
    while block is not None and block.type != "page":
        block = by_id.get(block.parent)
    return "" if block is None else str(block.id)


def _below(page: str, blocks: Sequence[Any], homes: Mapping[str, str]) -> list[Any]:
    """Return the blocks of a page in the order of the page, which is that of an export."""
    return [block for block in blocks if homes[block.id] == page and block.id != page]


def block_at(places: Mapping[str, Place], path: str, line: int | None, pages: set[str]) -> str:
    """Return the id of the page of a path, or of the smallest block at one of its lines."""
    if line is None:
        found = [name for name, place in places.items() if place[0] == path and name in pages]
        return min(found, key=lambda name: (places[name][1], name))
    found = [
        name
        for name, (where, first, last) in places.items()
        if where == path and first <= line <= last and name not in pages
    ]
    return min(found, key=lambda name: (places[name][2] - places[name][1], name))
