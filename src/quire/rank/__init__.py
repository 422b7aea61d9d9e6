"""What helps most?"""

from quire.rank.fusion import FUSIONS, Fused, fuse
from quire.rank.recency import fresher
from quire.rank.references import importance, is_shown

__all__ = ["FUSIONS", "Fused", "fresher", "fuse", "importance", "is_shown"]
