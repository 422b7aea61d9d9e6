"""Audit without a store: check and compare receipts, and read who was handed which context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quire import receipts, tokens
from quire.config import Config
from quire.core.types import Context, Viewer
from quire.errors import InputError
from quire.receipts import Receipt, access_log
from quire.receipts.access_log import LogFile
from quire.system.clock import now


class AuditLog:
    """Which contexts were handed out, to whom."""

    def __init__(self, settings: Callable[[], Config]) -> None:
        self._settings = settings

    def contexts(self, to: str | None = None) -> list[Mapping[str, Any]]:
        """List the contexts that were handed out, oldest first; to one viewer, or to all."""
        log = self._file()
        if log is None:
            raise InputError(
                "no audit log is configured", hint="set `file` in [audit] of quire.toml"
            )
        return list(access_log.read(log, to))

    def record(self, context: Context, viewer: Viewer, recipe: str) -> None:
        """Record that a viewer was handed a context, if the settings ask for it."""
        log = self._file()
        if log is not None:
            access_log.write(log, context, viewer, recipe, now())

    def _file(self) -> LogFile | None:
        settings = self._settings()
        if not settings.audit.file:
            return None
        return LogFile(settings.root, settings.audit.file, outside=settings.audit_outside)


def verify_receipt(receipt: Mapping[str, Any], context: str | None = None) -> list[str]:
    """Check a receipt, and its context, without any store; return what is wrong."""
    try:
        receipts.check(receipt)
        counter = tokens.open_counter(receipt["counter"])
    except InputError as error:
        return [str(error)]
    return receipts.verify(receipt, counter, context=context)


def parse_receipt(text: str) -> Receipt:
    """Parse a receipt; raise `InputError` if it is not one."""
    return receipts.parse(text)


def chunk_ids(receipt: Mapping[str, Any]) -> list[str]:
    """Return the ids of the chunks in a receipt's context, in their order."""
    receipts.check(receipt)
    return receipts.chunk_ids(receipt)


def diff_receipts(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Describe what differs between two receipts."""
    receipts.check(old)
    receipts.check(new)
    return receipts.diff(old, new)
