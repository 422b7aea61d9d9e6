"""Lines of code that are comments, whatever the language is."""

from __future__ import annotations

import re

COMMENT = re.compile(r"\A\s*+(?:#(?!!?\[|define)|//|/\*|\*|--|;;)")
"""The beginning of a line that is a comment, and no attribute of Rust or PHP."""


def count_leading_comments(text: str) -> int:
    """Return how many lines of comments and blank lines stand above the code of a text.

    0 if it holds nothing else.
    """
    number = at = 0
    while at <= len(text):
        end = text.find("\n", at)
        line = text[at : end if end >= 0 else len(text)]
        if line.strip() and not COMMENT.match(line):
            return number
        at += len(line) + 1
        number += 1
    return 0
