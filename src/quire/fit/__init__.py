"""What fits?"""

from quire.fit.alike import alike
from quire.fit.arrange import ORDERS, SECTION_ORDERS, arrange
from quire.fit.dedup import Duplicate, dedup, overlap
from quire.fit.optimal import worth
from quire.fit.pack import (
    OVERFLOWS,
    PREFERENCES,
    Packed,
    as_cut,
    limited,
    options,
    pack,
    pack_shares,
    preferred,
)
from quire.fit.repeats import KEEP, SAME_PATH, Repeat, repeats
from quire.fit.settle import settle

__all__ = [
    "KEEP",
    "ORDERS",
    "OVERFLOWS",
    "PREFERENCES",
    "SAME_PATH",
    "SECTION_ORDERS",
    "Duplicate",
    "Packed",
    "Repeat",
    "alike",
    "arrange",
    "as_cut",
    "dedup",
    "limited",
    "options",
    "overlap",
    "pack",
    "pack_shares",
    "preferred",
    "repeats",
    "settle",
    "worth",
]
