"""How is it said?"""

from quire.rendering.codemap import tree
from quire.rendering.entities import entity_of
from quire.rendering.formats import FORMATS, format_of, heading, marker, render, shown
from quire.rendering.page import PARTS, about
from quire.rendering.workspace_template import message

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
