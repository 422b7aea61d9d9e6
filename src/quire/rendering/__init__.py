"""Rendering: the text of a context in one of several formats."""

from quire.rendering.code_item import is_part
from quire.rendering.codemap import render_codemap
from quire.rendering.context_item import prose as context_prose
from quire.rendering.context_item import shortened_context
from quire.rendering.entity_text import entity_of, first_line, holds_beginning
from quire.rendering.formats import FORMATS, get_format, heading_text, item_text, render, whole_text
from quire.rendering.items import EXPERIENCE_FIELDS, item_metadata
from quire.rendering.left_out import left_out, lines_of, margin_of
from quire.rendering.names import imported_from, is_virtual, source_name
from quire.rendering.page import CutCode
from quire.rendering.workspace_template import message_text

__all__ = [
    "EXPERIENCE_FIELDS",
    "FORMATS",
    "CutCode",
    "context_prose",
    "entity_of",
    "first_line",
    "get_format",
    "heading_text",
    "holds_beginning",
    "imported_from",
    "is_part",
    "is_virtual",
    "item_metadata",
    "item_text",
    "left_out",
    "lines_of",
    "margin_of",
    "message_text",
    "render",
    "render_codemap",
    "shortened_context",
    "source_name",
    "whole_text",
]
