"""Ends of sentences: where a text may be cut so that it still reads as a text."""

from __future__ import annotations

import re

from quire.core.graphemes import last_boundary

ABBREVIATIONS = r"Mr|Mrs|Ms|Dr|Prof|St|Inc|Ltd|Co|Corp|No|Nr|Fig|Sec|cf|vs|approx|e\.g|i\.e"
"""Words whose dot ends no sentence, as a pattern."""
_END = re.compile(
    r"[.!?\u2026][\"')\]\u2019\u201d]*(?=\s)"  # with quotation marks and brackets
    r"|[\u3002\uff01\uff1f\uff61][\u300d\u300f\uff09\u2019\u201d]*"  # Chinese and Japanese
)
_ABBREVIATED = re.compile(rf"\b(?:{ABBREVIATIONS})\.\Z")
_LONGEST_ABBREVIATION = 8
_LOOKAHEAD = 8
"""Characters behind the limit that show whether a sentence ends with it."""
_WORD_END = re.compile(r"(?<=\S)\s")


def last_sentence_end(text: str, after: int, limit: int) -> int:
    """Return the last end of a sentence behind `after` and up to the limit; 0: there is none."""
    ends = (match.end() for match in _END.finditer(text, after, limit + _LOOKAHEAD))
    fitting = [end for end in ends if after < end <= limit]
    return next((end for end in reversed(fitting) if not _is_abbreviated(text, end)), 0)


def cut_text(text: str, limit: int, *, by_line: bool = True) -> str:
    """Return the beginning of a text, at most so many characters of it.

    It ends with a line (unless `by_line` is off) or a sentence in the last third of what fits, else
    with a word, else with a character.
    """
    if len(text) <= limit:
        return text
    near = limit - limit // 3
    end = max(0, text.rfind("\n", near, limit + 1)) if by_line else 0
    end = end or last_sentence_end(text, near, limit)
    end = end or max((m.start() for m in _WORD_END.finditer(text, near, limit + 1)), default=0)
    return text[: end or last_boundary(text, limit)].rstrip()


def _is_abbreviated(text: str, end: int) -> bool:
    return _ABBREVIATED.search(text[max(0, end - _LONGEST_ABBREVIATION) : end]) is not None
