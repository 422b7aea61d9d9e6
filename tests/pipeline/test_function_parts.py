"""Parts of a function are one item, labelled and placed as the function is; nothing is lost above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import quire
from quire.core.types import DECLARED, OWNER, Candidate, Chunk, Entity, Outline, Unit
from quire.engine import Quire
from quire.pipeline.function_parts import BETWEEN, lift_between
from quire.pipeline.preamble import without_preamble

HINTS = "".join(
    f"""            Warnings::Number{number}(ref options) => write!(
                f,
                "{about} {{hint}}",
                hint=if options.{field} {{ "" }} else {{ "Raise the number of {field} instead." }}
            ),
"""
    for number, (about, field) in enumerate(
        [("The first run was slower than the others, which a cold cache may cause.", "warmup")] * 3
        + [("The disk was busy with something else while all of this went on.", "patience")] * 6
        + [("The first run was slower, and so were others after it.", "prepare")] * 3
    )
)
WARNINGS = f"""use std::fmt;

/// What may be wrong.
pub enum Warnings {{
    Number0(Options),
}}

impl fmt::Display for Warnings {{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {{
        match *self {{
{HINTS}        }}
    }}
}}
"""
ERRORS = """#[cfg(windows)]
use std::os::windows::process::CommandExt;
use std::fmt;

#[derive(Debug)]
pub enum ScanError {
    Empty,
}

impl fmt::Display for ScanError {
    fn fmt(&self) -> String { "empty".into() }
}

impl Error for ScanError {}
"""
SERVER = (
    """package main

// handle reads a request and answers it, without the package net/http,
// which would make the binary larger.
func handle(conn net.Conn) string {
"""
    + "".join(f'\tif conn.step == {at} {{\n\t\treturn "answer {at}"\n\t}}\n' for at in range(60))
    + """\tconn.zebra()
	return ""
}
"""
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = Path(tmp_path_factory.mktemp("parts"))
    (root / "warnings.rs").write_text(WARNINGS)
    (root / "errors.rs").write_text(ERRORS)
    (root / "server.go").write_text(SERVER)
    (root / "keys.sh").write_text(
        "# Keys for the shell.\n\n"
        + "".join(f"bind {key} run_{key}_zebra\n" for key in "abcdefghijkl")
        + "\nfind_keys() {\n  echo keys\n}\n"
    )
    with quire.open(root) as opened:
        opened.index(embed=False)
        yield opened


def outline_of(store: Quire, path: str) -> Outline:
    with store.store.view(OWNER) as view:
        (record,) = [record for record in view.listing() if record.path == path]
        return view.outlines([record.id])[record.id]


def page(store: Quire, query: str, budget: int = 4000) -> str:
    context = store.assemble(
        query, recipe="agent", types=["code"], budget=budget, reserve={}, floor=0
    )
    assert store.verify(context.receipt, context.text).problems == ()
    return context.text


def test_the_parts_of_a_method_are_one_item_with_its_middle(store: Quire) -> None:
    shown = page(store, "Why do I get the warning that the first run was slower?")
    assert "**Method** `Warnings.fmt` in `warnings.rs:9`" in shown
    assert shown.count("`Warnings.fmt`") == 1
    assert "patience" in shown
    for line in HINTS.split("\n"):
        assert line.strip() in shown


def part(start: int, end: int, score: int, function: tuple[int, int] = (10, 400)) -> Candidate:
    text = "x" * (end - start)
    chunk = Chunk(f"c{start}", "r", "code", "a.py", "", 0, start, end, (start, end), text)
    entity = Entity("function", "run", "run", *function, function)
    return Candidate(chunk, score, {"lexical": score}, entity, unit=Unit(entity, 1, text))


def test_a_part_between_two_better_ones_has_the_score_of_the_lesser() -> None:
    first, last = part(10, 100, 900), part(200, 300, 600)
    other = replace(part(500, 600, 500, (450, 700)))
    (best, second, middle, fourth) = lift_between([first, last, other, part(100, 200, 400)])
    assert (best, second.chunk.start, fourth) == (first, 100, other)
    assert middle == last
    assert (second.score, second.signals) == (600, {"lexical": 400, BETWEEN: 500})


@pytest.mark.parametrize(
    "parts",
    [
        [part(10, 100, 900), part(100, 200, 400)],  # nothing below it
        [part(10, 100, 900), part(100, 200, 400), part(210, 300, 600)],  # not all between
        [part(10, 100, 900), part(100, 200, 400), part(200, 300, 300)],  # not better
        [part(10, 100, 900), part(100, 200, 400), part(200, 300, 600, (200, 500))],
    ],
)
def test_other_parts_keep_their_scores(parts: list[Candidate]) -> None:
    parts = sorted(parts, key=lambda each: each.order)
    assert lift_between(parts) == parts


def test_a_type_and_what_is_implemented_for_it_are_named_once(store: Quire) -> None:
    shown = page(store, "Debug and Display of what is empty")
    assert "`ScanError`, `ScanError`" not in shown
    assert "**Enum** `ScanError` (lines 5–14) in `errors.rs:5`" in shown  # noqa: RUF001
    assert "use std" not in shown


def test_an_attribute_is_no_summary(store: Quire) -> None:
    assert outline_of(store, "errors.rs").entities[0].summary == ""


def test_a_part_of_a_function_is_placed_at_its_declaration(store: Quire) -> None:
    entity = outline_of(store, "server.go").entities[1]
    assert (entity.lines[0], entity.attrs[DECLARED]) == (3, 5)
    assert "in `server.go:5`" in page(store, "zebra conn server", 700)


def test_lines_of_a_file_are_not_named_after_a_function_below_them(store: Quire) -> None:
    shown = page(store, "bind zebra keys")
    assert "**File** `keys.sh` (lines 3–18) in `keys.sh:3`" in shown  # noqa: RUF001


def first_chunk(text: str) -> Chunk:
    lines = (1, text.count("\n") + 1)
    return Chunk("c", "r", "code", "a.rs", "", 0, 0, len(text.encode()), lines, text)


@pytest.mark.parametrize(
    ("text", "shown", "line"),
    [
        # The comment of the first definition, behind the imports or without any.
        ("//! About.\n\nuse a::b;\n\n/// How far.\nconst FAR: u8 = 3;\n", "/// How far.", 5),
        ("# How far.\nFAR = 3\n", "# How far.", 1),
        ('"""About."""\n\nimport a\n\n# How far.\nFAR = 3\n', "# How far.", 5),
        # An attribute of the file is code; one of an import is a part of that.
        ("#![cfg_attr(\n    all(a, b),\n    c\n)]\nmod a;\n", "#![cfg_attr(", 1),
        ("#[cfg(windows)]\nuse a::b;\nuse c;\n\npub enum A {}\n", "pub enum A {}", 5),
        ("#[derive(Debug)]\npub enum A {}\n", "#[derive(Debug)]", 1),
        # What is about the file stands above nothing.
        ("#!/bin/sh\nset -e\n", "set -e", 2),
        ("# Copyright by nobody.\nFAR = 3\n", "FAR = 3", 2),
        ("# About.\n\nFAR = 3\n", "FAR = 3", 3),
    ],
)
def test_what_stands_above_the_first_definition(text: str, shown: str, line: int) -> None:
    rest, first = without_preamble(first_chunk(text))
    assert (rest.split("\n")[0], first) == (shown, line)
