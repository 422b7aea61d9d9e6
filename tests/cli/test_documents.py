"""Documents that are not files, from the command line: what a user types, and every mistake."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.conftest import Tree

LINES = (
    '{"path": "a/1", "content": "One.", "metadata": {"n": 1}}\n'
    "not json\n"
    "\n"
    '{"path": "a/2"}\n'
    "[1]\n"
    '{"path": "a/3", "content": "Three.", "metadata": [1]}\n'
    '{"path": "a/4", "content": "Four.", "bogus": 1}\n'
    '{"path": "a/5", "content": "Five."}\n'
)


@pytest.fixture
def project(tree: Tree) -> Tree:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("lines.jsonl", LINES)
    return tree


def listed(tree: Tree) -> Mapping[str, Any]:
    data = json.loads(tree.call("document", "list", "--json").stdout)
    return {record["path"]: record for record in data["documents"]}


def test_lines_that_cannot_be_added_are_left_out_and_named(project: Tree) -> None:
    done = project.call("add", "--jsonl", "lines.jsonl", "--skip-errors", "--meta", "team=north")
    assert done.returncode == 0
    assert {path: record["metadata"] for path, record in listed(project).items()} == {
        "a/1": {"n": 1, "team": "north"},
        "a/5": {"team": "north"},
    }
    for reason in (
        "lines.jsonl, line 2: not valid JSON",
        "lines.jsonl, line 5: expected an object, not [1]",
        "a/2",
        "a/3",
        "bogus",
    ):
        assert reason in done.stdout + done.stderr


def test_what_comes_before_a_line_that_cannot_be_added_is_kept(project: Tree) -> None:
    done = project.call("add", "--jsonl", "lines.jsonl")
    assert done.returncode == 2
    assert done.stderr.startswith("quire: lines.jsonl, line 2: not valid JSON")
    assert [*listed(project)] == ["a/1"]
    project.write("lines.jsonl", '{"path": "b", "content": "B.", "metadata": [1]}\n')
    done = project.call("add", "--jsonl", "lines.jsonl")
    assert (done.returncode, "metadata" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("add", "gone.md"), "gone.md cannot be read: No such file"),
        (("add", "--jsonl", "gone.jsonl"), "gone.jsonl cannot be read: No such file"),
        (("add", "--jsonl", "lines.jsonl", "--template", "{x}"), "--path: is missing"),
        (("add", "-"), "name it with --path"),
        (("add",), "no file is named"),
        (("add", "-", "--path", "x", "--meta", "team"), "expected KEY=VALUE"),
        (("add", "-", "--path", "x", "--expires", "soon"), "expected a date"),
        (("document", "edit", "a/1"), "nothing to change"),
        (("document", "edit", "nope", "--meta", "n=1"), "no document has the path 'nope'"),
        (("document", "list", "--where", "n ="), "--where: at character 4"),
        (("sync", "--drop", "nope"), "unknown source 'nope'"),
    ],
)
def test_mistakes_are_told(project: Tree, arguments: tuple[str, ...], reason: str) -> None:
    with project.open() as opened:
        opened.documents.put("Text.", path="a/1")
    done = project.call(*arguments, stdin="Text.\n")
    assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


def test_only_the_document_that_was_edited_is_shown(project: Tree) -> None:
    with project.open() as opened:
        for path in ("1", "a/1"):
            opened.documents.put("Text.", path=path)
    done = project.call("document", "edit", "1", "--meta", "n=2", "--expires", "2020-01-01")
    assert done.stdout == "1  1  (n = 2)\n"
    done = project.call("document", "delete", "a/1", "gone", "1")
    assert (done.returncode, done.stdout) == (2, ""), "all or none"
    assert project.call("document", "delete", "a/1", "1").stdout == "deleted a/1\ndeleted 1\n"


def test_what_has_expired_already_is_told(project: Tree) -> None:
    done = project.call("add", "-", "--path", "old", "--expires", "2020-01-01", stdin="The text.\n")
    assert "old has expired already" in done.stderr
    assert listed(project) == {}


def test_facets_are_printed_once(project: Tree) -> None:
    with project.open() as opened:
        opened.documents.put("Text.", path="a", metadata={"team": "north"})
    shown = project.call("status", "--facets").stdout
    assert shown.count("north") == 1
    assert shown.endswith("team: 1 record; north (1)\n")
