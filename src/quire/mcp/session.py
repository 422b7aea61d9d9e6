"""The state of a server: its store, and the contexts that its clients assembled.

The store is opened when it is first needed, so that a handshake is answered at once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quire.core.types import OWNER_NAME
from quire.errors import InputError, NoStoreError
from quire.mcp import log

if TYPE_CHECKING:
    from quire.core.types import Context, Viewer
    from quire.engine import Quire

MAX_CONTEXTS = 64
"""Contexts that one client can read again; the oldest is dropped first."""
MAX_VIEWERS = 256
"""Viewers whose services are kept."""
MAX_KEPT = 512
"""Contexts of all clients together."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A context, and the records of which it tells."""

    context: Context
    records: frozenset[str]


class _Server:
    """What all clients share: the store, and the contexts by client and hash."""

    def __init__(
        self, store: str | None, space: str | None, viewer: str | None, *, all_viewers: bool
    ) -> None:
        self.options = (store, space, viewer)
        self.all_viewers = all_viewers
        self.quire: Quire | None = None
        self.opening = threading.Lock()
        self.lock = threading.Lock()  # a second one: contexts are listed while the store opens
        self.contexts: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self.bound: OrderedDict[Viewer, Quire] = OrderedDict()
        """The store as single viewers read it."""

    def quire_of(self, quire: Quire, viewer: Viewer) -> Quire:
        """Return the open store as a viewer reads it."""
        with self.lock:
            if viewer not in self.bound:
                self.bound[viewer] = quire.for_viewer(viewer)
            self.bound.move_to_end(viewer)
            while len(self.bound) > MAX_VIEWERS:
                self.bound.popitem(last=False)
            return self.bound[viewer]


class Session:
    """One server's store, opened late, and the latest contexts of one of its clients."""

    def __init__(
        self,
        store: str | None,
        space: str | None,
        viewer: str | None,
        *,
        all_viewers: bool = False,
        client: str = "",
        server: _Server | None = None,
        reader: Viewer | None = None,
        may_write: bool = True,
    ) -> None:
        self._server = server or _Server(store, space, viewer, all_viewers=all_viewers)
        self._client = client
        self._reader = reader
        self.may_write = may_write
        """Whether its client may change the store."""

    @classmethod
    def of_quire(cls, quire: Quire) -> Session:
        """Return the session of a server whose store is open already, and is closed elsewhere."""
        session = cls(None, None, None)
        session._server.quire = quire
        return session

    def of_reader(self, client: str, reader: Viewer, *, may_write: bool) -> Session:
        """Return the session of a client that reads, and writes if it may, as another viewer."""
        return Session(
            *self._server.options,
            client=client,
            server=self._server,
            reader=reader,
            may_write=may_write,
        )

    def of_client(self, client: str) -> Session:
        """Return the session of another client of the same server, with contexts of its own."""
        return Session(
            *self._server.options,
            client=client,
            server=self._server,
            reader=self._reader,
            may_write=self.may_write,
        )

    @property
    def shared_only(self) -> bool:
        """Whether clients get nothing that other users wrote for themselves."""
        return not self._server.all_viewers

    def quire(self, *, create: bool = False) -> Quire:
        """Return the open store; a missing one is created only if something is to be written."""
        server = self._server
        with server.opening:
            if server.quire is None:
                server.quire = self._open(create=create)
                for text in server.quire.notes:
                    log.note(f"note: {text}")
            quire = server.quire
        return quire if self._reader is None else server.quire_of(quire, self._reader)

    def _open(self, *, create: bool) -> Quire:
        from quire.engine import open_quire

        store, space, viewer = self._server.options
        try:
            return open_quire(store=store, space=space, viewer=viewer, create=False)
        except NoStoreError:
            if not create or space is not None:  # the name of the space may be a typing error
                raise
            return open_quire(store=store, space=space, viewer=viewer)

    @property
    def viewer(self) -> str:
        """The viewer that the store is read as."""
        if self._reader is not None:
            return self._reader.actor
        return self.quire().config.viewer or OWNER_NAME

    def add(self, context: Context) -> str:
        """Keep a context so that it can be read again; return the hash of its receipt."""
        name = str(context.receipt["hash"])
        told = {decision.chunk_id for decision in context.decisions if decision.chunk_id}
        told |= {source.chunk_id for source in context.sources}
        records = self.quire().documents.records_of(sorted(told))
        kept = self._server.contexts
        with self._server.lock:
            kept[self._client, name] = _Kept(context, records)
            kept.move_to_end((self._client, name))
            own = [key for key in kept if key[0] == self._client]
            for key in own[:-MAX_CONTEXTS]:
                del kept[key]
            while len(kept) > MAX_KEPT:
                kept.popitem(last=False)
        return name

    def contexts(self) -> list[tuple[str, Context]]:
        """List the client's latest contexts by the hashes of their receipts, the newest first."""
        with self._server.lock:
            return [
                (name, kept.context)
                for (client, name), kept in reversed(self._server.contexts.items())
                if client == self._client
            ]

    def find(self, name: str) -> Context:
        """Return a context by the hash of its receipt, if all that it tells of is still readable.

        What was handed out cannot be taken back; but a right that was revoked, or a record that is
        gone, must not be read here a second time.
        """
        with self._server.lock:
            kept = self._server.contexts.get((self._client, name))
        if kept is None:
            raise InputError(
                f"unknown receipt {name!r}",
                field="receipt",
                value=name,
                hint=f"assemble the context again, or list the resources: the server keeps the "
                f"last {MAX_CONTEXTS} contexts of a client",
            )
        if kept.records - self.quire().documents.readable(sorted(kept.records)):
            raise InputError(
                f"receipt {name!r} tells of sources that are gone, or that you may no longer read",
                field="receipt",
                value=name,
                hint="assemble the context again",
            )
        return kept.context

    def close(self) -> None:
        """Close the store if it was opened."""
        server = self._server
        with server.opening:
            if server.quire is not None:
                server.quire.close()
                server.quire = None
