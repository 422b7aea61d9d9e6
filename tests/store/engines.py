"""The engines that must pass the contract: a new one joins by one row in `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quire.core.protocols import Store
from quire.store import open_store

from .reference import Place, ReferenceStore


class Open(Protocol):
    """Opens a store; a writer of it waits for others as many seconds as `wait` says."""

    def __call__(self, wait: float = 30.0) -> Store: ...


@dataclass(frozen=True)
class Engine:
    """A place where a store is kept; each call of `open` opens it as another process would."""

    open: Open


def sqlite(folder: Path) -> Engine:
    return Engine(lambda wait=30.0: open_store(folder / "store.db", wait=wait))


def shards(folder: Path) -> Engine:
    return Engine(lambda wait=30.0: open_store(folder / "store.3.shards", wait=wait))


def reference(_folder: Path) -> Engine:
    place = Place()
    return Engine(lambda wait=30.0: ReferenceStore(place=place, wait=wait))


def postgres(url: str) -> Engine:
    return Engine(lambda wait=30.0: open_store(url, wait=wait))


ENGINES: dict[str, Callable[[Path], Engine]] = {
    "sqlite": sqlite,
    "shards": shards,
    "reference": reference,
}
"""Those that are kept in a folder; `postgres` is kept on a server."""
