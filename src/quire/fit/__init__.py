"""What fits?"""

from quire.fit.arrange import ORDERS, arrange
from quire.fit.dedup import Duplicate, dedup, overlap
from quire.fit.optimal import worth
from quire.fit.pack import OVERFLOWS, PREFERENCES, Packed, as_cut, limited, options, pack, preferred
from quire.fit.settle import settle

__all__ = [
    "ORDERS",
    "OVERFLOWS",
    "PREFERENCES",
    "Duplicate",
    "Packed",
    "arrange",
    "as_cut",
    "dedup",
    "limited",
    "options",
    "overlap",
    "pack",
    "preferred",
    "settle",
    "worth",
]
