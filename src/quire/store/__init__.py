"""Where is it kept, and who may read it?"""

from __future__ import annotations

from pathlib import Path

from quire.core.protocols import Store
from quire.store.access import is_name
from quire.store.sqlite.store import WAIT_SECONDS, SqliteStore

__all__ = ["is_name", "open_store"]


def open_store(path: Path, *, create: bool = True, wait: float = WAIT_SECONDS) -> Store:
    """Open the store in this file; a new one is made unless `create` is false."""
    return SqliteStore(path, create=create, wait=wait)
