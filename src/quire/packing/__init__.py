"""What fits?"""

from quire.packing.cross_source import KEEP, SAME_PATH, Repeat, repeats
from quire.packing.dedup import Duplicate, dedup, overlap
from quire.packing.near_duplicates import alike
from quire.packing.optimal import worth
from quire.packing.order import ORDERS, SECTION_ORDERS, arrange
from quire.packing.pack import (
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
from quire.packing.refine import settle

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
