"""How is a text said so that what stands around it stays whole, whatever it holds?"""

from __future__ import annotations

import re

_BACKTICKS = re.compile(r"`{3,}")
_BLOCK = re.compile(
    r"(?m)^((?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))*?[ \t]*)"  # in quotes and lists as well
    r"(?=`{3}|~{3}|\#|<|={2}|-{2}|\*{3}|_{3}|[=-][ \t]*$"
    r"|(?:-[ \t]+){2}-|(?:\*[ \t]+){2}\*|_[ \t]+_)"
)
"""What would begin another block of markdown than a paragraph, at the beginning of a line."""
_LINE_END = re.compile(r"\r\n?")
_MARKER = re.compile(r"(?m)^[ \t]*\[DOC:")
_LINE_BREAKING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def one_line(text: str) -> str:
    """Write out what would break a line or a terminal: a file may be called anything."""
    if text.isprintable():
        return text
    return _LINE_BREAKING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def paragraph(text: str) -> str:
    """Write a text so that markdown takes none of its lines for a heading, a fence or a rule."""
    return _BLOCK.sub(r"\1\\", _LINE_END.sub("\n", text))


def unmarked(text: str) -> str:
    """Write a text so that none of its lines looks like the marker of another document."""
    return _MARKER.sub(r"\\\g<0>", text) if "[DOC:" in text else text


def fence(text: str) -> str:
    """Give the fence that no line of a text can end."""
    usual = "```"
    if usual not in text:
        return usual
    return "`" * (1 + max(map(len, _BACKTICKS.findall(text))))


def as_code(name: str) -> str:
    """Write a name as a span of code, back-ticks in it or not."""
    name = one_line(name)
    ticks = "`" * (1 + max(map(len, re.findall("`+", name)), default=0))
    pad = " " if name.startswith("`") or name.endswith("`") else ""
    return f"{ticks}{pad}{name}{pad}{ticks}"
