"""The parts of a receipt: long fields that it names by their hashes.

A proof for each source and a decision on each candidate that was left out take ten times the room
of everything else. So the hash of a receipt covers them by their own hashes, and a receipt is the
same one with and without them: its hash, and so its signature, do not change. What is absent is
not checked; what is there must have the hash that the receipt names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quire.core.types import RECEIPT_PARTS
from quire.errors import InputError
from quire.receipts.canonical import data_hash

EXCLUDED, PROOFS = RECEIPT_PARTS
PARTS_SINCE = 3
"""The version of the schema from which on receipts name their parts."""


def compact(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Return a receipt without its parts: the same receipt, as its hash says."""
    if receipt.get("version") in range(PARTS_SINCE):  # it does not name them
        return {name: receipt[name] for name in receipt}
    return {name: receipt[name] for name in receipt if name not in RECEIPT_PARTS}


def parts_of(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a receipt that are in it."""
    return {name: receipt[name] for name in RECEIPT_PARTS if receipt.get(name) is not None}


def parts_file(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a receipt as a file of their own, which names the receipt."""
    return {"version": receipt["version"], "receipt": receipt["hash"], **parts_of(receipt)}


def with_parts(receipt: Mapping[str, Any], parts: Any) -> dict[str, Any]:
    """Return a receipt with the parts in a file of their own; refuse those of another receipt.

    Whether they have the hashes that the receipt names is for `verify` to say.
    """
    known = {"version", "receipt", *RECEIPT_PARTS}
    if not isinstance(parts, dict) or "receipt" not in parts or not set(parts) <= known:
        raise InputError(
            "these are not the parts of a receipt", hint="`quire assemble --parts` writes them"
        )
    if parts["receipt"] != receipt.get("hash"):
        raise InputError("the parts are those of another receipt", value=parts["receipt"])
    return {**receipt, **{name: parts[name] for name in RECEIPT_PARTS if name in parts}}


def name_parts(excluded_hash: str, excluded: int, proofs_hash: str, proofs: int) -> dict[str, Any]:
    """Return the field `parts`: how many entries each has, and its hash."""
    return {
        EXCLUDED: {"count": excluded, "hash": excluded_hash},
        PROOFS: {"count": proofs, "hash": proofs_hash},
    }


def named_by(excluded: list[Any], proofs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field `parts` for parts as a receipt has them."""
    return name_parts(
        data_hash(excluded), len(excluded), data_hash(proofs), len(proofs.get("chunks", ()))
    )


def all_decisions(receipt: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the decisions of a receipt in today's form, with those on what was left out."""
    return [*receipt["decisions"], *(receipt[EXCLUDED] or ())]
