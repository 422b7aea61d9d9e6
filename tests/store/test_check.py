"""Checks find damage, and repair what can be derived again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER, AccessRule, Entity, Event, Outline, Problem, Reference, Stamp
from quire.errors import QuireError, StoreDamagedError
from quire.store import open_store
from quire.store.sqlite.page_checksums import CHECKED

from .answers import Questions, answers_by_viewer
from .samples import MODEL, document, fill, put, vectors_of

OUTLINE = Outline(
    (Entity("module", "alpha", "alpha", 0, 15, (1, 2)),), (Reference("beta", "call", 0),)
)
DOCUMENTS = [
    document("a", "alpha beta", "gamma", links=[("b", "link")], kind="code", outline=OUTLINE),
    document("b", "alpha", acl=("bob",), title="Alpha"),
    document("c", "the cafe", acl=("alice", "@ops"), links=[("a", "link")]),
    document("d", "検索 fooBar 42"),
]
QUESTIONS = Questions(
    records=("a", "b", "c", "d"),
    chunks=tuple(chunk.id for each in DOCUMENTS for chunk in each.chunks),
)


@pytest.fixture
def path(quick_path: Path) -> Path:
    return quick_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """A store with some history, so that there are several segments and rows that are gone."""
    opened = open_store(path)
    fill(opened, document("old", "gone"), *DOCUMENTS[:2], embed=True)
    fill(opened, *DOCUMENTS[2:], embed=True)
    with opened.write() as writer:
        writer.remove(["old"])
        writer.put_events([Event("alice", "view", "a", 1)])
        writer.set_rules("config", [AccessRule("d.md", ("carol",))])
        writer.set_groups("command", {"ops": ["bob"]})
        writer.stamp([Stamp("a.md", 1, 1, "x", "a"), Stamp("d.md", 1, 1, "x", "d")])
    fill(opened, *DOCUMENTS[:1], space="other", embed=True)
    assert opened.check() == []
    yield opened
    opened.close()


def damage(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path), vfs=CHECKED)
    for statement in statements:
        connection.execute(statement)
        assert connection.total_changes(), f"no damage was done by {statement}"
    connection.close()


FIRST = "(SELECT id FROM space WHERE name = 'main')"

ONE_LEAF = f"space = {FIRST} AND key = (SELECT min(key) FROM leaf WHERE space = {FIRST})"

# What follows from the records: found, made again, and all is as it was.
DERIVED: dict[str, tuple[str, set[str]]] = {
    "a posting list gone": ("DELETE FROM posting WHERE word = 'alpha'", {"words"}),
    "a posting list altered": (
        "UPDATE posting SET rows = x'000301' WHERE word = 'alpha'",
        {"words"},
    ),
    "a posting list that is none": ("UPDATE posting SET rows = x'09'", {"words"}),
    "a posting list that is empty": ("UPDATE posting SET rows = x''", {"words"}),
    "a word too many": (
        (
            "INSERT INTO posting SELECT space, max(id), 'zzz', x'000101' FROM segment "
            f"WHERE space = {FIRST}"
        ),
        {"words"},
    ),
    "a posting list of far rows": (
        "UPDATE posting SET rows = x'02ffffff0001' WHERE word = 'alpha'",
        {"words"},
    ),
    "a segment gone": ("DELETE FROM segment WHERE id = (SELECT min(id) FROM segment)", {"words"}),
    "all segments gone": ("DELETE FROM segment", {"words"}),
    "a segment without rows": ("UPDATE segment SET rows = x''", {"words"}),
    "a segment of other rows": ("UPDATE segment SET rows = x'02000000'", {"words"}),
    "a segment of far rows": ("UPDATE segment SET rows = x'ffffff7f'", {"words"}),
    "a segment of half a row": ("UPDATE segment SET rows = x'0000'", {"words"}),
    "rows altered": (
        "UPDATE row_block SET data = CAST(x'07' || substr(data, 2) AS BLOB)",
        {"rows"},
    ),
    "rows cut off": ("UPDATE row_block SET data = substr(data, 1, 7)", {"rows"}),
    "rows gone": ("DELETE FROM row_block", {"rows"}),
    "too many rows": ("UPDATE row_block SET data = CAST(data || data AS BLOB)", {"rows"}),
    "a leaf altered": (f"UPDATE leaf SET content = zeroblob(32) WHERE {ONE_LEAF}", {"leaf"}),
    "a leaf gone": (f"DELETE FROM leaf WHERE {ONE_LEAF}", {"leaf"}),
    "a leaf too many": (
        "INSERT INTO leaf SELECT space, class, randomblob(16), content, NULL FROM leaf LIMIT 1",
        {"leaf"},
    ),
    "a vector's leaf altered": (
        "UPDATE leaf SET vector = zeroblob(32) WHERE vector IS NOT NULL",
        {"leaf"},
    ),
    "a bucket altered": ("UPDATE bucket SET content = zeroblob(32)", {"bucket"}),
    "a node altered": ("UPDATE node SET vector = randomblob(32)", {"node"}),
    "a node gone": ("DELETE FROM node", {"node"}),
    "a root altered": ("UPDATE root SET content = randomblob(32)", {"root"}),
    "a root gone": ("DELETE FROM root", {"root"}),
    "a name gone": ("DELETE FROM mention WHERE name = 'alpha'", {"names"}),
    "a name too many": ("UPDATE mention SET name = 'other' WHERE name = 'alpha'", {"names"}),
    "a record's class altered": (
        "UPDATE record SET class = (SELECT class FROM record WHERE id = 'd') WHERE id = 'b'",
        {"access"},
    ),
    "all made public": (
        (
            "UPDATE record SET class = (SELECT id FROM class WHERE acl = '[\"public\"]' "
            "AND class.space = record.space)"
        ),
        {"access"},
    ),
}


@pytest.mark.parametrize("name", DERIVED)
def test_what_is_derived_is_made_again(store: Store, path: Path, name: str) -> None:
    statement, expected = DERIVED[name]
    before = answers_by_viewer(store, QUESTIONS), answers_by_viewer(store, QUESTIONS, space="other")
    damage(path, statement)
    problems_found = store.check()
    assert expected <= {problem.check for problem in problems_found}, problems_found
    assert not any(problem.repaired for problem in problems_found)
    assert store.check() == problems_found, "checking alone repairs nothing"
    repaired = store.check(repair=True)
    assert [problem.check for problem in repaired] == [problem.check for problem in problems_found]
    assert all(problem.repaired for problem in repaired)
    assert store.check() == []
    assert (
        answers_by_viewer(store, QUESTIONS),
        answers_by_viewer(store, QUESTIONS, space="other"),
    ) == before
    fill(store, document("e", "new words"), DOCUMENTS[0], embed=True)
    assert store.check() == []


@pytest.mark.parametrize("name", DERIVED)
def test_what_is_derived_and_damaged_never_fails_but_with_words(
    store: Store, path: Path, name: str
) -> None:
    damage(path, DERIVED[name][0])
    again = open_store(path)
    try:
        answers_by_viewer(again, QUESTIONS)
        fill(again, document("e", "new words"), embed=True)
        again.merge()
    except QuireError as error:
        assert isinstance(error, StoreDamagedError)  # noqa: PT017 - it may also go well
    again.close()


def problems(problems_found: list[Problem]) -> set[str]:
    return {problem.check for problem in problems_found}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE chunk SET text = 'forged' WHERE text = 'gamma'",
        "UPDATE chunk SET title = 'forged' WHERE text = 'gamma'",
        "UPDATE chunk SET sequence = 7 WHERE text = 'gamma'",
        "UPDATE chunk SET id = zeroblob(16) WHERE text = 'gamma' AND space = 1",
        "UPDATE chunk SET vector_key = zeroblob(16) WHERE text = 'gamma'",
    ],
)
def test_a_text_that_was_altered_is_taken_out_to_be_read_again(
    store: Store, path: Path, statement: str
) -> None:
    before = answers_by_viewer(store, QUESTIONS)
    damage(path, statement)
    assert "text" in problems(store.check())
    problems_found = store.check(repair=True)
    assert any("a.md" in problem.detail and "index" in problem.detail for problem in problems_found)
    assert store.check() == []
    assert list(store.stamps()) == ["d.md"], "without a stamp the file is read again"
    with store.view(OWNER) as view:
        assert [record.id for record in view.listing()] == ["b", "c", "d"]
        assert view.lexical("forged", 9).hits == ()
    with store.write() as writer:
        put(writer, DOCUMENTS[0])
        writer.put_vectors(MODEL, vectors_of(DOCUMENTS))
        writer.put_events([Event("alice", "view", "a", 1)])
    assert answers_by_viewer(store, QUESTIONS) == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vector_block SET vectors = zeroblob(length(vectors))",
        "UPDATE vector_block SET vectors = substr(vectors, 1, 5)",
        "UPDATE vector_block SET codes = zeroblob(length(codes))",
        "UPDATE vector_block SET codes = x'0102'",
        "UPDATE vector_block SET vectors = CAST(vectors || vectors AS BLOB)",
        "DELETE FROM vector_block",
        "UPDATE vector_slot SET hash = zeroblob(32)",
        "UPDATE vector_slot SET slot = slot + 1",
        "DELETE FROM vector_slot WHERE slot = 1",
    ],
)
def test_vectors_that_were_altered_are_dropped_to_be_made_again(
    store: Store, path: Path, statement: str
) -> None:
    before = answers_by_viewer(store, QUESTIONS)
    damage(path, statement)
    assert "vectors" in problems(store.check())
    problems_found = store.check(repair=True)
    assert any("embed" in problem.detail for problem in problems_found)
    assert store.check() == []
    assert store.model() is None
    with store.write() as writer:
        writer.put_vectors(MODEL, vectors_of(DOCUMENTS))
    assert answers_by_viewer(store, QUESTIONS) == before


@pytest.mark.parametrize("body", ["x''", "x'789c'", "zeroblob(90)"])
def test_an_outline_that_cannot_be_read_goes_with_its_record(
    store: Store, path: Path, body: str
) -> None:
    before = answers_by_viewer(store, QUESTIONS)
    damage(path, f"UPDATE outline SET body = {body}")
    with store.view(OWNER) as view, pytest.raises(StoreDamagedError):
        _ = view.outlines(["a"])["a"]
    assert "outlines" in problems(store.check())
    problems_found = store.check(repair=True)
    assert any("a.md" in problem.detail and "index" in problem.detail for problem in problems_found)
    assert store.check() == []
    with store.write() as writer:
        put(writer, DOCUMENTS[0])
        writer.put_vectors(MODEL, vectors_of(DOCUMENTS))
        writer.put_events([Event("alice", "view", "a", 1)])
    assert answers_by_viewer(store, QUESTIONS) == before


def test_what_belongs_to_no_record_is_taken_out(store: Store, path: Path) -> None:
    damage(path, "DELETE FROM record WHERE id = 'a'")
    assert "records" in problems(store.check())
    store.check(repair=True)
    assert store.check() == []
    fill(store, DOCUMENTS[0])
    fill(store, DOCUMENTS[0], space="other")
    assert store.check() == []
    with store.view(OWNER) as view:
        assert view.chunks_of("a") == list(DOCUMENTS[0].chunks)


def test_a_record_that_was_altered_is_found(store: Store, path: Path) -> None:
    for statement in (
        "UPDATE record SET title = 'forged' WHERE id = 'd'",
        "UPDATE record SET own_acl = '[\"user:mallory\"]' WHERE id = 'b'",
        "UPDATE chunk SET start = 7 WHERE text = 'gamma'",
        "UPDATE link SET kind = 'forged'",
        "UPDATE event SET at = 9",
        "DELETE FROM rule",
    ):
        damage(path, statement)
        assert "leaf" in problems(store.check()), statement
        store.check(repair=True)
        assert store.check() == []


def test_a_file_that_sqlite_finds_broken_is_told(store: Store, path: Path) -> None:
    fill(store, *(document(f"x{number}", f"filler {number} " * 40) for number in range(200)))
    store.close()
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    for page in range(len(data) // size // 2, len(data) // size, 3):
        data[page * size : page * size + 64] = bytes(64)
    path.write_bytes(data)
    again = open_store(path)
    (found,) = again.check()
    assert (found.check, found.repaired) == ("file", False)
    assert "is not as it was written" in found.detail
    repaired = again.check(repair=True)
    assert repaired[0].repaired or problems(repaired) == {"access"}
    assert repaired[0].repaired == (again.check() == [])
    assert not path.with_name("store.db-recovered").exists()
    again.close()
