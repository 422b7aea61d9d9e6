"""The store: where records are kept, and who may read them.

`quire.core.protocols` defines the contract of a store. `access` decides who may read what,
`index` holds the search algorithms that all engines share, `sql` the tables. `sqlite` is the
embedded engine, `postgres` the one of a server. `vectors` asks indexes outside the store.
"""

from __future__ import annotations

from pathlib import Path

from quire.core import servers
from quire.core.protocols import Store
from quire.core.types import VectorSettings
from quire.errors import ConfigError, MissingExtraError, StoreError
from quire.store.access import is_name
from quire.store.sql.store import WAIT_SECONDS
from quire.store.sqlite.maintenance import end_log, settle
from quire.store.sqlite.store import SqliteStore
from quire.store.vectors import open_index

__all__ = ["SqliteStore", "end_log", "is_name", "open_store", "settle"]


def open_store(
    place: Path | str,
    *,
    create: bool = True,
    wait: float = WAIT_SECONDS,
    vectors: VectorSettings | None = None,
) -> Store:
    """Open the store in a file, in shards, or in a database of a PostgreSQL server.

    Args:
        place: The file, the folder of shards (`NAME.N.shards`), or a URL
            (`postgresql://USER@HOST/DATABASE`, `ray://HOST:PORT/FOLDER/NAME.N.shards`).
        create: Whether a missing store is created; otherwise it is an error.
        wait: How many seconds a writer waits for another one before it gives up.
        vectors: The index of vectors outside the store, if there is one.
    """
    settings = vectors or VectorSettings()
    if servers.is_sharded(place.name) if isinstance(place, Path) else servers.is_ray(place):
        return _open_shards(place, create=create, wait=wait, engine=settings.engine)
    index = open_index(settings, place)
    if isinstance(place, Path):
        store = SqliteStore(place, create=create, wait=wait, index=index)
        if store.is_part():
            store.close()
            raise StoreError(
                "this is one file of a store in shards, which are read together",
                place=str(place),
                hint=f"name its folder, NAME.N{servers.SHARDED}",
            )
        return store
    try:
        from quire.store.postgres.store import PostgresStore
    except ImportError as error:
        raise MissingExtraError(
            "a store on a PostgreSQL server needs psycopg",
            hint="run `pip install 'quire-context[postgresql]'`",
        ) from error
    return PostgresStore(place, create=create, wait=wait, index=index)


def _open_shards(place: Path | str, *, create: bool, wait: float, engine: str) -> Store:
    from quire.store.shards import open_folder, open_on_ray

    if engine:
        raise ConfigError(
            "a store in shards has its vectors in the shards, and asks no other engine for them",
            field="[vectors] engine",
            hint="leave `engine` out of [vectors]",
        )
    if isinstance(place, Path):
        return open_folder(place, create=create, wait=wait)
    return open_on_ray(place, create=create, wait=wait)
