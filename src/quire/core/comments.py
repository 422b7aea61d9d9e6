"""Lines of code that are comments, whatever the language is."""

from __future__ import annotations

import re

COMMENT = re.compile(r"\A\s*+(?:#(?!!?\[|define)|//|/\*|\*|--|;;)")
"""The beginning of a line that is a comment, and no attribute of Rust or PHP."""


def count_leading_comments(text: str) -> int:
    """Return how many lines of comments and blank lines stand above the code of a text.

    0 if it holds nothing else.
    """
    for number, line in enumerate(text.split("\n")):
        if line.strip() and not COMMENT.match(line):
            return number
    return 0
