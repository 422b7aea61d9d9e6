"""How is it said?"""

from quire.render.formats import FORMATS, marker, render

__all__ = ["FORMATS", "marker", "render"]
