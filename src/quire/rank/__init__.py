"""What helps most?"""

from quire.rank.fusion import FUSIONS, SHARE, Fused, fuse
from quire.rank.leaning import EVEN, LONG, WHOLE
from quire.rank.lifts import LIFTS, Known, lifted
from quire.rank.references import importance, is_shown
from quire.rank.weigh import SIGNALS, weighed

__all__ = [
    "EVEN",
    "FUSIONS",
    "LIFTS",
    "LONG",
    "SHARE",
    "SIGNALS",
    "WHOLE",
    "Fused",
    "Known",
    "fuse",
    "importance",
    "is_shown",
    "lifted",
    "weighed",
]
