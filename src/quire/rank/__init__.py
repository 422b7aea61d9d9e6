"""What helps most?"""

from quire.rank.fusion import Fused, fuse
from quire.rank.references import importance, is_shown

__all__ = ["Fused", "fuse", "importance", "is_shown"]
