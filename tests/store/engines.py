"""Which engines must keep the contract? A new one joins by one row in `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quire.core.protocols import Store
from quire.store import open_store

from .reference import ReferenceStore


@dataclass(frozen=True)
class Engine:
    """A place where a store is kept; each call of `open` opens it as another process would."""

    open: Callable[[], Store]


def sqlite(folder: Path) -> Engine:
    return Engine(lambda: open_store(folder / "store.db"))


def reference(_folder: Path) -> Engine:
    only = ReferenceStore()
    return Engine(lambda: only)


ENGINES: dict[str, Callable[[Path], Engine]] = {"sqlite": sqlite, "reference": reference}
