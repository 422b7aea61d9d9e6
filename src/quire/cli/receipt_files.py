"""The files of a receipt: itself, its parts and its signature, read and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quire.cli import output
from quire.cli.options import read_file
from quire.cli.output import write_flags
from quire.core.dates import format_moment
from quire.core.serialize import escape_json, to_plain
from quire.errors import ConfigError, InputError, MissingExtraError
from quire.system import platform
from quire.system.clock import now

if TYPE_CHECKING:
    from quire.core.types import Context

SIGNATURE_SUFFIX = ".sig"
"""The signature of a receipt FILE lies in FILE.sig."""
PARTS_SUFFIX = ".parts"
"""What a receipt FILE names by hash lies in FILE.parts."""


def read_receipt(file: str, parts: str | None = None) -> dict[str, Any]:
    """Read a receipt from a file, with its parts if there is a file of them beside it."""
    from quire.indexing.audit import parse_with_parts

    return parse_with_parts(read_file(file), _read_beside(file, PARTS_SUFFIX, parts))


def read_signature(receipt: str, file: str | None) -> dict[str, Any] | None:
    """Read the signature of a receipt: from the file that is named, or beside the receipt."""
    from quire.indexing.keyring import parse_signature

    text = _read_beside(receipt, SIGNATURE_SUFFIX, file)
    return None if text is None else parse_signature(text)


def _read_beside(receipt: str, suffix: str, file: str | None) -> str | None:
    """Read the file that is named, or the one beside a receipt if there is one."""
    if file is not None:
        return read_file(file)
    is_there = receipt != "-" and Path(receipt + suffix).is_file()
    return read_file(receipt + suffix) if is_there else None


def save_receipt(file: str | None, context: Context, *, signed: bool, parts: bool) -> None:
    """Write the receipt of a context to a file, with the time of its creation and its signature.

    Its parts go to a file of their own, if they are asked for.
    """
    from quire.indexing.audit import compact_receipt, receipt_parts

    if file is None:
        if parts:
            raise InputError(
                "there is no receipt that they are parts of", field="parts", hint="add {receipt}"
            )
        return
    receipt = {**compact_receipt(context.receipt), "created": format_moment(now())}
    _write(file, receipt)
    envelope = _signature_of(receipt) if signed else None
    beside = {
        SIGNATURE_SUFFIX: envelope,
        PARTS_SUFFIX: receipt_parts(context.receipt) if parts else None,
    }
    for suffix, data in beside.items():
        if data is not None:
            _write(file + suffix, data)
        else:  # an older one would be of another receipt
            Path(file + suffix).unlink(missing_ok=True)


def _signature_of(receipt: dict[str, Any]) -> dict[str, Any] | None:
    """Sign a receipt; one that cannot be signed is still a receipt, and that is said."""
    from quire.indexing import keyring

    try:
        is_new = keyring.current_key() is None
        envelope = keyring.sign_receipt(receipt)
    except (ConfigError, MissingExtraError) as error:
        output.note(f"note: the receipt is not signed: {write_flags(str(error))}")
        return None
    if is_new:
        output.note(f"note: made a key that signs your receipts: {keyring.key_file()}")
    return envelope


def _write(file: str, data: dict[str, Any]) -> None:
    try:
        platform.write_private(Path(file), (_one_line_each(data) + "\n").encode())
    except (OSError, ValueError) as error:
        raise InputError(
            f"{file} cannot be written: {error}", field="receipt", value=file
        ) from error


def _one_line_each(data: dict[str, Any]) -> str:
    """Write an object as JSON with one line for each of its fields."""
    fields = [
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for name, value in to_plain(data).items()
    ]
    return escape_json("{\n" + ",\n".join(fields) + "\n}")
