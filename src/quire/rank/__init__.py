"""What helps most?"""

from quire.rank.fusion import Fused, fuse

__all__ = ["Fused", "fuse"]
