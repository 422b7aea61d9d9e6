"""Takes a store in PostgreSQL back to an older format, with its content."""

from __future__ import annotations

from .postgresql import Server

_BY_NUMBER = "".join(
    f"ALTER POLICY readable ON {table} USING "
    "((SELECT current_setting('quire.classes', true)) = '*' "
    f"OR EXISTS (SELECT 1 FROM record r WHERE r.number = {table}.record));"
    for table in ("chunk", "outline", "value", "mention")
)

UNDO = {
    4: _BY_NUMBER
    + """
    ALTER TABLE outline DROP CONSTRAINT outline_pkey, DROP COLUMN space, ADD PRIMARY KEY (record);
    ALTER TABLE class DROP CONSTRAINT class_pkey, ADD PRIMARY KEY (id, space);
    ALTER TABLE kind DROP CONSTRAINT kind_pkey, ADD PRIMARY KEY (id, space);
    ALTER TABLE record DROP CONSTRAINT record_pkey, ADD PRIMARY KEY (number, space);
    ALTER TABLE chunk DROP CONSTRAINT chunk_pkey, ADD PRIMARY KEY (key, space);
    DROP INDEX chunk_record;
    CREATE INDEX chunk_record ON chunk (record, sequence);
    DROP INDEX mention_record;
    CREATE INDEX mention_record ON mention (record);
    """,
    3: "".join(
        f"DROP POLICY readable ON {table};"
        f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY;"
        for table in ("stamp", "note", "rule")
    ),
}
"""What each migration changed, the other way round."""


def go_back(server: Server, database: str, version: int) -> None:
    """Give a store the tables that it had in a former format."""
    for each in sorted(UNDO, reverse=True):
        if each > version:
            server.run(f"SET search_path = quire; {UNDO[each]}", database=database)
    server.run(f"UPDATE quire.format SET version = {version}", database=database)
