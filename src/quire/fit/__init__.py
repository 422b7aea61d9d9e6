"""What fits?"""

from quire.fit.arrange import arrange
from quire.fit.dedup import Duplicate, dedup, overlap
from quire.fit.pack import Packed, as_cut, limited, pack
from quire.fit.settle import settle

__all__ = [
    "Duplicate",
    "Packed",
    "arrange",
    "as_cut",
    "dedup",
    "limited",
    "overlap",
    "pack",
    "settle",
]
