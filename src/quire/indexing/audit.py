"""Audit without a store: check and compare receipts; record and read who was handed what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from quire import receipts
from quire.config import Config
from quire.core.protocols import Counter
from quire.core.types import Context, Verification, Viewer
from quire.errors import InputError
from quire.indexing import keyring
from quire.pipeline.request import open_counter
from quire.receipts import Receipt, StoreEvidence, access_log, signing
from quire.receipts.access_log import LogFile
from quire.system.clock import now


class AuditLog:
    """Which contexts and other texts of the store were handed out, to whom."""

    def __init__(
        self, settings: Callable[[], Config], resolve: Callable[[Viewer | str | None], Viewer]
    ) -> None:
        self._settings = settings
        self._resolve = resolve

    def entries(self, to: str | None = None) -> list[Mapping[str, Any]]:
        """List everything that was handed out, oldest first; to one viewer, or to all."""
        log = self._file()
        if log is None:
            raise InputError(
                "no audit log is configured", hint="set `file` in [audit] of quire.toml"
            )
        return list(access_log.read(log, to))

    def contexts(self, to: str | None = None) -> list[Mapping[str, Any]]:
        """List the contexts that were handed out, oldest first; to one viewer, or to all."""
        return [entry for entry in self.entries(to) if entry["what"] == access_log.CONTEXT]

    def record(self, context: Context, viewer: Viewer, recipe: str) -> None:
        """Record that a viewer was handed a context, if the settings ask for it."""
        log = self._file()
        if log is not None:
            access_log.write_context(log, context, viewer, recipe, now())

    def record_again(
        self, context: Context, *, receipt: bool = False, viewer: Viewer | str | None = None
    ) -> None:
        """Record that a kept context, or its receipt, was handed out once more."""
        reader = self._resolve(viewer)
        if receipt:
            pieces = [source.chunk_id for source in context.sources]
            self.disclose(reader, "receipt", pieces=pieces)
        else:
            recipe = context.receipt["recipe"]["name"]  # type: ignore[index]  # as receipts have it
            self.record(context, reader, str(recipe))

    def disclose(
        self,
        viewer: Viewer,
        what: str,
        *,
        pieces: Iterable[str] = (),
        records: Iterable[str] = (),
    ) -> None:
        """Record that a viewer was handed texts, by the ids of chunks or of whole records."""
        log = self._file()
        if log is None:
            return
        pieces, records = [*pieces], [*records]
        if pieces or records:
            access_log.write_disclosure(log, viewer, what, now(), pieces=pieces, records=records)

    def _file(self) -> LogFile | None:
        settings = self._settings()
        if not settings.audit.file:
            return None
        return LogFile(
            settings.root,
            settings.audit.file,
            outside=settings.audit_outside,
            max_bytes=settings.audit.max_bytes,
        )

    def count_bytes(self) -> int:
        """Return the size of the log, 0 without one."""
        log = self._file()
        return 0 if log is None else access_log.count_bytes(log)


def verify_receipt(
    receipt: Mapping[str, Any],
    context: str | None = None,
    *,
    signature: Mapping[str, Any] | None = None,
    key: bytes | str | None = None,
    store: StoreEvidence | None = None,
    own_counter: Counter | None = None,
) -> Verification:
    """Check a receipt: itself, its context, its signature, and what a store says about it.

    Args:
        receipt: The receipt as it was written.
        context: The text that it is of; None: its text is not compared.
        signature: The signature that came with it, if one did.
        key: The public key that must have signed it; None for any.
        store: What a store says about it; None: there is none at hand.
        own_counter: A counter of the caller's own, which may be the one that counted.
    """
    try:
        receipts.check(receipt)
        counter = open_counter(receipt["counter"], own_counter)
        wanted = signing.parse_public_key(key) if isinstance(key, str) else key
    except InputError as error:
        return Verification((str(error),))
    return receipts.verify(
        receipt,
        counter,
        context=context,
        store=store,
        signature=signing.check_signature(
            receipt,
            signature,
            own=() if signature is None else keyring.own_public_keys(),
            key=wanted,
        ),
    )


def parse_receipt(text: str) -> Receipt:
    """Parse a receipt; raise `InputError` if it is not one."""
    return receipts.parse(text)


def parse_with_parts(text: str, parts: str | None) -> Receipt:
    """Parse a receipt with the parts that were written apart from it, if they are at hand."""
    receipt = receipts.parse(text)
    return receipt if parts is None else receipts.with_parts(receipt, receipts.parse_json(parts))


def compact_receipt(receipt: Mapping[str, Any]) -> Receipt:
    """Return a receipt without the parts that it names by hash: the same one, in little room."""
    return receipts.compact(receipt)


def receipt_parts(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a receipt for a file of their own."""
    return receipts.parts_file(receipt)


def chunk_ids(receipt: Mapping[str, Any]) -> list[str]:
    """Return the ids of the chunks in a receipt's context, in their order."""
    receipts.check(receipt)
    return receipts.chunk_ids(receipt)


def diff_receipts(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Describe what differs between two receipts."""
    receipts.check(old)
    receipts.check(new)
    return receipts.diff(old, new)
