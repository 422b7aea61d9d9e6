"""The links of real pages lead where they should."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from quire.ingest.walk import DEFAULTS
from quire.workspace.importers import build_tree, discover
from quire.workspace.importers.build_tree import ImportedTree

if TYPE_CHECKING:
    from quire import Quire

pytestmark = [
    pytest.mark.bench_data,
    pytest.mark.skipif("BENCH_DATA" not in os.environ, reason="BENCH_DATA is not set"),
]


def documents(task: str, folder: Path) -> list[dict[str, Any]]:
    from bench import data

    rows = data.lines(task, "docs.jsonl")
    for row in rows:
        place = folder / row["path"]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(row["text"], "utf-8")
    return rows


def laid(folder: Path) -> ImportedTree:
    pages, _ = discover.build_folder(
        "all", "markdown", discover.read_texts(folder, "markdown", DEFAULTS)
    )
    return build_tree.build_tree(pages, lambda key, place: f"{key}|{place}".rstrip("|"))


def test_the_links_of_a_handbook(tmp_path: Path) -> None:
    rows = documents("ws_sourcegraph_handbook", tmp_path)
    made = laid(tmp_path)
    by_page: dict[str, set[str]] = {}
    for block in made.blocks:
        page = block.id.partition("|")[0]
        by_page.setdefault(page, set()).update(one.partition("|")[0] for one in block.links)
    wanted = [(row["path"], target) for row in rows for target in row["links"]]
    assert (made.pages, len(wanted)) == (880, 2269)
    assert [pair for pair in wanted if pair[1] not in by_page[pair[0]]] == []
    assert (made.resolved, len(made.dangling)) == (2935, 4)


def test_what_supersedes_what_among_proposals(tmp_path: Path) -> None:
    rows = documents("ws_peps", tmp_path)
    made = laid(tmp_path)
    paths = {row["id"]: row["path"] for row in rows}
    wanted = {(paths[by], row["path"]) for row in rows for by in row["superseded_by"]}
    said = {(row["path"], paths[old]) for row in rows for old in row["replaces"]}
    met = {(one.id, old) for one in made.blocks for old in one.relations.get("supersedes", ())}
    assert (made.pages, len(wanted)) == (736, 32)
    assert met == wanted | said
    linked = {(one.id.partition("|")[0], target) for one in made.blocks for target in one.links}
    refs = {(row["path"], paths[to]) for row in rows for to in row["refs"] if to in paths}
    assert len({pair for pair in refs if pair in linked and pair[0] != pair[1]}) > 1000


def test_a_real_handbook_twice(opened: Quire, tmp_path: Path) -> None:
    for row in documents("ws_sourcegraph_handbook", tmp_path / "all")[120:]:
        (tmp_path / "all" / row["path"]).unlink()
    first = opened.blocks.import_pages(tmp_path / "all", "markdown", at=1)
    assert first.blocks == first.added > 2000
    before = opened.status().roots
    again = opened.blocks.import_pages(tmp_path / "all", "markdown", at=2)
    assert again.unchanged == again.blocks
    assert opened.status().roots == before
    assert opened.store.check() == []
