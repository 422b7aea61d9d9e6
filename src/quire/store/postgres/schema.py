"""The tables in PostgreSQL, their migrations, and the policies of row-level security.

They are the tables of `quire.store.sqlite.schema`, with the same columns; `outline` has the space,
too. Every key and index of what a space holds begins with the space, so that a cluster can
spread the tables by it. Texts are in the order of their bytes (`COLLATE "C"`), like those of
SQLite. Where a text may be too long for an index (8 kB pages hold 2.7 kB of a key), the index is on
its hash.

Migrations are append-only: one that has been released is never edited.
"""

from __future__ import annotations

import psycopg

from quire.errors import NoStoreError, StoreDamagedError, StoreError, StoreVersionError
from quire.store.postgres.database import READER, SEE_ALL, Connection, Raw

SCHEMA = "quire"
MIN_VERSION = 14
"""The oldest release of PostgreSQL that is supported."""
MIGRATION_LOCK = 0x5175_6972
"""The advisory lock of whoever creates or upgrades the tables."""

SEARCHED = ("record", "chunk", "leaf", "link", "mention", "value", "posting", "vector_slot")
"""Tables that statements join, so that the planner must know how large they are."""

_ALL = "(SELECT current_setting('quire.classes', true)) = '*'"
_CLASSES = (
    "((SELECT string_to_array(nullif(nullif(current_setting('quire.classes', true), '*'), ''), "
    "','))::bigint[])"
)
_BY_RECORD = (
    "EXISTS (SELECT 1 FROM record r WHERE r.space = {table}.space AND r.number = {table}.record)"
)
_NUMBERED = ("chunk", "outline", "value", "mention")
POLICIES = {
    "record": f"class = ANY ({_CLASSES})",
    **{table: _BY_RECORD.format(table=table) for table in _NUMBERED},
    "link": "EXISTS (SELECT 1 FROM record r WHERE r.space = link.space AND r.id = link.source) "
    "AND EXISTS (SELECT 1 FROM record r WHERE r.space = link.space AND r.id = link.target)",
    "event": "(SELECT current_setting('quire.actor', true)) IN ('*', actor) AND EXISTS "
    "(SELECT 1 FROM record r WHERE r.space = event.space AND r.id = event.record)",
    "stamp": "EXISTS (SELECT 1 FROM record r WHERE r.space = stamp.space AND r.id = stamp.record)",
    "note": "false",
    "rule": "false",
}
"""Which rows of a table a view may see, by the classes and the name of its viewer.

Notes and rules name folders and globs of files, which no view reads.
"""

WITHOUT_CONTENT = {
    "format": "one number",
    "space": "names of spaces, counts, the model",
    "class": "who may read: a view finds its own classes there before it is restricted",
    "member": "who is in which group: a view finds its own groups there before it is restricted",
    "kind": "kinds of chunks",
    "posting": "single words, without their order; the process masks their rows",
    "segment": "numbers of rows",
    "row_block": "numbers; the process masks its rows",
    "vector_slot": "hashes and numbers",
    "vector_block": "vectors; the process masks them",
    "vector_waiting": "hashes and vectors",
    "leaf": "hashes",
    "bucket": "hashes",
    "node": "hashes",
    "root": "hashes",
}
"""Why a table needs no policy: it holds no text of a document and no path."""

WITHOUT_SPACE = {
    "format": "one number for the whole store",
    "space": "one row for each space, with its number and counts",
}
"""Why the space does not lead the keys of a table: it holds nothing of a space."""

_TABLES = """
    CREATE TABLE space (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name TEXT COLLATE "C" NOT NULL UNIQUE,
        generation BIGINT NOT NULL DEFAULT 0, rows BIGINT NOT NULL DEFAULT 0,
        model TEXT COLLATE "C", dims BIGINT NOT NULL DEFAULT 0, slots BIGINT NOT NULL DEFAULT 0,
        epoch BIGINT NOT NULL DEFAULT 0, analyzer TEXT COLLATE "C" NOT NULL,
        access_default TEXT COLLATE "C" NOT NULL
    );
    CREATE TABLE note (
        space BIGINT NOT NULL, key TEXT COLLATE "C" NOT NULL, value TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (space, key)
    );
    CREATE TABLE class (
        id BIGINT GENERATED ALWAYS AS IDENTITY, space BIGINT NOT NULL,
        acl TEXT COLLATE "C" NOT NULL, PRIMARY KEY (id, space)
    );
    CREATE UNIQUE INDEX class_acl ON class (space, md5(acl));
    CREATE TABLE kind (
        id BIGINT GENERATED ALWAYS AS IDENTITY, space BIGINT NOT NULL,
        name TEXT COLLATE "C" NOT NULL, PRIMARY KEY (id, space), UNIQUE (space, name)
    );
    CREATE TABLE record (
        number BIGINT GENERATED ALWAYS AS IDENTITY, space BIGINT NOT NULL,
        id TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL,
        path TEXT COLLATE "C" NOT NULL, title TEXT COLLATE "C" NOT NULL,
        parent TEXT COLLATE "C", position BIGINT NOT NULL, modified BIGINT,
        author TEXT COLLATE "C", own_acl TEXT COLLATE "C", class BIGINT NOT NULL,
        attrs TEXT COLLATE "C" NOT NULL, paths TEXT COLLATE "C" NOT NULL DEFAULT '[]',
        metadata TEXT COLLATE "C" NOT NULL DEFAULT '{}', expires BIGINT,
        origin TEXT COLLATE "C" NOT NULL DEFAULT '',
        PRIMARY KEY (number, space), UNIQUE (space, id)
    );
    CREATE INDEX record_path ON record (space, path);
    CREATE INDEX record_kind ON record (space, kind, class, modified);
    CREATE INDEX record_parent ON record (space, parent, position) WHERE parent IS NOT NULL;
    CREATE INDEX record_expires ON record (space, expires) WHERE expires IS NOT NULL;
    CREATE INDEX record_origin ON record (space, origin) WHERE origin != '';
    CREATE TABLE chunk (
        key BIGINT NOT NULL, id BYTEA NOT NULL, space BIGINT NOT NULL, record BIGINT NOT NULL,
        kind BIGINT NOT NULL, title TEXT COLLATE "C" NOT NULL, sequence BIGINT NOT NULL,
        start BIGINT NOT NULL, stop BIGINT NOT NULL, first_line BIGINT NOT NULL,
        last_line BIGINT NOT NULL, vector_key BYTEA NOT NULL, text TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (key, space), UNIQUE (space, id)
    );
    CREATE INDEX chunk_record ON chunk (record, sequence);
    CREATE INDEX chunk_vector ON chunk (space, vector_key);
    CREATE TABLE outline (record BIGINT PRIMARY KEY, body BYTEA NOT NULL);
    CREATE TABLE mention (
        space BIGINT NOT NULL, name TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL,
        record BIGINT NOT NULL, entity BIGINT NOT NULL, count BIGINT NOT NULL
    );
    CREATE INDEX mention_name ON mention (space, name);
    CREATE INDEX mention_record ON mention (record);
    CREATE TABLE value (
        space BIGINT NOT NULL, key TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL,
        value BYTEA NOT NULL, record BIGINT NOT NULL
    );
    CREATE UNIQUE INDEX value_key ON value (space, key, kind, md5(value), record);
    CREATE TABLE link (
        space BIGINT NOT NULL, source TEXT COLLATE "C" NOT NULL,
        target TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL
    );
    CREATE INDEX link_source ON link (space, source);
    CREATE INDEX link_target ON link (space, target);
    CREATE TABLE event (
        space BIGINT NOT NULL, at BIGINT NOT NULL, actor TEXT COLLATE "C" NOT NULL,
        record TEXT COLLATE "C" NOT NULL, verb TEXT COLLATE "C" NOT NULL
    );
    CREATE UNIQUE INDEX event_key ON event (space, at, actor, md5(record), md5(verb));
    CREATE INDEX event_actor ON event (space, actor, at);
    CREATE INDEX event_record ON event (space, record);
    CREATE TABLE rule (
        space BIGINT NOT NULL, origin TEXT COLLATE "C" NOT NULL, position BIGINT NOT NULL,
        glob TEXT COLLATE "C" NOT NULL, acl TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (space, origin, position)
    );
    CREATE TABLE member (
        space BIGINT NOT NULL, origin TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL,
        "user" TEXT COLLATE "C" NOT NULL, PRIMARY KEY (space, origin, name, "user")
    );
    CREATE TABLE stamp (
        space BIGINT NOT NULL, path TEXT COLLATE "C" NOT NULL, size BIGINT NOT NULL,
        mtime BIGINT NOT NULL, digest TEXT COLLATE "C" NOT NULL, record TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (space, path)
    );
    CREATE TABLE vector_slot (
        space BIGINT NOT NULL, key BYTEA NOT NULL, class BIGINT NOT NULL, slot BIGINT NOT NULL,
        hash BYTEA NOT NULL, PRIMARY KEY (space, key, class)
    );
    CREATE TABLE vector_block (
        space BIGINT NOT NULL, block BIGINT NOT NULL, vectors BYTEA NOT NULL, codes BYTEA NOT NULL,
        PRIMARY KEY (space, block)
    );
    CREATE TABLE segment (
        id BIGINT GENERATED ALWAYS AS IDENTITY, space BIGINT NOT NULL, level BIGINT NOT NULL,
        rows BYTEA NOT NULL, PRIMARY KEY (space, id)
    );
    CREATE TABLE posting (
        space BIGINT NOT NULL, segment BIGINT NOT NULL, word TEXT COLLATE "C" NOT NULL,
        rows BYTEA NOT NULL, PRIMARY KEY (space, segment, word)
    );
    CREATE TABLE row_block (
        space BIGINT NOT NULL, block BIGINT NOT NULL, generation BIGINT NOT NULL,
        data BYTEA NOT NULL, PRIMARY KEY (space, block)
    );
    CREATE INDEX row_block_generation ON row_block (space, generation);
    CREATE TABLE leaf (
        space BIGINT NOT NULL, class BIGINT NOT NULL, key BYTEA NOT NULL, content BYTEA NOT NULL,
        vector BYTEA, PRIMARY KEY (space, class, key)
    );
    CREATE TABLE bucket (
        space BIGINT NOT NULL, class BIGINT NOT NULL, bucket BIGINT NOT NULL,
        content BYTEA NOT NULL, vector BYTEA NOT NULL, PRIMARY KEY (space, class, bucket)
    );
    CREATE TABLE node (
        space BIGINT NOT NULL, class BIGINT NOT NULL, node BIGINT NOT NULL,
        content BYTEA NOT NULL, vector BYTEA NOT NULL, PRIMARY KEY (space, class, node)
    );
    CREATE TABLE root (
        space BIGINT NOT NULL, class BIGINT NOT NULL, content BYTEA NOT NULL,
        vector BYTEA NOT NULL, PRIMARY KEY (space, class)
    );
"""


_FIRST_POLICIES = POLICIES | {
    table: f"EXISTS (SELECT 1 FROM record r WHERE r.number = {table}.record)" for table in _NUMBERED
}
"""Those that the first migration makes: `outline` has no space yet."""


def _secure(*tables: str, policies: dict[str, str] = POLICIES) -> str:
    """Return the statements that put the policies of tables in force."""
    return "".join(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;"
        # The owner of the tables, too: whoever cannot create roles reads as the owner.
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY;"
        f"CREATE POLICY readable ON {table} USING ({_ALL} OR {policies[table]});"
        for table in tables
    )


_TEXTS = _secure(
    *("record", "chunk", "outline", "value", "mention", "link", "event"), policies=_FIRST_POLICIES
)
_PATHS = _secure("stamp", "note", "rule")

# Roles belong to the whole server: another database may have created it, and not everybody may.
_ROLE = f"""
    DO $$ BEGIN
        BEGIN
            CREATE ROLE {READER} NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
        END;
        BEGIN
            EXECUTE format('GRANT {READER} TO %I', current_user);
        EXCEPTION WHEN undefined_object OR insufficient_privilege OR invalid_grant_operation
            THEN NULL;
        END;
        IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{READER}') THEN
            GRANT USAGE ON SCHEMA {SCHEMA} TO {READER};
            GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO {READER};
        END IF;
    END $$;
"""

_WAITING = """
    CREATE TABLE vector_waiting (
        space BIGINT NOT NULL, key BYTEA NOT NULL, model TEXT COLLATE "C" NOT NULL,
        vector BYTEA NOT NULL, PRIMARY KEY (space, key)
    );
"""

# The policies hold for the owner of the tables, too: who rewrites rows must see them.
_SPACE_FIRST = f"""
    {SEE_ALL};
    ALTER TABLE outline ADD COLUMN space BIGINT;
    UPDATE outline SET space = r.space FROM record r WHERE r.number = outline.record;
    DELETE FROM outline WHERE space IS NULL;
    ALTER TABLE outline ALTER COLUMN space SET NOT NULL,
        DROP CONSTRAINT outline_pkey, ADD PRIMARY KEY (space, record);
    ALTER TABLE class DROP CONSTRAINT class_pkey, ADD PRIMARY KEY (space, id);
    ALTER TABLE kind DROP CONSTRAINT kind_pkey, ADD PRIMARY KEY (space, id);
    ALTER TABLE record DROP CONSTRAINT record_pkey, ADD PRIMARY KEY (space, number);
    ALTER TABLE chunk DROP CONSTRAINT chunk_pkey, ADD PRIMARY KEY (space, key);
    DROP INDEX chunk_record;
    CREATE INDEX chunk_record ON chunk (space, record, sequence);
    DROP INDEX mention_record;
    CREATE INDEX mention_record ON mention (space, record);
""" + "".join(
    f"ALTER POLICY readable ON {table} USING ({_ALL} OR {POLICIES[table]});" for table in _NUMBERED
)

MIGRATIONS: tuple[str, ...] = (_TABLES + _TEXTS + _ROLE, _WAITING, _PATHS, _SPACE_FIRST)


def prepare(raw: Raw, place: str, *, create: bool) -> None:
    """Create or upgrade the tables; refuse what is not a store, or is of a newer Quire."""
    _check_version(raw, place)
    _check_encoding(raw, place)
    version = _version(raw, place)
    if version == len(MIGRATIONS):
        return
    if version is None and not create:
        raise NoStoreError(
            f"no store at {place}",
            value=place,
            hint="create one with `quire index`, or name another with {store}",
        )
    with raw.transaction():
        raw.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        version = _version(raw, place)  # another process may have been faster
        if version is None:
            raw.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            raw.execute(f"CREATE TABLE {SCHEMA}.format (version BIGINT NOT NULL)")
            raw.execute(f"INSERT INTO {SCHEMA}.format VALUES (0)")
        raw.execute(f"SET LOCAL search_path = {SCHEMA}")
        for migration in MIGRATIONS[version or 0 :]:
            raw.execute(migration.encode())
        raw.execute("UPDATE format SET version = %s", (len(MIGRATIONS),))


def can_read_as_role(raw: Raw) -> bool:
    """Return whether this user may read as the role of views."""
    try:
        with raw.transaction(force_rollback=True):
            raw.execute(f"SET LOCAL ROLE {READER}")
            raw.execute(f"SELECT 1 FROM {SCHEMA}.space LIMIT 1")
    except (psycopg.errors.InvalidParameterValue, psycopg.errors.InsufficientPrivilege):
        return False
    return True


def is_secured(connection: Connection) -> bool:
    """Return whether row-level security holds for this transaction."""
    row = connection.row("SELECT row_security_active('record')")
    return row is not None and bool(row[0])


def _version(raw: Raw, place: str) -> int | None:
    """Return the format of the store in a database; None if there is none."""
    tables = raw.execute(
        "SELECT count(*), coalesce(bool_or(tablename = 'format'), false) FROM pg_tables "
        "WHERE schemaname = %s",
        (SCHEMA,),
    ).fetchone()
    assert tables is not None, "an aggregate has a row"
    count, marked = tables
    if not count:
        return None
    if not marked:
        raise StoreDamagedError(
            f"the schema {SCHEMA!r} of this database is not a Quire store",
            place=place,
            hint="name another database with {store}",
        )
    row = raw.execute(f"SELECT version FROM {SCHEMA}.format").fetchone()
    version = 0 if row is None else int(row[0])
    if version > len(MIGRATIONS):
        raise StoreVersionError(
            f"written by a newer Quire (format {version}; this version supports up to "
            f"{len(MIGRATIONS)})",
            value=version,
            place=place,
            hint="upgrade Quire to open it",
        )
    return version


def _check_version(raw: Raw, place: str) -> None:
    version = raw.info.server_version // 10_000
    if version < MIN_VERSION:
        raise StoreError(
            f"the server is PostgreSQL {version}, and Quire needs {MIN_VERSION} or later",
            value=version,
            place=place,
            hint="upgrade the server, or name another",
        )


def _check_encoding(raw: Raw, place: str) -> None:
    encoding = raw.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(
            f"the database has the encoding {encoding}",
            value=encoding,
            place=place,
            hint="name a database with the encoding UTF8 (`CREATE DATABASE ... ENCODING 'UTF8'`)",
        )
