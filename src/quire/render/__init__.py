"""How is it said?"""

from quire.render.entities import entity_of
from quire.render.formats import FORMATS, format_of, heading, marker, render, shown
from quire.render.tree import tree

__all__ = ["FORMATS", "entity_of", "format_of", "heading", "marker", "render", "shown", "tree"]
