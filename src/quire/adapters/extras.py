"""The error for a framework that is not installed."""

from __future__ import annotations

from quire.errors import MissingExtraError


class MissingFrameworkError(MissingExtraError, ImportError):
    """An adapter was imported, and its framework is not installed, or is too old or too new."""


def missing(extra: str, reason: ImportError) -> MissingFrameworkError:
    """Return the error that names the extra to install."""
    return MissingFrameworkError(
        f"the framework of this adapter could not be imported ({reason})",
        field="quire.adapters",
        value=extra,
        hint=f"pip install 'quire-context[{extra}]'",
    )
