"""A source is named as a person would name it, and nothing passes for another thing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from quire.core.types import Candidate, Chunk, Record, RenderSpec
from quire.rendering import heading_text, source_name
from quire.rendering.names import shown_name
from tests.pipeline.builders import chunk, piece

NOON = 1_589_284_800
"""2020-05-12, at noon."""
SHA = "2881d93" + "0" * 33


def candidate(kind: str, path: str, text: str = "Text.", **record: Any) -> Candidate:
    one: Chunk = replace(chunk(text, path), kind=kind, title=record.pop("chunk_title", ""))
    known = Record(one.record_id, kind.partition(".")[0], path, **record) if record else None
    if known is not None and kind.startswith("block."):
        known = replace(known, kind=kind)
    return Candidate(one, 1, {}, record=known)


@pytest.mark.parametrize(
    ("one", "name"),
    [
        (candidate("document", "docs/guide.md"), "docs/guide.md"),
        (
            candidate("commit", f".git/commit/{SHA}", author="David Lord", modified=NOON),
            "commit 2881d93, David Lord, 2020-05-12 12:00",
        ),
        (candidate("commit", f".git/commit/{SHA}", title="Mend"), "commit 2881d93"),
        (candidate("commit", f".git/commit/{SHA}"), "commit 2881d93"),
        (
            candidate("experience.strategy", ".quire/experience/a/b/c/1", title="Import fails"),
            "experience: Import fails",
        ),
        (
            candidate("experience.full", ".quire/experience/a/b/c/1", "word " * 20),
            "experience: " + "word " * 10 + "word…",
        ),
        (
            candidate(
                "memory.decision", ".quire/memory/1", modified=NOON, attrs={"category": "decision"}
            ),
            "memory (decision), 2020-05-12",
        ),
        (
            candidate("value", ".quire/value/full/x/1", attrs={"axis": "strategy", "size": 5}),
            "value (strategy) from 5 experiences",
        ),
        (
            candidate("block.todo", ".quire/block/1", chunk_title="Launch", title="Buy"),
            "todo block on Launch",
        ),
        (candidate("block.db_row", ".quire/block/1", "Row\nDue: today"), "db row: Row"),
        (candidate("block.code", ".quire/block/1", "x = 1"), "code block"),
    ],
)
def test_what_a_source_is_called(one: Candidate, name: str) -> None:
    assert source_name(one) == name
    assert shown_name(one) == name
    assert (
        heading_text(replace(piece(one.chunk), candidate=one), RenderSpec()) == f"[DOC: {name}]\n"
    )


@pytest.mark.parametrize(
    "path",
    [
        "commit 2881d93, David Lord, 2020-05-12",
        "experience: Import fails",
        "memory (decision), 2020-05-12",
        "value (full) from 3 experiences",
        "todo block on Launch",
        "page: Launch",
        "code block",
    ],
)
def test_a_file_does_not_pass_for_something_else(path: str) -> None:
    shown = shown_name(candidate("document", path))
    assert shown != path
    assert shown.encode().decode("unicode_escape") == path


@pytest.mark.parametrize("path", ["commit.md", "values (old).md", "block.md", "my: notes.txt"])
def test_other_files_are_named_by_their_paths(path: str) -> None:
    assert shown_name(candidate("document", path)) == path
