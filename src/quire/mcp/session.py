"""Which store does a client ask, and what was it given so far?

The store is opened when it is first needed: a client that only says hello waits for nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quire.core.types import OWNER_NAME
from quire.errors import InputError, NoStoreError

if TYPE_CHECKING:
    from quire.core.types import Context
    from quire.engine import Quire

KEPT = 64
"""As many contexts, and their receipts, can be read again; the oldest goes first."""

Step = Callable[[str], None]
"""Called with what is done next; it raises `CancelledError` where nobody waits for it any more."""


Given = dict[str, Any]
"""What a tool is given."""


class CancelledError(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gives back."""

    told: dict[str, Any]
    growing: str = ""
    """The list in it that may be shortened."""
    shown: str = ""
    """The text in it that is shown to a reader; empty: all of it, as JSON."""
    beside: str = ""
    """What such a reader is told beside that text."""


class Session:
    """One server's store, opened late, and the contexts that were given out of it."""

    def __init__(self, store: str | None, space: str | None, viewer: str | None) -> None:
        self._asked = (store, space, viewer)
        self._quire: Quire | None = None
        self._opening = threading.Lock()
        self._lock = threading.Lock()  # another one: what is kept is listed while the store opens
        self._given: OrderedDict[str, Context] = OrderedDict()

    def quire(self, *, create: bool = False) -> Quire:
        """Give the open store; one that is not there yet is made only where something is kept."""
        with self._opening:
            if self._quire is None:
                self._quire = self._open(create=create)
            return self._quire

    def _open(self, *, create: bool) -> Quire:
        from quire.engine import open_quire

        store, space, viewer = self._asked
        try:
            return open_quire(store=store, space=space, viewer=viewer, create=False)
        except NoStoreError:
            if not create or space is not None:  # a space of that name may be misspelt
                raise
            return open_quire(store=store, space=space, viewer=viewer)

    @property
    def viewer(self) -> str:
        """As whom the store is read."""
        return self.quire().config.viewer or OWNER_NAME

    def keep(self, context: Context) -> str:
        """Keep a context for those who read it again; gives the hash of its receipt."""
        name = str(context.receipt["hash"])
        with self._lock:
            self._given[name] = context
            self._given.move_to_end(name)
            while len(self._given) > KEPT:
                self._given.popitem(last=False)
        return name

    def given(self) -> list[tuple[str, Context]]:
        """List the contexts that are kept, the newest first."""
        with self._lock:
            return list(reversed(self._given.items()))

    def find(self, name: str) -> Context:
        """Give a context by the hash of its receipt."""
        with self._lock:
            found = self._given.get(name)
        if found is None:
            raise InputError(
                f"no context with the receipt {name!r} was made here of late: assemble it again, "
                f"or list the resources; the last {KEPT} are kept"
            )
        return found

    def close(self) -> None:
        """Close the store, if it was ever opened."""
        with self._opening:
            if self._quire is not None:
                self._quire.close()
                self._quire = None
