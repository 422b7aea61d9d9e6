"""Can it be shown?"""

from quire.proof.compare import differences
from quire.proof.receipt import Receipt, canonical, make, parse, viewed, viewer_hash
from quire.proof.verify import verify

__all__ = [
    "Receipt",
    "canonical",
    "differences",
    "make",
    "parse",
    "verify",
    "viewed",
    "viewer_hash",
]
