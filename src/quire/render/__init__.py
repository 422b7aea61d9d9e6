"""How is it said?"""

from quire.render.entities import entity_of
from quire.render.formats import FORMATS, format_of, heading, marker, render, shown
from quire.render.page import PARTS, about
from quire.render.template import message
from quire.render.tree import tree

__all__ = [
    "FORMATS",
    "PARTS",
    "about",
    "entity_of",
    "format_of",
    "heading",
    "marker",
    "message",
    "render",
    "shown",
    "tree",
]
