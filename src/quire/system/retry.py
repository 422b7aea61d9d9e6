"""Transactions that are run again, as a whole, if the server ended them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from quire.core.protocols import Store, View, Writer
from quire.core.types import OWNER
from quire.errors import StoreInterruptedError

DELAYS = (0.1, 0.5, 2.0, 5.0)
"""How long to wait before each further attempt: a server that restarts needs some seconds."""

Result = TypeVar("Result")


def write(store: Store, space: str, change: Callable[[Writer], Result]) -> Result:
    """Run a change in a write transaction; return what it returned.

    The whole change is run again after a deadlock, a serialization failure or a lost connection.
    So it must be one that has the same effect twice, as putting the same records has: if the
    connection is lost during the commit, all of it may have been kept.
    """

    def attempt() -> Result:
        with store.write(space) as writer:
            return change(writer)

    return again(attempt)


def read(store: Store, space: str, query: Callable[[View], Result]) -> Result:
    """Return what a query finds in a view of the owner, which is made again as a whole."""

    def attempt() -> Result:
        with store.view(OWNER, space) as view:
            return query(view)

    return again(attempt)


def again(attempt: Callable[[], Result]) -> Result:
    """Return what an attempt returns, which is made again if the server ended it."""
    for delay in DELAYS:
        try:
            return attempt()
        except StoreInterruptedError:
            time.sleep(delay)
    return attempt()
