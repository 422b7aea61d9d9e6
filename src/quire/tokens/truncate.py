"""Truncate a text to a number of tokens, at a good place to end.

The result is a prefix of the text that has at most so many tokens: it is counted, never
estimated. It ends with a paragraph, a line or a sentence if one ends near the limit, else with a
word, and never within a grapheme.

A prefix may have slightly more tokens than the whole text, because its last word is torn. Counts
therefore grow only nearly with the length, and whatever is returned has been counted itself.
"""

from __future__ import annotations

import re

from quire.core.graphemes import is_boundary, last_boundary
from quire.core.protocols import Counter
from quire.core.sentences import last_sentence_end

_CHARACTERS_PER_TOKEN = 12
"""Taken for the first prefix that is counted: most text has three to five."""

_TORN_TOKENS = 16
"""By so many tokens a prefix may exceed the whole; far more than was ever seen."""

_LOOKAHEAD = 8
"""Characters behind the limit that show whether something ends with it."""

_MAX_WORD = 64
"""Characters within which the end of a torn word is searched for."""

_PARAGRAPH = re.compile(r"\r?\n[^\S\n]*\n")
_LINE = re.compile(r"\r?\n")
_WORD = re.compile(r"(?<=\S)\s")


def truncate_text(counter: Counter, text: str, limit: int) -> str:
    """Return the longest well-ended prefix of a text that has at most `limit` tokens.

    A text that fits is returned unchanged; a truncated one has no white space at its end.
    """
    if limit <= 0:
        return ""
    size, count = _find_upper_bound(counter, text, limit)
    if count <= limit:
        return text
    end = _search_limit(counter, text, limit, size, count)
    end = _complete_word(counter, text, limit, end)
    while end > 0:
        prefix = _trim(text, _choose_end(text, end))
        if counter.count(prefix) <= limit:
            return prefix
        end = len(prefix) - 1
    return ""


def _find_upper_bound(counter: Counter, text: str, limit: int) -> tuple[int, int]:
    """Return a length that surely does not fit, or the whole text's, and its count.

    Nobody should count a megabyte to keep a hundred tokens of it: the prefix is doubled until it
    has twice the limit, far more than a torn word can account for.
    """
    size = _CHARACTERS_PER_TOKEN * limit
    while size < len(text):
        count = counter.count(text[:size])
        if count > 2 * limit + _TORN_TOKENS:
            return size, count
        size *= 2
    return len(text), counter.count(text)


def _search_limit(
    counter: Counter, text: str, limit: int, too_long: int, too_long_count: int
) -> int:
    """Return about how many characters fit.

    Most of what fits is not counted again at every step. It is closed before a white space, where
    a token nearly always ends too, and only what follows is counted.
    """
    closed = closed_count = fits = fits_count = step = 0
    while too_long - fits > 1:
        # Tokens are spread evenly enough to guess the place: a little before it, then a little
        # behind it, so that both sides close in. Halving every third time bounds the steps.
        guess = (too_long - fits) * (limit - fits_count) // (too_long_count - fits_count)
        ahead = (guess * 15 // 16, guess * 17 // 16, (too_long - fits) // 2)[step % 3]
        middle = min(max(fits + ahead, fits + 1), too_long - 1)
        middle = _find_last_word(text, fits, middle) or middle
        count = closed_count + counter.count(text[closed:middle])
        if count > limit:
            too_long, too_long_count = middle, count
        else:
            fits, fits_count = middle, count
            if 2 * (too_long - fits) < fits - closed and text[fits].isspace():
                closed, closed_count = fits, count
        step += 1
    return fits


def _complete_word(counter: Counter, text: str, limit: int, end: int) -> int:
    """Move the end to that of a torn word while that fits: a whole word may have fewer tokens."""
    while match := _WORD.search(text, end + 1, end + _MAX_WORD):
        if counter.count(text[: match.start()]) > limit:
            break
        end = match.start()
    return end


def _choose_end(text: str, limit: int) -> int:
    """Choose a break in the last fifth before the limit, or a word's end in the last half.

    Going back further would lose too much: such text has no spaces.
    """
    near, half = limit - limit // 5, limit - limit // 2
    return (
        _find_last(_PARAGRAPH, text, near, limit)
        or _find_last(_LINE, text, near, limit)
        or last_sentence_end(text, near, limit)
        or _find_last_word(text, half, limit)
        or limit
    )


def _find_last(pattern: re.Pattern[str], text: str, after: int, limit: int) -> int:
    """Return the last break behind `after` and up to the limit; 0 if there is none."""
    ends = (match.start() for match in pattern.finditer(text, after, limit + _LOOKAHEAD))
    return max((end for end in ends if after < end <= limit), default=0)


def _find_last_word(text: str, after: int, limit: int) -> int:
    """Return the end of the last word likewise; it is mostly near the limit."""
    near = max(after, limit - _MAX_WORD)
    return _find_last(_WORD, text, near, limit) or _find_last(_WORD, text, after, near)


def _trim(text: str, end: int) -> str:
    """Return the prefix without white space or a torn grapheme at its end."""
    prefix = text[:end].rstrip()
    while not is_boundary(text, len(prefix)):
        prefix = text[: last_boundary(text, len(prefix))].rstrip()
    return prefix
