"""What goes wrong in one source, or in one row, ends nothing else, and removes nothing."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from quire.core.types import PutSummary, Skipped, SkippedRow
from quire.indexing.sources import SOURCES
from tests.conftest import Tree

WORDS_ONLY = '[embed]\nprovider = "none"\n'
LINES = '[sources.lines]\ntype = "jsonl"\nlocation = "all.jsonl"\npath = "l/{id}"\n'
GOOD = ['{"id": 1, "content": "one"}', '{"id": 2, "content": "two"}', '{"id": 3, "content": "3"}']


def write(tree: Tree, *lines: str) -> None:
    tree.write("all.jsonl", "".join(f"{line}\n" for line in lines))


def sync(tree: Tree, **options: Any) -> dict[str, PutSummary]:
    with tree.open() as opened:
        return opened.documents.sync(**options)


def paths(tree: Tree) -> list[str]:
    with tree.open() as opened:
        return [record.path for record in opened.documents.list(put_only=True)]


def rows(summary: PutSummary) -> list[tuple[int, str]]:
    return [(each.row, each.path) for each in summary.skipped if isinstance(each, SkippedRow)]


@pytest.fixture
def lines(tree: Tree) -> Tree:
    tree.write("quire.toml", WORDS_ONLY + LINES)
    write(tree, *GOOD)
    return tree


@pytest.mark.parametrize(
    ("line", "path", "reason"),
    [
        ('{"id": 2, "content": ', "", "not valid JSON"),
        ('["id", 2]', "", "expected an object"),
        ('{"content": "two"}', "", "names {id}, which the object does not have"),
        ('{"id": 2, "content": ""}', "l/2", "the document is empty"),
        ('{"id": 2, "content": 7}', "l/2", "expected a text"),
        ('{"id": "../2", "content": "two"}', "l/../2", "is not a path"),
    ],
)
def test_a_bad_line_is_named_and_what_it_stood_for_stays(
    lines: Tree, line: str, path: str, reason: str
) -> None:
    assert sync(lines)["lines"].added == 3
    write(lines, '{"id": 1, "content": "one!"}', line, '{"id": 4, "content": "four"}')
    done = sync(lines)["lines"]
    assert (done.added, done.changed, done.failed, done.complete) == (1, 1, "", False)
    assert rows(done) == [(2, path)]
    assert reason in done.skipped[0].reason
    if path == "l/2":  # it is known which one it is, so that the others can be judged
        assert (done.removed, paths(lines)) == (1, ["l/1", "l/2", "l/4"])
    elif not path:
        assert (done.removed, paths(lines)) == (0, ["l/1", "l/2", "l/3", "l/4"])
        assert done.notes == ("not all of it could be read, so that nothing was removed",)
    write(lines, '{"id": 4, "content": "four"}')
    done = sync(lines)["lines"]
    assert done.complete
    assert paths(lines) == ["l/4"]


def test_a_bad_row_of_a_query_is_named(tree: Tree) -> None:
    tree.write(
        "quire.toml",
        WORDS_ONLY + '[sources.t]\ntype = "sqlite"\nlocation = "crm.db"\npath = "t/{id}"\n'
        'query = "SELECT * FROM t ORDER BY id"\nmetadata = ["n"]\nmodified = "at"\n',
    )
    with closing(sqlite3.connect(tree.root / "crm.db")) as connection, connection:
        connection.execute("CREATE TABLE t (id, content, n, at)")
        connection.execute(
            "INSERT INTO t VALUES (1, 'one', 1, '2026-01-01'), (2, 'two', x'00', NULL), "
            "(3, 'three', 3, 'soon'), (4, 'four', 4, NULL)"
        )
    done = sync(tree)["t"]
    assert (done.added, done.failed) == (2, "")
    assert rows(done) == [(2, "t/2"), (3, "t/3")]
    assert paths(tree) == ["t/1", "t/4"]


@pytest.mark.parametrize("field", ["cursor", "deleted", "readers"])
def test_a_column_that_no_row_has_is_a_mistake_of_the_source(tree: Tree, field: str) -> None:
    tree.write(
        "quire.toml",
        WORDS_ONLY + '[sources.t]\ntype = "sqlite"\nlocation = "crm.db"\npath = "t/{id}"\n'
        f'query = "SELECT id, id AS content FROM t"\n{field} = "nope"\n',
    )
    with closing(sqlite3.connect(tree.root / "crm.db")) as connection, connection:
        connection.execute("CREATE TABLE t (id)")
        connection.execute("INSERT INTO t VALUES (1), (2)")
    done = sync(tree)["t"]
    assert "nope" in done.failed
    assert not done.skipped


def test_a_source_that_fails_ends_no_other(lines: Tree) -> None:
    lines.write(
        "quire.toml",
        WORDS_ONLY + '[sources.a]\ntype = "folder"\nlocation = "gone"\n'
        '[sources.b]\ntype = "sqlite"\nlocation = "all.jsonl"\nquery = "SELECT id FROM t"\npath = "b"\n'
        '[sources.c]\ntype = "carrier pigeon"\n' + LINES,
    )
    lines.trust()
    done = sync(lines)
    assert [name for name, each in done.items() if each.failed] == ["a", "b", "c"]
    assert done["lines"] == PutSummary(added=3)
    called = lines.call("sync")
    assert called.returncode == 1
    assert called.stdout.splitlines() == [
        *(
            f"{name}: 0 documents added, 0 changed, 0 unchanged, 0 skipped; 0 new vectors"
            for name in "abc"
        ),
        "lines: 0 documents added, 0 changed, 3 unchanged, 0 skipped; 0 new vectors",
    ]
    told = called.stderr.splitlines()
    assert [line for line in told if "failed" in line] == [
        f"a failed: {lines.root}/gone is not a folder",
        f"b failed: {lines.root}/all.jsonl: file is not a database",
        f"c failed: [sources.c]: type: unknown type 'carrier pigeon'; choose from {', '.join(SOURCES)}",
    ]
    assert lines.call("sync", "lines").returncode == 0
    as_json = lines.call("sync", "--json")
    assert as_json.returncode == 1
    assert json.loads(as_json.stdout)["sources"]["a"]["failed"].endswith("is not a folder")


def test_a_folder_that_is_gone_removes_nothing(tree: Tree) -> None:
    tree.write("quire.toml", WORDS_ONLY + '[sources.s]\ntype = "folder"\nlocation = "in"\n')
    tree.write("in/a.md", "The pilot.\n")
    assert sync(tree)["s"].added == 1
    tree.remove("in/a.md")
    (tree.root / "in").rmdir()
    done = sync(tree)["s"]
    assert (done.failed, done.removed) == (f"{tree.root}/in is not a folder", 0)
    assert paths(tree) == ["s/a.md"]


def test_the_command_names_the_rows(lines: Tree) -> None:
    write(lines, GOOD[0], "{", '{"id": 5, "content": ""}', GOOD[1])
    called = lines.call("sync", "--quiet")
    assert called.returncode == 1
    assert called.stdout == (
        "lines: 2 documents added, 0 changed, 0 unchanged, 2 skipped; 0 new vectors\n"
    )
    first, second = called.stderr.splitlines()
    assert first.startswith("lines, row 2: not valid JSON")
    assert second == "lines, row 3 (l/5): l/5: content: the document is empty"
    called = lines.call("sync", "--json")
    assert called.returncode == 1
    assert [
        (each["row"], each["path"])
        for each in json.loads(called.stdout)["sources"]["lines"]["skipped"]
    ] == [(2, ""), (3, "l/5")]


def test_a_file_that_is_skipped_is_no_failure(tree: Tree) -> None:
    tree.write("quire.toml", WORDS_ONLY + '[sources.s]\ntype = "folder"\nlocation = "in"\n')
    tree.write("in/a.md", "The pilot.\n")
    tree.write("in/.env", "KEY=1\n")
    tree.write("in/empty.md", "")
    done = sync(tree)["s"]
    assert [type(each) for each in done.skipped] == [Skipped, Skipped]
    assert done.complete
    assert tree.call("sync").returncode == 0


def test_rows_say_who_may_read_and_until_when(lines: Tree) -> None:
    lines.write("quire.toml", f'{WORDS_ONLY}{LINES}expires = "until"\nreaders = "team"\n')
    write(
        lines,
        '{"id": 1, "content": "one", "team": ["ana", "@crew"], "until": "2099-01-31"}',
        '{"id": 2, "content": "two", "team": "ana, ben", "until": null}',
        '{"id": 3, "content": "three", "team": [], "until": 1000}',
        '{"id": 4, "content": "four", "team": null}',
        '{"id": 5, "content": "five"}',
        '{"id": 6, "content": "six", "team": 7}',
        '{"id": 7, "content": "seven", "team": ["public"], "until": "soon"}',
        '{"id": 8, "content": "eight", "team": ["public"]}',
    )
    done = sync(lines)["lines"]
    assert rows(done) == [(5, "l/5"), (6, "l/6"), (7, "l/7")]
    with lines.open() as opened:
        assert opened.documents.get("l/1").share == ("group:crew", "user:ana")
        assert opened.documents.get("l/1").expires == 4073587200
        for viewer, expected in (
            ("ana", ["l/1", "l/2", "l/8"]),
            ("ben", ["l/2", "l/8"]),
            (None, ["l/1", "l/2", "l/4", "l/8"]),
        ):
            listed = opened.documents.list(put_only=True, viewer=viewer)
            assert [record.path for record in listed] == expected
