"""The state of a server: its store, and the contexts that it assembled.

The store is opened when it is first needed, so that a handshake is answered at once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from quire.core.types import OWNER_NAME
from quire.errors import InputError, NoStoreError
from quire.mcp import log

if TYPE_CHECKING:
    from quire.core.types import Context
    from quire.engine import Quire

MAX_CONTEXTS = 64
"""Contexts that can be read again; the oldest is dropped first."""


class Session:
    """One server's store, opened late, and its latest contexts."""

    def __init__(self, store: str | None, space: str | None, viewer: str | None) -> None:
        self._options = (store, space, viewer)
        self._quire: Quire | None = None
        self._opening = threading.Lock()
        self._lock = threading.Lock()  # a second one: contexts are listed while the store opens
        self._contexts: OrderedDict[str, Context] = OrderedDict()

    def quire(self, *, create: bool = False) -> Quire:
        """Return the open store; a missing one is created only if something is to be written."""
        with self._opening:
            if self._quire is None:
                self._quire = self._open(create=create)
                for text in self._quire.notes:
                    log.note(f"note: {text}")
            return self._quire

    def _open(self, *, create: bool) -> Quire:
        from quire.engine import open_quire

        store, space, viewer = self._options
        try:
            return open_quire(store=store, space=space, viewer=viewer, create=False)
        except NoStoreError:
            if not create or space is not None:  # the name of the space may be a typing error
                raise
            return open_quire(store=store, space=space, viewer=viewer)

    @property
    def viewer(self) -> str:
        """The viewer that the store is read as."""
        return self.quire().config.viewer or OWNER_NAME

    def add(self, context: Context) -> str:
        """Keep a context so that it can be read again; return the hash of its receipt."""
        name = str(context.receipt["hash"])
        with self._lock:
            self._contexts[name] = context
            self._contexts.move_to_end(name)
            while len(self._contexts) > MAX_CONTEXTS:
                self._contexts.popitem(last=False)
        return name

    def contexts(self) -> list[tuple[str, Context]]:
        """List the latest contexts by the hashes of their receipts, the newest first."""
        with self._lock:
            return list(reversed(self._contexts.items()))

    def find(self, name: str) -> Context:
        """Return a context by the hash of its receipt."""
        with self._lock:
            context = self._contexts.get(name)
        if context is None:
            raise InputError(
                f"unknown receipt {name!r}",
                field="receipt",
                value=name,
                hint=f"assemble the context again, or list the resources: the server keeps its "
                f"last {MAX_CONTEXTS} contexts",
            )
        return context

    def close(self) -> None:
        """Close the store if it was opened."""
        with self._opening:
            if self._quire is not None:
                self._quire.close()
                self._quire = None
