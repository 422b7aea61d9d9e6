"""Can it be shown?"""

from quire.receipts.diff import differences
from quire.receipts.frozen import SealedDict, sealed
from quire.receipts.receipt import (
    Receipt,
    chunk_ids,
    judged,
    make,
    parse,
    summarized,
    viewed,
    viewer_hash,
)
from quire.receipts.schema import check
from quire.receipts.verify import verify

__all__ = [
    "Receipt",
    "SealedDict",
    "check",
    "chunk_ids",
    "differences",
    "judged",
    "make",
    "parse",
    "sealed",
    "summarized",
    "verify",
    "viewed",
    "viewer_hash",
]
