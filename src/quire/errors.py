"""The errors that Quire raises on purpose.

::

    QuireError
    ├── CallerError            the caller asked for something impossible (exit 2)
    │   ├── ConfigError        a setting is wrong
    │   ├── InputError         an argument is wrong: a path, a query, a filter, a viewer
    │   │   ├── MissingDocumentError      nothing that the viewer may read has that path
    │   │   └── InvalidContextTypeError   an unknown section of a page (a ContextAssemblyError, too)
    │   ├── BudgetError        a budget contradicts itself: negative, absurd, all reserved
    │   ├── NoStoreError       the store, or the space in it, does not exist yet
    │   └── MissingExtraError  a feature needs an extra that is not installed
    ├── StoreError             the store could not do it (exit 1)
    │   ├── StoreBusyError     another writer holds the store
    │   ├── StoreFullError     the disk is full; nothing was lost
    │   ├── StoreInterruptedError  the server ended a transaction, or does not answer
    │   ├── ShardError         a shard did not answer in time
    │   ├── VectorIndexError   an index of vectors outside the store failed; nothing was lost
    │   ├── StoreVersionError  the store was written by a newer Quire
    │   └── StoreDamagedError  the file is not a store, or it is damaged
    ├── ContextAssemblyError   a context could not be assembled (exit 1)
    │   └── BudgetTooSmallError    the budget cannot hold even one piece
    ├── UnansweredError        the client was asked back and gave no answer (exit 1)
    ├── PluginError            a plug-in raised, hung or gave a wrong answer (exit 1)
    ├── ServiceError           the HTTP service refused, failed or could not be reached (exit 1)
    ├── EndpointError          the endpoint of an embedder, a judge or a writer failed (exit 1)
    └── EmbedError             an embedding model could not be used (exit 1)
        └── ModelError         the model file is missing or is not the expected one

An error carries its facts, and an interface words them: the command line names the flag that was
typed where Python names the argument.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, Self

MAX_LISTED = 16
"""Beside a near name, no more choices than this are listed."""
_OPTION = re.compile(r"\{([a-z_.]+)\}")


class QuireError(Exception):
    """Base class of everything that Quire raises on purpose.

    Args:
        message: What was wrong, in lower case and without a full stop.
        field: The argument, option or setting that it is about: `budget`, `fit.dedup`.
        value: The value that was refused.
        allowed: The values that would have been accepted.
        hint: What to do. `{budget}` stands for an option, which each interface names in its way.
        place: Where the value stands: a file, a line, a block.
    """

    exit_code = 1

    def __init__(
        self,
        message: str = "",
        *,
        field: str = "",
        value: Any = None,
        allowed: Iterable[str] = (),
        hint: str = "",
        place: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.value = value
        self.allowed = tuple(allowed)
        self.hint = hint
        self.place = place

    def __str__(self) -> str:
        return self.describe()

    def describe(self, name: Callable[[str], str] = str) -> str:
        """Word the error as one sentence; `name` says how an option or a setting is called."""
        parts = (self.place, name(self.field) if self.field else "", self.message)
        text = ": ".join(part for part in parts if part)
        if self.allowed:
            near = get_close_matches(str(self.value), self.allowed, n=1)
            if near:
                text += f"; did you mean {near[0]!r}?"
            if not near or len(self.allowed) <= MAX_LISTED:
                text += f"{'' if near else ';'} choose from {', '.join(self.allowed)}"
        if self.hint:
            text += f"; {self.worded_hint(name)}"
        return text

    def worded_hint(self, name: Callable[[str], str] = str) -> str:
        """Return the hint with options as `name` calls them."""
        return _OPTION.sub(lambda option: name(option[1]), self.hint)

    def within(self, place: str) -> Self:
        """Return the same error with the place that it stands in put before its own."""
        inside = f"{place}, {self.place}" if self.place else place
        return type(self)(
            self.message,
            field=self.field,
            value=self.value,
            allowed=self.allowed,
            hint=self.hint,
            place=inside,
        )


class CallerError(QuireError):
    """The caller asked for something impossible."""

    exit_code = 2


class ConfigError(CallerError):
    """A setting is wrong."""


class InputError(CallerError):
    """An argument is wrong."""


class MissingDocumentError(InputError):
    """Nothing that the viewer may read has that path."""


class ContextAssemblyError(QuireError):
    """A context could not be assembled: the caller's searcher failed, nothing fits."""


class InvalidContextTypeError(InputError, ContextAssemblyError):
    """A page has no section of that name."""


class BudgetError(CallerError):
    """A budget contradicts itself."""


class NoStoreError(CallerError):
    """The store, or the space in it, does not exist yet."""


class MissingExtraError(CallerError):
    """A feature needs an extra that is not installed."""


class StoreError(QuireError):
    """The store could not do what was asked."""


class StoreBusyError(StoreError):
    """Another writer holds the store."""


class StoreInterruptedError(StoreError):
    """The server ended a transaction, or does not answer; the same may be tried again."""


class ShardError(StoreError):
    """A shard did not answer in time; it is named, and nothing is answered without it."""


class StoreFullError(StoreError):
    """The disk is full; the last write was undone and nothing was lost."""


class VectorIndexError(StoreError):
    """An index of vectors outside the store cannot be used; the store's own vectors can."""


class StoreVersionError(StoreError):
    """The store was written by a newer version of Quire."""


class StoreDamagedError(StoreError):
    """The file is not a store, or it is damaged."""


class BudgetTooSmallError(ContextAssemblyError):
    """A budget cannot hold even one piece."""


class UnansweredError(QuireError):
    """The client was asked back and gave no answer."""


class ServiceError(QuireError):
    """The HTTP service refused, failed or could not be reached."""


class EndpointError(QuireError):
    """The endpoint of an embedder, a judge or a writer failed after its retries."""


class PluginError(QuireError):
    """A plug-in raised, was too late, or gave an answer that nobody can use; it is named."""


class EmbedError(QuireError):
    """An embedding model could not be used."""


class ModelError(EmbedError):
    """The model file is missing or is not the expected one."""


def unknown(
    what: str, value: Any, allowed: Iterable[str], *, field: str = "", place: str = ""
) -> InputError:
    """Return the error for a name that does not exist, with the names that do."""
    return InputError(
        f"unknown {what} {value!r}", field=field, value=value, allowed=allowed, place=place
    )
