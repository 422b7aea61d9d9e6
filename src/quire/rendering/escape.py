"""Escaping: a text never breaks the format around it, whatever it contains."""

from __future__ import annotations

import re

_BACKTICKS = re.compile(r"`{3,}")
_BLOCK = re.compile(
    r"(?m)^((?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))*?[ \t]*)"  # in quotes and lists as well
    r"(?=`{3}|~{3}|\#|<|={2}|-{2}|\*{3}|_{3}|[=-][ \t]*$"
    r"|(?:-[ \t]+){2}-|(?:\*[ \t]+){2}\*|_[ \t]+_)"
)
"""The beginning of a line that would start another Markdown block than a paragraph."""
_LINE_END = re.compile(r"\r\n?")
_MARKER = re.compile(r"(?m)^[ \t]*\[DOC:")
_LINE_BREAKING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def escape_line(text: str) -> str:
    """Escape what would break a line or a terminal: a file may have any name."""
    if text.isprintable():
        return text
    return _LINE_BREAKING.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def escape_paragraph(text: str) -> str:
    """Escape a text so that Markdown reads none of its lines as a heading, a fence or a rule."""
    return _BLOCK.sub(r"\1\\", _LINE_END.sub("\n", text))


def escape_markers(text: str) -> str:
    """Escape a text so that none of its lines looks like the marker of another document."""
    return _MARKER.sub(r"\\\g<0>", text) if "[DOC:" in text else text


def fence(text: str) -> str:
    """Return a code fence that no line of a text can end."""
    usual = "```"
    if usual not in text:
        return usual
    return "`" * (1 + max(map(len, _BACKTICKS.findall(text))))


def code_span(name: str) -> str:
    """Return a name as a Markdown code span, whether it contains back-ticks or not."""
    name = escape_line(name)
    ticks = "`" * (1 + max(map(len, re.findall("`+", name)), default=0))
    pad = " " if name.startswith("`") or name.endswith("`") else ""
    return f"{ticks}{pad}{name}{pad}{ticks}"
