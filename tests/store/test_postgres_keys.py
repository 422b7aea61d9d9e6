"""PostgreSQL: the space leads every key, and every statement names it (`test_contract`)."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from quire.core.types import OWNER, Outline
from quire.store import open_store
from quire.store.postgres import schema

from .answers import answers_by_viewer, stored_settings
from .older_postgres import go_back
from .postgresql import Server
from .reference import ReferenceStore
from .samples import document
from .statements import tables_without_space
from .test_histories import READERS
from .worlds import SPACES, any_history, any_outline, questions

GUIDE = (Path(__file__).parents[2] / "docs" / "postgres.md").read_text("utf-8")

KEYS = """
    SELECT t.relname, i.relname, array_agg(coalesce(a.attname, '(expression)') ORDER BY k.place)
    FROM pg_index x
    JOIN pg_class t ON t.oid = x.indrelid
    JOIN pg_class i ON i.oid = x.indexrelid
    CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k(number, place)
    LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
    WHERE t.relnamespace = 'quire'::regnamespace GROUP BY t.relname, i.relname
"""
TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'quire'::regnamespace AND relkind = 'r'"
DEFINITIONS = """
    SELECT 'index', indexname::text, indexdef FROM pg_indexes WHERE schemaname = 'quire'
    UNION ALL SELECT 'policy', tablename::text, qual FROM pg_policies WHERE schemaname = 'quire'
    UNION ALL SELECT 'column', table_name || '.' || column_name, data_type || is_nullable
    FROM information_schema.columns WHERE table_schema = 'quire' ORDER BY 1, 2, 3
"""


# --- the tables ----------------------------------------------------------------------------------


def test_the_space_leads_every_key(server: Server) -> None:
    name = server.create()
    open_store(server.url(name)).close()
    tables = {table for (table,) in server.run(TABLES, database=name)}
    keys = server.run(KEYS, database=name)
    assert {table for table, _, _ in keys} >= tables - schema.WITHOUT_SPACE.keys()
    assert [
        key for key in keys if key[0] not in schema.WITHOUT_SPACE and key[2][0] != "space"
    ] == []
    assert tables >= schema.WITHOUT_SPACE.keys()
    assert all(schema.WITHOUT_SPACE.values())


def test_the_guide_distributes_every_table() -> None:
    section = GUIDE.partition("## Citus")[2].partition("\n## ")[0]
    tables = {*schema.POLICIES, *schema.WITHOUT_CONTENT}
    distributed = re.findall(r"create_distributed_table\('quire\.(\w+)', 'space'", section)
    assert sorted(distributed) == sorted(tables - schema.WITHOUT_SPACE.keys())
    assert re.findall(r"create_reference_table\('quire\.(\w+)'", section) == ["space"]
    dropped = re.findall(r"DROP POLICY readable ON quire\.(\w+)", section)
    assert sorted(dropped) == sorted(schema.POLICIES)
    assert "None of this was tried" in section


# --- stores of before ----------------------------------------------------------------------------


@pytest.mark.parametrize("user", ["quire_test", "postgres"])
@pytest.mark.parametrize("version", [2, 3])
def test_a_store_of_before_gets_the_keys(server: Server, user: str, version: int) -> None:
    old, new = server.create(user), server.create(user)
    url = server.url(old, user)
    open_store(server.url(new, user)).close()
    reference, store = ReferenceStore(), open_store(url)
    for step in any_history(Random(2)):
        step(reference)
        step(store)
    for space in SPACES:
        with store.write(space) as writer:
            each = document(f"in {space}", outline=Outline(any_outline(Random(1)).entities, ()))
            writer.put(each.record, each.chunks, each.links, each.outline)
    asked = questions(reference)
    before = {space: answers_by_viewer(store, asked, READERS, space) for space in SPACES}
    settings = {space: stored_settings(store, space) for space in SPACES}
    store.close()
    go_back(server, old, version)
    server.run("INSERT INTO quire.outline (record, body) VALUES (999999, '')", database=old)
    assert server.run(DEFINITIONS, database=old) != server.run(DEFINITIONS, database=new)

    store = open_store(url)
    assert server.run(DEFINITIONS, database=old) == server.run(DEFINITIONS, database=new)
    for space in SPACES:
        assert answers_by_viewer(store, asked, READERS, space) == before[space]
        assert stored_settings(store, space) == settings[space]
        with store.view(OWNER, space) as view:
            assert view.outlines([f"in {space}"]), "the body of an outline is kept"
    assert store.check() == [], "what belonged to no record is gone"
    store.close()


# --- statements ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "missing"),
    [
        (
            "SELECT 1 FROM chunk c JOIN record r ON r.number = c.record WHERE c.space = $1",
            ["record"],
        ),
        ("SELECT 1 FROM chunk c JOIN kind k ON k.space = c.space AND k.id = c.kind", []),
        ("DELETE FROM record WHERE number = $1", ["record"]),
        ("DELETE FROM record WHERE space = $1 AND number = $2", []),
        ("INSERT INTO outline (record, body) VALUES ($1, $2)", ["outline"]),
        ("INSERT INTO outline (space, record, body) VALUES ($1, $2, $3)", []),
    ],
)
def test_what_counts_as_named(sql: str, missing: list[str]) -> None:
    assert tables_without_space(sql) == missing
