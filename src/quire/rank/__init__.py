"""What helps most?"""

from quire.rank.fusion import FUSIONS, SHARE, Fused, fuse
from quire.rank.lifts import LIFTS, Known, lifted
from quire.rank.references import importance, is_shown
from quire.rank.weigh import SIGNALS, weighed

__all__ = [
    "FUSIONS",
    "LIFTS",
    "SHARE",
    "SIGNALS",
    "Fused",
    "Known",
    "fuse",
    "importance",
    "is_shown",
    "lifted",
    "weighed",
]
