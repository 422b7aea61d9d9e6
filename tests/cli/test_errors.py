"""Every mistake ends in one clear line and the right exit code, never in a traceback."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from quire.store.sqlite.page_checksums import CHECKED

if TYPE_CHECKING:
    from tests.conftest import Tree

FILES = {"a.md": "# Anchor\n\nThe anchor holds in sand.\n"}


@pytest.fixture
def indexed(tree: Tree) -> Tree:
    tree.fill(FILES)
    tree.index()
    return tree


def check_refused(
    tree: Tree, *arguments: str, code: int, expected: tuple[str, ...], stdin: str | bytes = b""
) -> str:
    """Run a command that must fail: one line on standard error, nothing on standard output."""
    done = tree.call(*arguments, stdin=stdin)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.endswith("\n")
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("quire: ")
    for part in expected:
        assert part in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "anchor"),
        ("status",),
        ("doctor",),
        ("purge", "a.md"),
        ("access", "list"),
        ("access", "allow", "*", "ann"),
    ],
)
def test_no_store(tree: Tree, arguments: tuple[str, ...]) -> None:
    check_refused(tree, *arguments, code=2, expected=("no store at", "quire index", "--store"))
    assert not tree.store.exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("search", ""), ("the query is empty",)),
        (("search", " \n\t"), ("the query is empty",)),
        (("search", "anchor", "--k", "0"), ("0",)),
        (("search", "anchor", "--k", "-3"), ("-3",)),
        (
            ("search", "anchor", "--since", "yesterday"),
            ("--since: expected a date", "2026-01-31", "not 'yesterday'"),
        ),
        (("search", "anchor", "--until", "2026-13-01"), ("--until: expected a date",)),
        (("search", "anchor", "--path", ""), ("is not a glob", ".gitignore")),
        (("search", "anchor", "--viewer", ""), ("is not a user's name",)),
        (("index", "nothing.md"), ("nothing.md does not exist",)),
        (("index", "/"), ("is outside of", "--store or --space")),
        (("index", "../elsewhere"), ("does not exist",)),
        (("purge", "/etc/passwd"), ("is outside of",)),
        (("access", "allow", "*.md", "two words"), ("'two words' is not a principal",)),
        (("access", "allow", "", "ann"), ("is not a glob",)),
        (("access", "group", "two words", "ann"), ("is not a principal",)),
        (
            ("access", "remove", "*.md"),
            ("no command has set a rule for '*.md'", "quire access list"),
        ),
        (("init", "nowhere"), ("nowhere is not a directory",)),
    ],
)
def test_wrong_arguments(
    indexed: Tree, arguments: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    check_refused(indexed, *arguments, code=2, expected=expected)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("serch", "x"),
        ("search",),
        ("search", "anchor", "--k", "many"),
        ("search", "anchor", "--nothing"),
        ("access", "allow", "*.md"),
    ],
)
def test_wrong_usage_is_shown_with_the_usage(tree: Tree, arguments: tuple[str, ...]) -> None:
    done = tree.call(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Usage: " in done.stderr


def test_the_path_of_a_new_store_may_be_wrong_without_making_one(tree: Tree) -> None:
    check_refused(tree, "index", "nothing.md", code=2, expected=("does not exist",))
    check_refused(
        tree, "index", "--store", "s.db", "nothing.md", code=2, expected=("does not exist",)
    )
    assert not (tree.root / "s.db").exists()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("[ingest\n", ("not valid TOML", "line 1")),
        ("[ingest]\nmax_byte = 3\n", ("[ingest]", "'max_byte'", "did you mean 'max_bytes'?")),
        ("[embd]\n", ("'embd'", "did you mean 'embed'?")),
        ("colour = 'red'\n", ("'colour'", "choose from store")),
        ("[ingest]\nmax_bytes = 'many'\n", ("[ingest] max_bytes", "'many'", "a whole number")),
        ("[ingest]\nmax_bytes = -1\n", ("[ingest] max_bytes: must be at least 0, not -1",)),
        ("[ingest]\nsecrets = 1\n", ("[ingest] secrets: expected true or false, not 1",)),
        ("[ingest]\nignore = '*.lock'\n", ("[ingest] ignore", "a list of texts")),
        ("[embed]\ntimeout = 'long'\n", ("[embed] timeout", "a number")),
        ("[embed]\nmodel = 3\n", ("[embed] model", "a text")),
        ("ingest = 3\n", ("ingest", "expected a table")),
        ("store = 3\n", ("store: expected a text that is not empty, not 3",)),
        ("[access]\n'*.md' = 3\n", ("[access] '*.md'", "a list of names")),
        ("[access]\n'*.md' = 'a b'\n", ("[access]", "'a b' is not a principal")),
        ("[groups]\ncrew = 'a b'\n", ("not a principal",)),
        ("\x00", ("not valid TOML",)),
    ],
)
def test_wrong_settings_are_named_with_their_file(
    indexed: Tree, settings: str, expected: tuple[str, ...]
) -> None:
    place = indexed.write("quire.toml", settings)
    check_refused(indexed, "search", "anchor", code=2, expected=(str(place), *expected))
    check_refused(indexed, "index", "--no-embed", code=2, expected=(str(place), *expected))


def test_settings_that_are_not_text(indexed: Tree) -> None:
    place = indexed.write("quire.toml", b"\xff\xfe\x00")
    check_refused(indexed, "search", "anchor", code=2, expected=(str(place), "not UTF-8 text"))


def test_settings_written_by_an_editor_that_marks_its_files(indexed: Tree) -> None:
    indexed.write("quire.toml", b"\xef\xbb\xbf[ingest]\nwhole = 2\n")
    assert indexed.call("search", "anchor").returncode == 0


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("QUIRE_INGEST_WHOLE", "much", "QUIRE_INGEST_WHOLE: expected a whole number, not 'much'"),
        (
            "QUIRE_INGEST_SECRETS",
            "maybe",
            "QUIRE_INGEST_SECRETS: expected true or false, not 'maybe'",
        ),
        ("QUIRE_CONFIG", "/nowhere/config.toml", "/nowhere/config.toml"),
    ],
)
def test_wrong_variables_are_named(
    indexed: Tree, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, expected: str
) -> None:
    monkeypatch.setenv(variable, value)
    check_refused(indexed, "search", "anchor", code=2, expected=(expected,))


@pytest.mark.parametrize("size", ["0", "1", "99999999999999999999"])
@pytest.mark.parametrize("name", ["max_bytes", "whole", "target", "code_max"])
def test_any_number_is_taken_or_refused(indexed: Tree, name: str, size: str) -> None:
    indexed.write("quire.toml", f"[ingest]\n{name} = {size}\n")
    indexed.write("b.py", "def f():\n    return 1\n" * 50)
    indexed.write("b.md", "# B\n\nOne sentence. Another sentence.\n" * 50)
    done = indexed.call("index", "--no-embed")
    assert done.returncode in {0, 2}, done.stderr


@pytest.mark.parametrize("k", ["1000000", "99999999999999999999999"])
def test_any_number_of_results_may_be_asked_for(indexed: Tree, k: str) -> None:
    done = indexed.call("search", "anchor", "--k", k)
    assert done.returncode in {0, 2}, done.stderr


def test_an_unknown_provider(indexed: Tree) -> None:
    indexed.write("quire.toml", "[embed]\nprovider = 'cloud'\n")
    expected = ("embed.provider: unknown provider 'cloud'", "choose from local, http, plugin, none")
    check_refused(indexed, "index", code=2, expected=expected)


# --- stores ------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"no database, but plain text\n" * 100, b"SQLite format 3\0x"])
def test_a_file_that_is_no_database(tree: Tree, content: bytes) -> None:
    place = tree.write("s.db", content)
    for arguments in (("search", "x"), ("index", "--no-embed"), ("doctor",)):
        check_refused(tree, *arguments, "--store", "s.db", code=1, expected=(str(place), "--store"))
    assert place.read_bytes() == content


def test_a_database_of_something_else(tree: Tree) -> None:
    place = tree.root / "s.db"
    with sqlite3.connect(place) as other:
        other.execute("CREATE TABLE guests (name TEXT)")
    other.close()
    before = place.read_bytes()
    check_refused(
        tree, "index", "--no-embed", "--store", "s.db", code=1, expected=("not a Quire store",)
    )
    assert place.read_bytes()[100:] == before[100:]


def test_a_store_of_a_newer_version(indexed: Tree) -> None:
    with closing(apsw.Connection(str(indexed.store), vfs=CHECKED)) as store:
        store.execute("PRAGMA user_version = 999")
    for arguments in (("search", "anchor"), ("index", "--no-embed"), ("status",)):
        check_refused(indexed, *arguments, code=1, expected=("newer Quire", "999", "upgrade"))


def test_a_damaged_store(indexed: Tree) -> None:
    data = bytearray(indexed.store.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    indexed.store.write_bytes(data)
    for arguments in (("search", "anchor"), ("status",)):
        done = indexed.call(*arguments)
        assert done.returncode == 1
        assert done.stderr.startswith("quire: ")
        assert "damaged" in done.stderr
    assert indexed.call("doctor").returncode == 1


def test_a_store_where_none_can_be(tree: Tree) -> None:
    tree.write("file", "in the way")
    check_refused(
        tree, "index", "--no-embed", "--store", "file/s.db", code=1, expected=("cannot be",)
    )
    check_refused(tree, "index", "--no-embed", "--store", ".", code=2, expected=("is a folder",))


def test_a_directory_that_cannot_be_written(tree: Tree) -> None:
    check_refused(tree, "init", "/proc", code=1, expected=("/proc/quire.toml",))


# --- odd input ---------------------------------------------------------------------------------


def test_a_question_that_is_not_text(indexed: Tree) -> None:
    check_refused(
        indexed,
        "search",
        "-",
        stdin=b"\xff\xfe",
        code=2,
        expected=("standard input: not UTF-8 text",),
    )
    done = indexed.run("search", os.fsdecode(b"anchor \xff"))
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 2}


@pytest.mark.parametrize(
    "query",
    ["\x00", "a" * 100_000, "'; DROP TABLE chunk; --", "*", "\\", "(((", "😀", "--", "NEAR(a b)"],
)
def test_a_question_of_any_characters(indexed: Tree, query: str) -> None:
    done = indexed.call("search", "--json", "--", query)
    assert done.returncode == 0, done.stderr


def test_names_that_are_not_text(indexed: Tree) -> None:
    odd = os.fsdecode(b"caf\xe9.md")
    Path(indexed.root, odd).write_text("here")
    assert indexed.run("index", odd, "--no-embed").stderr.startswith("skipped caf\\xe9.md: ")
    for arguments in (
        ("purge", odd),
        ("search", "x", "--path", odd),
        ("search", "x", "--viewer", odd),
        ("access", "check", odd),
        ("access", "allow", odd, "ann"),
        ("access", "group", "crew", odd),
        ("status", "--space", odd),
        ("index", "--space", odd, "--no-embed"),
        ("index", "--store", odd, "--no-embed"),
        ("init", odd),
    ):
        done = indexed.call(*arguments)
        assert done.returncode in {0, 1, 2}, arguments


def test_an_unknown_viewer_is_no_mistake(indexed: Tree) -> None:
    done = indexed.call("search", "anchor", "--viewer", "nobody-knows-me")
    assert done.returncode == 0
    assert "a.md" in done.stdout
