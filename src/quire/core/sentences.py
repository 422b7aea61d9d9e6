"""Splitting a text into sentences that together are the text."""

from __future__ import annotations

import re
from itertools import pairwise

_SENTENCE_END = re.compile(
    r"(?<![.!?])[.!?]++[\"')\]\u2019\u201d]*+(?:\s++|\Z)"
    r"|[\u3002\uff01\uff1f\uff61]++[\u300d\u300f\uff09\u2019\u201d]*+\s*+"  # Chinese and Japanese
    r"|\n\s*+"
)


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences and lines, each with the white space after it."""
    return _split(text, [match.end() for match in _SENTENCE_END.finditer(text)])


def split_lines(text: str) -> list[str]:
    """Split a text into lines, each with its line end."""
    return text.splitlines(keepends=True)


def _split(text: str, ends: list[int]) -> list[str]:
    bounds = [0, *ends, len(text)]
    return [text[start:end] for start, end in pairwise(bounds) if start < end]
