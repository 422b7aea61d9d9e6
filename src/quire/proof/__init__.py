"""Can it be shown?"""

from quire.proof.compare import differences
from quire.proof.receipt import (
    Receipt,
    chunk_ids,
    judged,
    make,
    parse,
    summarized,
    viewed,
    viewer_hash,
)
from quire.proof.sealed import SealedDict, sealed
from quire.proof.shape import check
from quire.proof.verify import verify

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
