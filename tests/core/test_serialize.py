"""Every result type becomes plain data that JSON can carry, in one form."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest

from quire.core.serialize import json_line, json_text, pick, printable, to_plain
from quire.core.types import (
    AccessRule,
    Candidate,
    Chunk,
    Context,
    Decision,
    Experience,
    Failure,
    Feedback,
    ImportResult,
    Memory,
    Principle,
    Problem,
    Roots,
    SearchResult,
    Skipped,
    Status,
    Written,
)
from quire.core.types.blocks import Block

MOMENT = 1_700_000_000
WRITTEN_MOMENT = "2023-11-14T22:13:20+00:00"
CHUNK = Chunk(
    id="c",
    record_id="r",
    path="a.md",
    sequence=0,
    start=0,
    end=4,
    lines=(1, 2),
    kind="document",
    title="A",
    text="text",
)
MEMORY = Memory("m", "Ships rest.", "fact", 500, MOMENT, acl=("ann",))


@dataclass(frozen=True, slots=True)
class Nested:
    """A result without a form of its own."""

    names: tuple[str, ...]
    counts: MappingProxyType[str, int]
    failures: tuple[Failure, ...]


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (
            Nested(("a", "b"), MappingProxyType({"x": 1}), (Failure("lexical", "off"),)),
            {
                "names": ["a", "b"],
                "counts": {"x": 1},
                "failures": [{"source": "lexical", "reason": "off"}],
            },
        ),
        (AccessRule("*.md", ("ann",)), {"glob": "*.md", "principals": ["ann"]}),
        (
            Problem("roots", "differ", repaired=True),
            {"check": "roots", "detail": "differ", "repaired": True},
        ),
        (
            ImportResult(1, 2, 3, (Skipped("x.bin", "binary"),), ("a note",)),
            {
                "added": 1,
                "changed": 2,
                "unchanged": 3,
                "skipped": [{"path": "x.bin", "reason": "binary"}],
                "notes": ["a note"],
            },
        ),
        (
            SearchResult((Candidate(CHUNK, 7, {"lexical": 2, "feedback": 1}),), "root"),
            {
                "results": [
                    {
                        "id": "c",
                        "record_id": "r",
                        "kind": "document",
                        "path": "a.md",
                        "document": "a.md",
                        "metadata": {},
                        "lines": [1, 2],
                        "score": 7,
                        "likely": True,
                        "signals": {"feedback": 1, "lexical": 2},
                        "title": "A",
                        "author": "",
                        "text": "text",
                    }
                ],
                "state_root": "root",
                "failed": [],
                "notes": [],
                "exact": True,
            },
        ),
        (
            Status(Roots("content", "state"), 1, 2, 3, 4, None, 5),
            {
                "state_root": "state",
                "content_root": "content",
                "records": 1,
                "chunks": 2,
                "vectors": 3,
                "missing_vectors": 4,
                "model": None,
                "bytes": 5,
            },
        ),
        (
            Written(MEMORY, ("a note",)),
            {
                "id": "m",
                "content": "Ships rest.",
                "category": "fact",
                "importance": 0.5,
                "created": WRITTEN_MOMENT,
                "edited": None,
                "author": None,
                "share": ["ann"],
                "supersedes": None,
                "superseded_by": None,
                "count": 1,
                "repeated": None,
                "notes": ["a note"],
            },
        ),
        (
            Principle("v", "Test first.", "full", "k", 2, 900, ("e1", "e2")),
            {
                "id": "v",
                "text": "Test first.",
                "axis": "full",
                "cluster_id": "k",
                "size": 2,
                "similarity": 0.9,
                "members": ["e1", "e2"],
                "worded_by": "lesson",
            },
        ),
        (
            Feedback("f", ("a",), (), "hash", MOMENT, acl=("ann",), shared=True),
            {
                "id": "f",
                "useful": ["a"],
                "useless": [],
                "receipt": "hash",
                "at": WRITTEN_MOMENT,
                "author": None,
                "share": ["ann"],
            },
        ),
        (
            Block("b", "todo", properties={"tags": ("x", "y"), "done": False}, relations={"r": ("b",)}),
            {
                "id": "b",
                "type": "todo",
                "text": "",
                "parent": None,
                "position": 0,
                "properties": {"done": False, "tags": ["x", "y"]},
                "relations": {"r": ["b"]},
                "links": [],
                "mentions": [],
                "created": None,
                "edited": None,
                "author": None,
                "access": None,
                "source": "",
                "file": "",
                "line": 0,
            },
        ),
    ],
)  # fmt: skip
def test_forms(value: Any, data: Any) -> None:
    assert to_plain(value) == data
    assert list(to_plain(value)) == list(data), "the order of the members is part of the form"
    assert json.loads(json_text(value)) == json.loads(json_line(value)) == data


def test_an_experience_keeps_the_hash_of_its_file_to_itself() -> None:
    data = to_plain(Experience("e", "goal", "debugging", "small-steps", digest="secret"))
    assert "digest" not in data
    assert data["outcome"] == "open"


def test_a_context_is_its_fields() -> None:
    decision = Decision("c", "a.md", (1, 2), "pack", "kept", "fits", 3, 4, {"lexical": 1})
    context = Context(
        text="text",
        sources=(),
        tokens=1,
        content_tokens=1,
        available=2,
        truncated=False,
        omitted=0,
        limit_exceeded=0,
        decisions=(decision,),
        failed=(),
        notes=(),
        receipt={"hash": "h"},
    )
    data = to_plain(context)
    assert data["decisions"] == [
        {
            "chunk_id": "c",
            "path": "a.md",
            "lines": [1, 2],
            "step": "pack",
            "verdict": "kept",
            "reason": "fits",
            "tokens": 3,
            "score": 4,
            "signals": {"lexical": 1},
        }
    ]
    assert pick(data, "receipt", "tokens") == {"receipt": {"hash": "h"}, "tokens": 1}


def test_control_characters_are_escaped() -> None:
    assert printable("a\x1b[31m\n\u202e") == r"a\x1b[31m\n\u202e"
    assert "\\u001b" in json_text({"a": "\x1b\x9b"})
    assert "\\u009b" in json_text({"a": "\x1b\x9b"})
