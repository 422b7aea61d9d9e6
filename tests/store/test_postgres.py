"""PostgreSQL: what it must do beyond the contract, on a real server."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.protocols import Store
from quire.core.servers import public_name
from quire.core.types import OWNER, AccessRule, Event, Mention, Outline, Stamp
from quire.errors import (
    InputError,
    NoStoreError,
    QuireError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreVersionError,
)
from quire.store import open_store
from quire.store.postgres import schema, values
from quire.store.postgres.connection import Connections
from quire.store.postgres.database import Connection, Raw
from quire.store.postgres.schema import POLICIES, WITHOUT_CONTENT
from quire.store.sql.view import SqlView

from .answers import answers_by_viewer, root, stored_settings
from .older_postgres import go_back
from .postgresql import Server
from .reference import ReferenceStore
from .samples import ALICE, BOB, document, fill, put
from .test_connection import in_a_thread
from .test_histories import READERS
from .worlds import SPACES, any_history, any_outline, questions

PASSWORD = "hunter2"


@pytest.fixture(params=["quire_test", "postgres"])
def user(request: pytest.FixtureRequest) -> str:
    """One who may not create roles and owns the tables, and a superuser."""
    return str(request.param)


@pytest.fixture
def own(server: Server, user: str) -> Iterator[Store]:
    """A store in a database of its own."""
    store = open_store(server.url(server.create(user), user))
    yield store
    store.close()


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    opened = open_store(database, wait=20)
    yield opened
    opened.close()


# --- values --------------------------------------------------------------------------------------

TEXTS = st.text(st.sampled_from("\0\1\2a\ue000é"), max_size=6)


@given(TEXTS, TEXTS)
def test_texts_come_back_and_keep_their_order(one: str, other: str) -> None:
    assert values.unescape(values.escape(one)) == one
    assert "\0" not in values.escape(one)
    kept = values.escape(one).encode(), values.escape(other).encode()
    assert (kept[0] < kept[1]) == (one.encode() < other.encode())


NUMBERS = st.integers(-(2**63) + 1, 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBERS, NUMBERS)
def test_numbers_of_metadata_come_back_and_keep_their_order(one: float, other: float) -> None:
    kept = values.encode_scalar(one), values.encode_scalar(other)
    assert values.decode_scalar("number", kept[0]) == one
    assert (kept[0] < kept[1]) == (one < other)
    assert (kept[0] == kept[1]) == (one == other)


def test_nul_in_texts(store: Store) -> None:
    fill(store, document("a", "alpha\0 \1beta\0", title="\0", metadata={"k": "\0\1"}))
    with store.view(OWNER) as view:
        assert view.chunks_of("a")[0].text == "alpha\0 \1beta\0"
        assert view.records(["a"])[0].title == "\0"
        assert view.facets(1)[0].values == (("\0\1", 1),)
    assert store.check() == []


# --- streams -------------------------------------------------------------------------------------


def test_a_stream_that_another_thread_ends_leaves_the_connection_free(server: Server) -> None:
    connection = Connection(Raw.connect(server.url(server.create())))
    rows = connection.stream("SELECT * FROM generate_series(1, ?::int)", [1000])
    assert next(rows) == (1,)
    assert in_a_thread(lambda: connection.rows("SELECT 9")) == [(9,)], "between two rows"
    assert in_a_thread(lambda: next(rows)) == (2,)
    assert in_a_thread(rows.close) is None
    assert in_a_thread(lambda: connection.rows("SELECT 9")) == [(9,)]
    assert len(list(connection.stream("SELECT * FROM generate_series(1, ?::int)", [1000]))) == 1000
    left = "SELECT name FROM pg_cursors WHERE name <> ''"
    assert connection.rows(left) == [("stream_1",)]
    connection.raw.rollback()
    assert connection.rows(left) == [], "it ends with the transaction"
    connection.raw.close()


def test_a_connection_is_closed_when_nobody_waits_for_its_answer(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for one that is closed meanwhile waits for ever."""
    fill(store, document("d0", "harbour"))
    held: list[bool] = []
    with store.view(ALICE) as view, view._use as snapshot:
        connection = snapshot.connection
        close = connection.raw.close

        def begin_to_ask() -> bool:
            free = bool(connection.lock.acquire(blocking=False))
            if free:
                connection.lock.release()
            return free

        def close_alone() -> None:
            held.append(not in_a_thread(begin_to_ask))
            close()

        monkeypatch.setattr(connection.raw, "close", close_alone)
        view._use.close()  # a call is still running, so the connection is not used again
        store._server._give_back(connection)
    assert held[0], "another thread cannot begin to ask"


# --- the same as SQLite --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_any_history_gives_the_answers_of_sqlite(store: Store, quick_path: Path, seed: int) -> None:
    reference, file = ReferenceStore(), open_store(quick_path / "a.db")
    for step in any_history(Random(seed)):
        for each in (reference, store, file):
            step(each)
    asked = questions(reference)
    for space in SPACES:
        by_server = answers_by_viewer(store, asked, READERS, space)
        assert by_server == answers_by_viewer(file, asked, READERS, space)
        assert stored_settings(store, space) == stored_settings(file, space)
    assert store.check() == []
    file.close()


# --- row-level security --------------------------------------------------------------------------


def fill_for_two(store: Store) -> None:
    """One document for each of two users, with a row in every table that holds text."""
    with store.write() as writer:
        for reader in ("alice", "bob"):
            one, two = (
                document(
                    f"{reader}{number}",
                    f"secret of {reader}",
                    acl=(reader,),
                    links=[(f"{reader}2", "see")],
                    outline=Outline(any_outline(Random(1)).entities, ()),
                    metadata={"team": reader},
                )
                for number in (1, 2)
            )
            for each in (one, two):
                writer.put(each.record, each.chunks, each.links, each.outline)
        seen = [("alice", "alice1"), ("bob", "bob1"), ("bob", "alice1")]
        writer.put_events([Event(actor, "view", name, at) for at, (actor, name) in enumerate(seen)])
        writer.stamp(
            [Stamp(f"{reader}/plan", 1, 1, "", f"{reader}1") for reader in ("alice", "bob")]
        )
        writer.set_note("imported", "alice/folder and bob/folder")
        writer.set_rules("command", [AccessRule("alice/**", ("alice",))])


def select_all(view: Any) -> dict[str, list[tuple[Any, ...]]]:
    """Select everything without any filter, as a query would that forgot it."""
    connection = view._use.snapshot().connection
    return {table: connection.rows(f"SELECT * FROM {table}") for table in sorted(POLICIES)}


def test_a_query_that_forgets_the_filter_leaks_nothing(own: Store) -> None:
    fill_for_two(own)
    with own.view(OWNER) as view:
        everything = select_all(view)
    assert everything.pop("note") == everything.pop("rule") == [], "not even the owner's view"
    assert all(everything.values()), "there is a row in every table"
    for viewer, other in ((ALICE, "bob"), (BOB, "alice")):
        with own.view(viewer) as view:
            seen = select_all(view)
        assert seen.pop("note") == seen.pop("rule") == [], "no view reads them"
        assert all(seen.values()), "what they may read is there"
        assert all(len(seen[table]) < len(everything[table]) for table in seen)
        assert other not in repr(seen["record"]) + repr(seen["chunk"]) + repr(seen["link"])
        assert other not in repr(seen["event"]), "not even what others did with their documents"
        assert other not in repr(seen["stamp"]), "not even the paths of their files"
    assert own.check() == []


def test_every_table_has_a_policy_or_a_reason_why_not(own: Any) -> None:
    with own._server.read_all() as connection:
        tables = connection.rows(
            "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity AND EXISTS "
            "(SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid) FROM pg_class c "
            "WHERE c.relnamespace = 'quire'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')"
        )
    assert {name for name, secured in tables if secured} == POLICIES.keys()
    assert {name for name, secured in tables if not secured} == WITHOUT_CONTENT.keys()
    assert all(WITHOUT_CONTENT.values())
    guide = (Path(__file__).parents[2] / "docs" / "postgres.md").read_text("utf-8")
    section = guide.partition("## Row-level security")[2].partition("\n## ")[0]
    assert all(f"`{table}`" in section for table in POLICIES)


def test_policies_reach_stores_that_were_made_before(
    server: Server, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = server.create(user)
    url = server.url(name, user)
    store: Any = open_store(url)
    fill_for_two(store)
    store.close()
    go_back(server, name, 2)
    with monkeypatch.context() as before:
        before.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:2])
        store = open_store(url)
        with store.view(ALICE) as view:
            assert "bob/plan" in repr(select_all(view)["stamp"]), "what was to be mended"
        store.close()
    store = open_store(url)
    with store.view(ALICE) as view:
        seen = select_all(view)
    assert [row[1] for row in seen["stamp"]] == ["alice/plan"]
    assert seen["note"] == seen["rule"] == []
    assert store.note("imported") == "alice/folder and bob/folder"
    assert store.stamps().keys() == {"alice/plan", "bob/plan"}
    assert store.rules()["command"] == (AccessRule("alice/**", ("user:alice",)),)
    with store._server.read_transaction() as connection:
        connection.restrict(BOB, ())
        assert connection.rows("SELECT * FROM stamp") == [], "without a class"
    store.close()


def test_a_view_whose_filter_is_removed_on_purpose(
    own: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_for_two(own)
    started = SqlView.__init__

    def unfiltered(view: SqlView, snapshot: Any, *rest: Any) -> None:
        started(view, snapshot, *rest)
        numbers = snapshot.connection.rows("SELECT id FROM class")
        view._classes = ",".join(str(number) for (number,) in numbers)

    monkeypatch.setattr(SqlView, "__init__", unfiltered)
    with own.view(ALICE) as view:
        assert [record.id for record in view.listing()] == ["alice1", "alice2"]
        assert view.records(["bob1"]) == []
        assert view.chunks_of("bob1") == []
        assert view.links(["bob1"]) == []
        assert dict(view.outlines(["bob1"])) == {}
        assert {event.actor for event in view.events()} == {"alice"}
        assert all(isinstance(use, Mention) for use in view.definitions(["alpha"]))
        assert "bob" not in repr(view.facets(9))


def test_without_a_viewer_nothing_is_seen(own: Any) -> None:
    fill_for_two(own)
    with own._server.read_transaction() as connection:
        connection.restrict(BOB, ())
        assert connection.rows("SELECT * FROM record") == []


def test_views_cannot_write(own: Any) -> None:
    fill_for_two(own)

    def write() -> None:
        with own._server.read_transaction() as connection:
            connection.restrict(OWNER, ())
            connection.execute("DELETE FROM rule")

    with pytest.raises(StoreError, match="takes no writes"):
        write()


def test_a_search_of_many_words_takes_few_round_trips(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, document("a", "alpha beta gamma"), document("b", "beta", "running"))
    fill(store, document("c", "alpha running"))
    with store.view(OWNER) as view:
        view.lexical("omega", 9)  # which looks up the languages, too
    sent: list[str] = []
    begun: list[object] = []
    execute, begin = Connection.execute, Connections._begin_reading

    def logged(self: Connection, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
        sent.append(sql)
        return execute(self, sql, *bindings)

    def counted(self: Connections, connection: Connection) -> None:
        begun.append(connection)
        begin(self, connection)

    monkeypatch.setattr(Connection, "execute", logged)
    monkeypatch.setattr(Connections, "_begin_reading", counted)
    for again in (False, True):
        sent.clear()
        with store.view(OWNER) as view:
            assert len(view.lexical("alpha beta gamma running", 9).hits) == 4
            assert not view.definitions(["alpha", "beta", "gamma"])
        assert sum(" posting " in sql for sql in sent) == (0 if again else 1)
        assert sum(" mention " in sql for sql in sent) == 1
    begun.clear()
    store.note("a"), store.stamps(), store.model(), store.rules(), store.groups(), store.spaces()
    assert not begun, "one query needs no transaction"


# --- several nodes -------------------------------------------------------------------------------


def test_nodes_follow_the_commits_of_each_other(database: str) -> None:
    one, other = open_store(database), open_store(database)
    for number in range(6):
        fill(one, document(f"a{number}", "alpha"), embed=True)
        fill(other, document(f"b{number}", "alpha"), embed=True)
        for each in (one, other):
            with each.view(OWNER) as view:
                assert len(view.lexical("alpha", 99).hits) == 2 * number + 2
                assert len(view.semantic(bytes(8), 99).hits) == 2 * number + 2
    assert root(one) == root(other)
    one.close()
    other.close()


def test_a_space_has_one_writer_and_others_go_on(database: str) -> None:
    one, hasty = open_store(database), open_store(database, wait=0.1)
    with one.write() as writer:
        document_a = document("a", "alpha")
        writer.put(document_a.record, document_a.chunks)
        with pytest.raises(StoreBusyError, match="writing to this space"), hasty.write():
            pass
        fill(hasty, document("b", "beta"), space="other")
    fill(hasty, document("c", "gamma"))
    with one.view(OWNER) as view:
        assert [record.id for record in view.listing()] == ["a", "c"]
    one.close()
    hasty.close()


def test_two_nodes_that_write_at_the_same_time_lose_nothing(database: str) -> None:
    stores = [open_store(database) for _ in range(2)]
    errors: list[QuireError] = []

    def write(number: int) -> None:
        try:
            for each in range(8):
                fill(stores[number], document(f"{number}-{each}", f"alpha {each}"))
        except QuireError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    with stores[0].view(OWNER) as view:
        assert view.status().records == 16
    assert stores[1].check() == []
    for each in stores:
        each.close()


# --- faults --------------------------------------------------------------------------------------

CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'quire'"


def test_a_connection_that_is_cut_inside_a_transaction(store: Store, server: Server) -> None:
    fill(store, document("a", "alpha"))
    before = root(store)

    def write() -> None:
        with store.write() as writer:
            put(writer, document("b", "beta"))
            server.run(CUT)
            put(writer, document("c", "gamma"))

    def read() -> None:
        with store.view(OWNER) as view:
            server.run(CUT)
            view.records(["a"])

    with pytest.raises(StoreError, match="connection to the server was lost") as lost:
        write()
    assert "run the same command again" in str(lost.value)
    assert root(store) == before, "it goes on by itself, and nothing of it was kept"
    with pytest.raises(StoreError, match="connection to the server was lost"):
        read()
    fill(store, document("b", "beta"))
    assert store.check() == []


def test_a_server_that_is_killed_and_started_again(store: Store, server: Server) -> None:
    kept: list[str] = []
    failed = threading.Event()
    go_on = threading.Event()
    errors: list[QuireError] = []

    def index() -> None:
        number = 0
        while not go_on.is_set():
            name = f"d{number:04}"
            try:
                fill(store, document(name, "alpha"), embed=True)
            except QuireError as error:
                errors.append(error)
                failed.set()
                return
            kept.append(name)
            number += 1

    def read() -> None:
        with store.view(OWNER) as view:
            server.kill()
            for _ in range(1000):
                view.chunks_of(kept[0])

    writing = threading.Thread(target=index)
    writing.start()
    while len(kept) < 5:
        failed.wait(0.01)
    with pytest.raises(StoreError):
        read()
    assert failed.wait(30)
    writing.join()
    assert all(isinstance(error, StoreError) for error in errors), errors
    assert "server" in str(errors[0]) or "connection" in str(errors[0])
    server.start()
    with store.view(OWNER) as view:
        stored = {record.id for record in view.listing()}
    assert set(kept) <= stored, "what was acknowledged is there"
    assert store.check() == []
    fill(store, document("after", "beta"))


# --- opening -------------------------------------------------------------------------------------


def refused(url: str, kind: type[Exception], *, create: bool = True) -> str:
    """Return what is said of a store that cannot be opened; never a password."""
    with pytest.raises(kind) as error:
        open_store(url, create=create)
    said = f"{error.value} {error.value!r} {error.value.__dict__}"
    assert PASSWORD not in said
    return str(error.value)


def test_what_cannot_be_opened(server: Server) -> None:
    login = f"postgresql://quire_test:{PASSWORD}@"
    assert "no PostgreSQL server answers" in refused(f"{login}127.0.0.1:1/x", StoreError)
    socket = server.url("x").partition("?")[2]
    assert "no such database" in refused(f"{login}/missing?{socket}", StoreError)
    nobody = f"postgresql://nobody:{PASSWORD}@/postgres?{socket}"
    assert "refused the user" in refused(nobody, StoreError)
    assert "not a URL" in refused(f"{login}h/x?unknown=1", InputError)
    assert "not a URL" in refused(f"{login}[::/x", InputError)
    assert "parameter in the URL" in refused(f"{login}/x?{socket}&sslmode=no", StoreError)
    assert "not a URL" in refused(f"{login}127.0.0.1:abc/x", InputError)
    assert "not a URL" in refused(f"{login}127.0.0.1:1,127.0.0.1:99999/x", InputError)
    assert "name of its host is not known" in refused(f"{login}no-such-host.invalid/x", StoreError)
    latin = "ENCODING latin1 LOCALE 'C' TEMPLATE template0"
    server.run(f"CREATE DATABASE old {latin} OWNER quire_test")
    assert "UTF8" in refused(f"{login}/old?{socket}", StoreError)


def test_a_server_that_is_too_old(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "MIN_VERSION", 99)
    said = refused(server.url(server.create()), StoreError)
    assert "Quire needs 99 or later" in said
    assert "upgrade the server" in said


def test_what_a_server_refuses_is_told_in_its_words(server: Server) -> None:
    name = server.create("postgres")
    login = f"postgresql://quire_test:{PASSWORD}@"
    url = f"{login}/{name}?{server.url('x').partition('?')[2]}"
    server.run(f"REVOKE CONNECT ON DATABASE {name} FROM public")
    assert f'permission denied for database "{name}"' in refused(url, StoreError)
    server.run(f"GRANT CONNECT ON DATABASE {name} TO public")
    with server.authentication("reject"):
        assert "pg_hba.conf" in refused(url, StoreError)
    server.run("ALTER ROLE quire_test NOLOGIN")
    assert "refused the user" in refused(url, StoreError)
    server.run("ALTER ROLE quire_test LOGIN CONNECTION LIMIT 0")
    assert "no connection left" in refused(url, StoreBusyError)
    server.run("ALTER ROLE quire_test CONNECTION LIMIT -1")


@pytest.mark.parametrize(
    ("answer", "sslmode", "told"),
    [
        (b"N", "require", "cannot be made secure"),
        (b"HTTP/1.1 400 Bad Request", "prefer", "no PostgreSQL server answers"),
        (b"HTTP/1.1 400 Bad Request", "disable", "no PostgreSQL server answers"),
        (b"", "disable", "no PostgreSQL server answers"),
        (b"E\0\0\0\x1eSFATAL\0Mkein Zutritt heute\0\0", "disable", "(kein Zutritt heute)"),
    ],
)
def test_who_answers_is_no_server_or_refuses(answer: bytes, sslmode: str, told: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):  # it is closed at the end
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        connection.recv(999)
                        connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        port = listening.getsockname()[1]
        url = f"postgresql://u:{PASSWORD}@127.0.0.1:{port}/x?sslmode={sslmode}"
        assert told in refused(url, StoreError)


LOST = """
import sys
from quire.store import open_store
from quire.errors import QuireError
store = open_store(sys.argv[1])
try:
    with store._server.write_transaction("main") as connection:
        number = connection.row("SELECT pg_backend_pid()")[0]
        with store._server.maintenance() as other:
            other.execute("SELECT pg_terminate_backend(?::int)", (number,))
        connection.executemany("INSERT INTO note VALUES (?, ?, ?)", [(1, "a", "b")] * 900)
except QuireError as error:
    print(error.message)
"""


def test_the_driver_does_not_write_beside_the_error(database: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST, database], capture_output=True, text=True, check=True
    )
    assert "connection to the server was lost" in done.stdout
    assert done.stderr == ""


def test_a_wrong_password(server: Server) -> None:
    name = server.create()
    with server.authentication("scram-sha-256"):
        url = server.url(name).replace("quire_test@", f"quire_test:{PASSWORD}@")
        open_store(url).close()
        wrong = url.replace(PASSWORD, "hunter22")
        assert "refused the user" in refused(wrong, StoreError)


def test_what_is_not_a_store_or_is_of_tomorrow(server: Server) -> None:
    name = server.create()
    url = server.url(name)
    assert "create one with `quire index`" in refused(url, NoStoreError, create=False)
    server.run("CREATE SCHEMA quire; CREATE TABLE quire.accounts (id int)", database=name)
    server.run("GRANT ALL ON SCHEMA quire TO quire_test", database=name)
    assert "not a Quire store" in refused(url, StoreDamagedError)
    server.run("DROP SCHEMA quire CASCADE", database=name)
    open_store(url).close()
    server.run("UPDATE quire.format SET version = 99", database=name)
    assert "upgrade Quire" in refused(url, StoreVersionError)


def test_tables_that_are_gone_or_of_another_version_are_named(server: Server) -> None:
    name = server.create()
    url = server.url(name)
    store = open_store(url)
    fill(store, document("a", "alpha"))
    server.run("DROP TABLE quire.posting", database=name)
    with store.view(OWNER) as view:
        for _ in range(2):  # the server says of what comes after an error only that it is over
            with pytest.raises(StoreDamagedError, match='relation "posting" does not exist'):
                view.lexical("alpha", 9)
    store.close()
    server.run("UPDATE quire.format SET version = 0", database=name)
    assert "not a Quire store any more" in refused(url, StoreDamagedError)


def test_many_open_a_new_database_at_once(server: Server) -> None:
    url = server.url(server.create())
    errors: list[QuireError] = []

    def start(number: int) -> None:
        try:
            opened = open_store(url)
            fill(opened, document(f"d{number}", "alpha"))
            opened.close()
        except QuireError as error:
            errors.append(error)

    threads = [threading.Thread(target=start, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    opened = open_store(url)
    with opened.view(OWNER) as view:
        assert view.status().records == 4
    opened.close()


def test_a_path_that_no_index_can_hold(store: Store) -> None:
    random = Random(1)
    long = "".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=9000))
    with pytest.raises(InputError, match="too long"):
        fill(store, document(long, "alpha"))
    fill(store, document("a", "alpha"))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:hunter2@h:5/d?sslmode=require", "postgresql://u@h:5/d?sslmode=require"),
        ("postgres://u:hun:ter2@h/d?password=hunter2", "postgresql://u@h/d"),
        ("postgresql:///d?user=u&password=hunter2&host=/tmp", "postgresql:///d?user=u&host=/tmp"),
        ("postgresql://u:hunter2@[::/d", "postgresql://..."),
        ("postgresql://u:hunter2#3@h/d", "postgresql://u@h/d"),
        ("postgresql://u:hunter2?3@h/d", "postgresql://u@h/d"),
        ("postgresql://u:4@hunter2@h/d", "postgresql://u@h/d"),
        ("postgresql://h?password=hunter2@i/d", "postgresql://...@i/d"),
        ("postgresql://h1:1,h2:2/d", "postgresql://h1:1,h2:2/d"),
    ],
)
def test_a_name_without_the_password(url: str, shown: str) -> None:
    assert public_name(url) == shown
