"""What helps most?"""

from quire.rank.fusion import FUSIONS, Fused, fuse
from quire.rank.references import importance, is_shown

__all__ = ["FUSIONS", "Fused", "fuse", "importance", "is_shown"]
