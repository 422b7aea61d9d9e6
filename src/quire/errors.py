"""What can go wrong, and whose fault it is.

::

    QuireError
    ├── CallerError            the caller asked for something that cannot be (exit 2)
    │   ├── ConfigError        a setting is wrong; says which, where and what was expected
    │   ├── InputError         an argument is wrong: a path, a query, a filter, a principal
    │   │   └── InvalidContextTypeError   a part of a page that there is none of
    │   ├── BudgetError        a budget that contradicts itself: negative, absurd, all reserved
    │   ├── NoStoreError       there is no store at that place yet, or no such space in it
    │   └── MissingExtraError  a feature needs an extra that is not installed
    ├── StoreError             the store could not do it (exit 1)
    │   ├── StoreBusyError     another writer holds the store
    │   ├── StoreFullError     the disk is full; nothing was lost
    │   ├── StoreVersionError  the store was written by a newer Quire
    │   └── StoreDamagedError  the file is not a store, or it is damaged
    ├── BudgetTooSmallError    a budget that cannot hold even one piece (exit 1)
    ├── UnansweredError        whoever called was asked back, and gave no answer (exit 1)
    └── EmbedError             a model could not be used, for vectors mostly (exit 1)
        ├── ModelError         the model file is missing or is not the one expected
        └── EndpointError      an embedder's, judge's or writer's endpoint failed

Every message says what was wrong, where, and what to do.
"""

from __future__ import annotations


class QuireError(Exception):
    """Anything that Quire raises on purpose."""

    exit_code = 1


class CallerError(QuireError):
    """The caller asked for something that cannot be."""

    exit_code = 2


class ConfigError(CallerError):
    """A setting is wrong."""


class InputError(CallerError):
    """An argument is wrong."""


class InvalidContextTypeError(InputError):
    """A page has no such part."""


class BudgetError(CallerError):
    """A budget contradicts itself."""


class NoStoreError(CallerError):
    """There is no store at that place yet, or no such space in it."""


class MissingExtraError(CallerError):
    """A feature needs an extra that is not installed."""


class StoreError(QuireError):
    """The store could not do what was asked."""


class StoreBusyError(StoreError):
    """Another writer holds the store."""


class StoreFullError(StoreError):
    """The disk is full; the last write was undone and nothing was lost."""


class StoreVersionError(StoreError):
    """The store was written by a newer version of Quire."""


class StoreDamagedError(StoreError):
    """The file is not a store, or it is damaged."""


class BudgetTooSmallError(QuireError):
    """A budget cannot hold even one piece."""


class UnansweredError(QuireError):
    """Whoever called was asked back, and gave no answer."""


class EmbedError(QuireError):
    """A model could not be used: mostly, text could not be turned into a vector."""


class ModelError(EmbedError):
    """The model file is missing, or it is not the one that was expected."""


class EndpointError(EmbedError):
    """The endpoint of an embedder, a judge or a writer failed after its retries."""
