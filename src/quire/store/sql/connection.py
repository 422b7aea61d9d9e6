"""What the tables need of an engine: connections, and transactions on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from quire.core.types import Viewer
from quire.errors import InputError, QuireError

Row = tuple[Any, ...]


class Connection(Protocol):
    """A connection inside a transaction; several threads may read through it, one at a time."""

    abandoned: bool
    """Set if a thread still reads for a closed view: the connection must not be reused."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held by whoever reads: several threads may read one snapshot."""

    @property
    def is_distant(self) -> bool:
        """Whether each statement is a round trip, so that few of them are worth some effort."""

    @property
    def damage(self) -> tuple[type[Exception], ...]:
        """What a read raises that meets damage; after it, others are still answered."""

    @property
    def scope(self) -> str:
        """What the rows depend on that a query sees, beside the state of the space."""

    def execute(self, sql: str, bindings: tuple[Any, ...] = (), /) -> Iterable[Row]:
        """Run a statement."""

    def executemany(self, sql: str, bindings: Iterable[tuple[Any, ...]], /) -> object:
        """Run a statement once for each tuple of values."""

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query."""

    def stream_each(self, sql: str, bindings: Sequence[tuple[Any, ...]]) -> Iterator[Row]:
        """Yield the rows of a query that is run once for each tuple of values, one by one.

        Nothing else may be asked through this connection before the last of them.
        """

    def row(self, sql: str, bindings: Sequence[Any] = ()) -> Row | None:
        """Return the first row of a query, or None if there is none."""

    def stream(self, sql: str, bindings: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield the rows of a query one by one, for results too large to hold at once."""

    def array(self, items: Collection[Any], /) -> Any:
        """Return a list of whole numbers, texts or bytes as a parameter of `carray(?)`."""

    def scalar(self, value: str | float) -> Any:
        """Return a value of metadata as it is kept: in the order of its kind."""

    def plain(self, kind: str, scalar: Any) -> Any:
        """Return a value of metadata from what is kept."""

    def restrict(self, viewer: Viewer, classes: Iterable[int]) -> None:
        """Let this transaction see the rows of a viewer, if the engine can; nothing widens it."""

    def translate(self, error: BaseException, place: str) -> QuireError | None:
        """Return Quire's error for one of the engine's; None for any other."""


class Connections(Protocol):
    """Lends connections to one place: any number for reading, one for writing a space."""

    @property
    def place(self) -> str:
        """What errors call the place."""

    def read_transaction(self) -> AbstractContextManager[Connection]:
        """Lend a connection inside a read transaction: one consistent snapshot."""

    def read_once(self) -> AbstractContextManager[Connection]:
        """Lend a connection for one query, which need not be in a transaction.

        It sees no text of any viewer.
        """

    def read_all(self) -> AbstractContextManager[Connection]:
        """Lend one that sees the texts of all viewers, too; `read_transaction` need not."""

    def write_transaction(self, space: str) -> AbstractContextManager[Connection]:
        """Lend a connection inside the write transaction, which is committed or rolled back."""

    def count_bytes(self, connection: Any, /) -> int:
        """Return how much room the place takes."""

    def close(self) -> None:
        """Close all idle connections now, and each lent one when it is given back."""


def invalid_text(place: str = "") -> InputError:
    """Return the error for a text that is not valid Unicode."""
    return InputError(
        "the text contains half of a surrogate pair",
        hint="remove or replace that character",
        place=place,
    )
