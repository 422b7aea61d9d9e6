"""The tables and their migrations.

Migrations are append-only: one that has been released is never edited. `user_version` counts the
applied ones; `application_id` marks the file as a store.

Primary data: space, class, record, outline, chunk, link, event, rule, member, stamp, vector_slot,
vector_block and vector_waiting. Derived data, which can be rebuilt from it: mention, value,
posting, segment, row_block, leaf, bucket, node and root. All of it changes in one transaction.
"""

from __future__ import annotations

from quire.errors import StoreDamagedError, StoreVersionError
from quire.store.sqlite.database import Connection
from quire.store.sqlite.page_checksums import FIRST_FORMAT

APPLICATION_ID = 0x51756972  # "Quir"

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE space (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        generation INTEGER NOT NULL DEFAULT 0,  -- counts commits; caches are keyed by it
        rows INTEGER NOT NULL DEFAULT 0,        -- row numbers handed out so far
        model TEXT,                             -- whose vectors these are
        dims INTEGER NOT NULL DEFAULT 0,
        slots INTEGER NOT NULL DEFAULT 0,       -- vectors kept; slots are only ever appended
        epoch INTEGER NOT NULL DEFAULT 0,       -- counts rewritings of all slots
        analyzer TEXT NOT NULL,
        access_default TEXT NOT NULL
    ) STRICT;
    CREATE TABLE note (
        space INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (space, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE class (
        id INTEGER PRIMARY KEY, space INTEGER NOT NULL, acl TEXT NOT NULL,
        UNIQUE (space, acl)
    ) STRICT;
    CREATE TABLE record (
        number INTEGER PRIMARY KEY,
        space INTEGER NOT NULL,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        path TEXT NOT NULL,
        title TEXT NOT NULL,
        parent TEXT,
        position INTEGER NOT NULL,
        modified INTEGER,
        author TEXT,
        own_acl TEXT,                           -- NULL: the space's rules decide
        class INTEGER NOT NULL,
        attrs TEXT NOT NULL,
        UNIQUE (space, id)
    ) STRICT;
    CREATE INDEX record_path ON record (space, path, id);
    CREATE TABLE kind (
        id INTEGER PRIMARY KEY, space INTEGER NOT NULL, name TEXT NOT NULL,
        UNIQUE (space, name)
    ) STRICT;
    CREATE TABLE chunk (
        key INTEGER PRIMARY KEY,                -- space << 40 | row
        id BLOB NOT NULL,
        space INTEGER NOT NULL,
        record INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        title TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        first_line INTEGER NOT NULL,
        last_line INTEGER NOT NULL,
        vector_key BLOB NOT NULL,
        text TEXT NOT NULL,
        UNIQUE (space, id)
    ) STRICT;
    CREATE INDEX chunk_record ON chunk (record, sequence);
    CREATE INDEX chunk_vector ON chunk (space, vector_key);
    CREATE TABLE link (
        space INTEGER NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL,
        PRIMARY KEY (space, source, target, kind)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX link_back ON link (space, target);
    CREATE TABLE event (
        space INTEGER NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL,
        record TEXT NOT NULL, verb TEXT NOT NULL,
        PRIMARY KEY (space, at, actor, record, verb)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX event_actor ON event (space, actor, at);
    CREATE INDEX event_record ON event (space, record);
    CREATE TABLE rule (
        space INTEGER NOT NULL, origin TEXT NOT NULL, position INTEGER NOT NULL,
        glob TEXT NOT NULL, acl TEXT NOT NULL,
        PRIMARY KEY (space, origin, position)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE member (
        space INTEGER NOT NULL, origin TEXT NOT NULL, name TEXT NOT NULL, user TEXT NOT NULL,
        PRIMARY KEY (space, origin, name, user)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE stamp (
        space INTEGER NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL,
        mtime INTEGER NOT NULL, digest TEXT NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY (space, path)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE vector_slot (
        space INTEGER NOT NULL, key BLOB NOT NULL,
        class INTEGER NOT NULL,                 -- nobody profits from another class's vectors
        slot INTEGER NOT NULL, hash BLOB NOT NULL,
        PRIMARY KEY (space, key, class)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE vector_block (
        id INTEGER PRIMARY KEY, space INTEGER NOT NULL, block INTEGER NOT NULL,
        vectors BLOB NOT NULL, codes BLOB NOT NULL,
        UNIQUE (space, block)
    ) STRICT;
    CREATE TABLE segment (
        id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used twice: caches are keyed by it
        space INTEGER NOT NULL, level INTEGER NOT NULL, rows BLOB NOT NULL
    ) STRICT;
    CREATE INDEX segment_level ON segment (space, level);
    CREATE TABLE posting (
        space INTEGER NOT NULL, segment INTEGER NOT NULL, word TEXT NOT NULL, rows BLOB NOT NULL,
        PRIMARY KEY (space, segment, word)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE row_block (
        id INTEGER PRIMARY KEY, space INTEGER NOT NULL, block INTEGER NOT NULL,
        generation INTEGER NOT NULL, data BLOB NOT NULL,
        UNIQUE (space, block)
    ) STRICT;
    CREATE INDEX row_block_generation ON row_block (space, generation);
    CREATE TABLE leaf (
        space INTEGER NOT NULL, class INTEGER NOT NULL, key BLOB NOT NULL,
        content BLOB NOT NULL, vector BLOB,
        PRIMARY KEY (space, class, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE bucket (
        space INTEGER NOT NULL, class INTEGER NOT NULL, bucket INTEGER NOT NULL,
        content BLOB NOT NULL, vector BLOB NOT NULL,
        PRIMARY KEY (space, class, bucket)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE node (
        space INTEGER NOT NULL, class INTEGER NOT NULL, node INTEGER NOT NULL,
        content BLOB NOT NULL, vector BLOB NOT NULL,
        PRIMARY KEY (space, class, node)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE root (
        space INTEGER NOT NULL, class INTEGER NOT NULL,
        content BLOB NOT NULL, vector BLOB NOT NULL,
        PRIMARY KEY (space, class)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    ALTER TABLE record ADD COLUMN paths TEXT NOT NULL DEFAULT '[]';  -- who reads it reads these
    CREATE INDEX record_kind ON record (space, kind, class, modified);
    CREATE TABLE outline (
        record INTEGER PRIMARY KEY, body BLOB NOT NULL  -- compressed JSON
    ) STRICT;
    CREATE TABLE mention (
        space INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
        record INTEGER NOT NULL, entity INTEGER NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY (space, name, kind, record, entity)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    CREATE INDEX record_parent ON record (space, parent, position, id) WHERE parent IS NOT NULL;
    """,
    "",  # every page ends in a checksum (`page_checksums`): the file is rewritten
    """
    ALTER TABLE record ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE record ADD COLUMN expires INTEGER;                  -- NULL: never
    ALTER TABLE record ADD COLUMN origin TEXT NOT NULL DEFAULT '';  -- what keeps it up to date
    CREATE INDEX record_expires ON record (space, expires) WHERE expires IS NOT NULL;
    CREATE INDEX record_origin ON record (space, origin, path) WHERE origin != '';
    CREATE TABLE value (
        space INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, value ANY NOT NULL,
        record INTEGER NOT NULL,
        PRIMARY KEY (space, key, kind, value, record)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    CREATE TABLE vector_waiting (               -- replace all vectors when they are complete
        space INTEGER NOT NULL, key BLOB NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL,
        PRIMARY KEY (space, key)
    ) STRICT, WITHOUT ROWID;
    """,
)


def is_store(head: bytes) -> bool:
    """Return whether the first bytes of a file mark it as a store."""
    return head[68:72] == APPLICATION_ID.to_bytes(4, "big")


def check(connection: Connection, place: str) -> None:
    """Refuse a database that is not a store, or one in a newer format."""
    connection.execute("BEGIN")  # another process may be creating it: read one consistent state
    version = int(connection.pragma("user_version"))
    mark = int(connection.pragma("application_id"))
    tables = connection.rows("SELECT count(*) FROM sqlite_schema")[0][0]
    connection.execute("ROLLBACK")
    if mark != APPLICATION_ID and (mark or version or tables):
        raise StoreDamagedError(
            "the database is not a Quire store",
            place=place,
            hint="name another file with {store}",
        )
    if version > len(MIGRATIONS):
        raise StoreVersionError(
            f"written by a newer Quire (format {version}; this version supports up to "
            f"{len(MIGRATIONS)})",
            value=version,
            place=place,
            hint="upgrade Quire to open it",
        )


def is_current(connection: Connection) -> bool:
    """Return whether a store has today's format."""
    return int(connection.pragma("user_version")) == len(MIGRATIONS)


def migrate(connection: Connection) -> bool:
    """Apply the missing migrations; a new file becomes a store.

    Returns whether the file was rewritten: then its connections must be opened again.
    """
    before = int(connection.pragma("user_version"))
    if before == len(MIGRATIONS):
        return False
    rewrite = 0 < before < FIRST_FORMAT
    if rewrite:  # first, for the version must promise nothing that is not so
        connection.execute("VACUUM")
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        connection.pragma("application_id", APPLICATION_ID)
        version = int(connection.pragma("user_version"))  # another process may have been faster
        for migration in MIGRATIONS[version:]:
            connection.execute(migration)
        connection.pragma("user_version", len(MIGRATIONS))
    connection.execute("COMMIT")
    return rewrite
