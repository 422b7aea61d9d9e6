"""Name the definition that a text of code stands in, where the text itself does not say so.

The title of a chunk of code is the chain of declarations around it, the outermost first. So nothing
but the chunk is needed to name them, and a page can be rendered again from its chunks.
"""

from __future__ import annotations

import re

from quire.core.types import Chunk
from quire.rendering.cut_code import find_declaration

CODE = "code"
MAX_NAME = 80
_JOINT = re.compile(r" > (?=\S)")
_PARAMETERS = re.compile(r"(?<=[\w>\]?!$])\(")
"""Where the parameters of a declaration begin: a receiver, as in Go, stands behind a blank."""
_WORD = re.compile(r"\w")


def name_enclosing(chunk: Chunk, above: Chunk) -> str:
    """Return the innermost definition that a chunk begins in, if it is not one of the text above.

    Empty where the reader takes it for that anyway, or where it begins in none.
    """
    if chunk.kind != CODE:
        return ""
    around = _enclosing(chunk)
    if not around or _titles(above)[: len(around)] == around:
        return ""
    return _short_name(around[-1])


def _titles(chunk: Chunk) -> list[str]:
    return _JOINT.split(chunk.title) if chunk.title else []


def _enclosing(chunk: Chunk) -> list[str]:
    """Return the declarations of what a chunk begins in: all of its title that it does not hold."""
    titles = _titles(chunk)
    while titles and _declares(chunk.text, _short_name(titles[-1])):
        titles.pop()
    return titles


def _declares(text: str, name: str) -> bool:
    """Tell whether a text holds the beginning of a declaration, and not only a longer name."""
    begin, end = find_declaration(text, name)
    if not end or _WORD.match(text[end : end + 1]):
        return False
    return not (begin and _WORD.match(text[begin - 1]))


def _short_name(declaration: str) -> str:
    """Return a declaration without its parameters or base classes: `class Cart`, `def total`."""
    if (parameters := _PARAMETERS.search(declaration)) is not None:
        declaration = declaration[: parameters.start()]
    if len(declaration) <= MAX_NAME:
        return declaration
    return declaration[: MAX_NAME - 1].rstrip() + "…"
