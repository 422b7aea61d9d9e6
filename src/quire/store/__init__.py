"""The store: where records are kept, and who may read them.

`quire.core.protocols` defines the contract of a store. `access` decides who may read what,
`index` holds the search algorithms that all engines share, and `sqlite` is the embedded engine.
"""

from __future__ import annotations

from pathlib import Path

from quire.core.protocols import Store
from quire.store.access import is_name
from quire.store.sqlite.store import WAIT_SECONDS, SqliteStore

__all__ = ["is_name", "open_store"]


def open_store(path: Path, *, create: bool = True, wait: float = WAIT_SECONDS) -> Store:
    """Open the store in a file.

    Args:
        path: The file.
        create: Whether a missing file is created; otherwise it is an error.
        wait: How many seconds a writer waits for another one before it gives up.
    """
    return SqliteStore(path, create=create, wait=wait)
