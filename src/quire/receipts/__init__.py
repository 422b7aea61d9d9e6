"""Receipts: make, verify, compare and read them."""

from quire.receipts.diff import diff
from quire.receipts.frozen import FrozenDict, freeze
from quire.receipts.receipt import (
    Receipt,
    chunk_ids,
    make,
    parse,
    summary_fields,
    verdict_fields,
    view_fields,
    viewer_hash,
)
from quire.receipts.schema import check, read
from quire.receipts.signing import SignatureCheck
from quire.receipts.verify import StoreEvidence, verify

__all__ = [
    "FrozenDict",
    "Receipt",
    "SignatureCheck",
    "StoreEvidence",
    "check",
    "chunk_ids",
    "diff",
    "freeze",
    "make",
    "parse",
    "read",
    "summary_fields",
    "verdict_fields",
    "verify",
    "view_fields",
    "viewer_hash",
]
