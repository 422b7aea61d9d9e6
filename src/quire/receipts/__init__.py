"""Receipts: make, verify, compare and read them."""

from quire.receipts.diff import diff
from quire.receipts.frozen import FrozenDict, freeze
from quire.receipts.parts import all_decisions, compact, parts_file, with_parts
from quire.receipts.receipt import (
    Receipt,
    chunk_ids,
    is_brought,
    make,
    parse,
    parse_json,
    rerank_fields,
    summary_fields,
    verdict_fields,
    view_fields,
    viewer_hash,
)
from quire.receipts.schema import check, read
from quire.receipts.signing import SignatureCheck
from quire.receipts.verify import StoreEvidence, verify
from quire.receipts.written import WrittenDecisions

__all__ = [
    "FrozenDict",
    "Receipt",
    "SignatureCheck",
    "StoreEvidence",
    "WrittenDecisions",
    "all_decisions",
    "check",
    "chunk_ids",
    "compact",
    "diff",
    "freeze",
    "is_brought",
    "make",
    "parse",
    "parse_json",
    "parts_file",
    "read",
    "rerank_fields",
    "summary_fields",
    "verdict_fields",
    "verify",
    "view_fields",
    "viewer_hash",
    "with_parts",
]
