"""What helps most?"""

from quire.ranking.boosts import LIFTS, FeatureTable, lifted
from quire.ranking.fusion import FUSIONS, SHARE, Fused, fuse
from quire.ranking.pagerank import importance, is_shown
from quire.ranking.signals import SIGNALS, weighed
from quire.ranking.source_weights import EVEN, LONG, WHOLE

__all__ = [
    "EVEN",
    "FUSIONS",
    "LIFTS",
    "LONG",
    "SHARE",
    "SIGNALS",
    "WHOLE",
    "FeatureTable",
    "Fused",
    "fuse",
    "importance",
    "is_shown",
    "lifted",
    "weighed",
]
