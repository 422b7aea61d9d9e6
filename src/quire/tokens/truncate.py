"""How much of a text fits, and where does it end well?

A beginning of the text that counts at most so many tokens: counted as it stands, never
guessed. It ends with a paragraph, a line or a sentence if one ends near where the room does,
else with a word, and never within a sign that a reader sees as one.

A beginning may count a little more than the whole (its last word is torn), so that counts
only nearly grow with a text. What is given back has therefore always been counted itself.
"""

from __future__ import annotations

import re

from quire.core.graphemes import last_cut, may_cut
from quire.core.protocols import Counter

_FIRST_LOOK = 12
"""Characters for each token at first: most text has three to five."""

_TORN = 16
"""Tokens by which a beginning may count more than the whole, and much more than was seen."""

_BEHIND = 8
"""Characters behind the room that tell whether something ends with it."""

_LONG_WORD = 64
"""Characters that a word may go on behind the room and still be looked at."""

_PARAGRAPH = re.compile(r"\r?\n[^\S\n]*\n")
_LINE = re.compile(r"\r?\n")
_SENTENCE = re.compile(
    r"[.!?\u2026][\"')\]\u2019\u201d]*(?=\s)"  # with quotation marks and brackets
    r"|[\u3002\uff01\uff1f\uff61][\u300d\u300f\uff09\u2019\u201d]*"  # Chinese and Japanese
)
_WORD = re.compile(r"(?<=\S)\s")


def cut(counter: Counter, text: str, limit: int) -> str:
    """Give the longest beginning of a text that counts at most `limit` and ends well.

    A text that fits comes back as it is; otherwise no white space is left at its end.
    """
    if limit <= 0:
        return ""
    size, count = _enough(counter, text, limit)
    if count <= limit:
        return text
    room = _whole_word(counter, text, limit, _room(counter, text, limit, size, count))
    while room > 0:
        kept = _tidy(text, _good_end(text, room))
        if counter.count(kept) <= limit:
            return kept
        room = len(kept) - 1
    return ""


def _enough(counter: Counter, text: str, limit: int) -> tuple[int, int]:
    """Find a length that surely does not fit, or that of the whole text; gives its count too.

    A megabyte is not counted to keep a hundred tokens of it: what is looked at is doubled
    until it counts twice the limit, far more than a torn word makes up for.
    """
    size = _FIRST_LOOK * limit
    while size < len(text):
        count = counter.count(text[:size])
        if count > 2 * limit + _TORN:
            return size, count
        size *= 2
    return len(text), counter.count(text)


def _room(counter: Counter, text: str, limit: int, too_long: int, exceeding: int) -> int:
    """Find about how many characters fit.

    Most of what fits is not counted again with every try: it is closed before a white space,
    where tokens end too, nearly always, and what comes behind it is counted alone.
    """
    closed = closed_count = fits = fitting = step = 0
    while too_long - fits > 1:
        # Tokens are spread evenly enough to guess the place: a little before it, then a little
        # behind it, so that both sides close in. Halving every third time bounds the steps.
        guess = (too_long - fits) * (limit - fitting) // (exceeding - fitting)
        ahead = (guess * 15 // 16, guess * 17 // 16, (too_long - fits) // 2)[step % 3]
        middle = min(max(fits + ahead, fits + 1), too_long - 1)
        middle = _last_word(text, fits, middle) or middle
        count = closed_count + counter.count(text[closed:middle])
        if count > limit:
            too_long, exceeding = middle, count
        else:
            fits, fitting = middle, count
            if 2 * (too_long - fits) < fits - closed and text[fits].isspace():
                closed, closed_count = fits, count
        step += 1
    return fits


def _whole_word(counter: Counter, text: str, limit: int, room: int) -> int:
    """Go on to the end of a word that was torn, as long as that fits: whole it may count less."""
    while match := _WORD.search(text, room + 1, room + _LONG_WORD):
        if counter.count(text[: match.start()]) > limit:
            break
        room = match.start()
    return room


def _good_end(text: str, room: int) -> int:
    """Choose where to end: in the last fifth of the room, or with a word in its last half.

    Further back too much would be lost: what stands behind has no spaces.
    """
    near, half = room - room // 5, room - room // 2
    return (
        _last(_PARAGRAPH, text, near, room)
        or _last(_LINE, text, near, room)
        or _last(_SENTENCE, text, near, room)
        or _last_word(text, half, room)
        or room
    )


def _last(ending: re.Pattern[str], text: str, after: int, room: int) -> int:
    """Find the last ending behind a place and within the room; 0 if there is none."""
    ends = (
        match.end() if ending is _SENTENCE else match.start()
        for match in ending.finditer(text, after, room + _BEHIND)
    )
    return max((end for end in ends if after < end <= room), default=0)


def _last_word(text: str, after: int, room: int) -> int:
    """Find where the last word ends, likewise: mostly near the end of the room."""
    near = max(after, room - _LONG_WORD)
    return _last(_WORD, text, near, room) or _last(_WORD, text, after, near)


def _tidy(text: str, end: int) -> str:
    """Take white space off the end, and a sign that would be torn."""
    kept = text[:end].rstrip()
    while not may_cut(text, len(kept)):
        kept = text[: last_cut(text, len(kept))].rstrip()
    return kept
