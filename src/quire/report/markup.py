"""HTML that is escaped by construction: a text becomes a text, whatever it contains."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TypeAlias

VOID = frozenset({"meta", "br", "hr"})
"""The elements that have no end tag."""
SELF_CLOSING = frozenset({"rect"})
"""Elements of SVG that are written without content."""


class Html(str):
    """Markup of our own making."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"


def element(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Html:
    """Return an element; an attribute that is None or False is left out.

    Names of attributes are written as Python has them: `class_`, `aria_label`.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Html(f"<{name}{written}>")
    if name in SELF_CLOSING:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Child) -> Html:
    """Return children one after the other, with every text in them escaped."""
    if children is None:
        return Html("")
    if isinstance(children, Html):
        return children
    if isinstance(children, str | int):
        return Html(html.escape(visible(str(children))))
    return Html("".join(join(child) for child in children))


def visible(text: str) -> str:
    """Return a text with signs in place of characters that no HTML file may hold."""
    return "".join(char if _is_allowed(char) else "\N{REPLACEMENT CHARACTER}" for char in text)


def _is_allowed(char: str) -> bool:
    code = ord(char)
    if code < ord(" "):
        return char in "\t\n"
    return not (0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF)


def _attribute(name: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    plain = name.rstrip("_").replace("_", "-")
    return f" {plain}" if value is True else f' {plain}="{html.escape(visible(str(value)))}"'
