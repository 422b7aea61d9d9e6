"""Grapheme boundaries: places where a text may be cut.

What a reader sees as one character may be many code points: a letter with its accents, a flag, a
family of emoji. This follows Unicode's rules for them (UAX 29) on the safe side: where a rule is
long, it reports no boundary.
"""

from __future__ import annotations

import unicodedata

_ASCII_END = "\x80"
_VIRAMA = 9
_JOINER = "\u200d"
_MARKS = frozenset({"Mn", "Mc", "Me"})
_NOT_MARKS_BUT_EXTENDING = (
    ("\u200c", "\u200d"),  # joiners
    ("\u0e33", "\u0e33"),  # Thai am
    ("\u0eb3", "\u0eb3"),  # Lao am
    ("\u1160", "\u11ff"),  # Hangul vowels and final consonants
    ("\ud7b0", "\ud7fb"),
    ("\uff9e", "\uff9f"),  # halfwidth Katakana marks
    ("\U0001f3fb", "\U0001f3ff"),  # skin tones
    ("\U000e0020", "\U000e007f"),  # tags, as in the flags of regions
)
_PREPENDED_LETTERS = frozenset(
    "\u0d4e\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011a84\U00011a85\U00011a86"
    "\U00011a87\U00011a88\U00011a89\U00011d46\U00011f02"
)
_REGIONAL = ("\U0001f1e6", "\U0001f1ff")
_HANGUL_LEADING = (("\u1100", "\u115f"), ("\ua960", "\ua97c"))
_HANGUL_SYLLABLES = ("\uac00", "\ud7a3")


def is_boundary(text: str, at: int, start: int = 0) -> bool:
    """Tell whether a text may be cut at a place: whether a grapheme ends there.

    `start` is a place that is known to be a boundary: nothing before it is read.
    """
    if at <= start or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before == "\r":
        return after != "\n"
    if before == "\n" or (before < _ASCII_END and after < _ASCII_END):
        return True
    return not (
        _extends(after)
        or _joins_next(text, at, start)
        or (_in(after, _REGIONAL) and _inside_flag(text, at, start))
        or (_leads(before) and (_leads(after) or _in(after, _HANGUL_SYLLABLES)))
    )


def last_boundary(text: str, at: int) -> int:
    """Return the last boundary up to `at`."""
    at = min(at, len(text))
    while not is_boundary(text, at):
        at -= 1
    return at


def _in(character: str, span: tuple[str, str]) -> bool:
    return span[0] <= character <= span[1]


def _extends(character: str) -> bool:
    return unicodedata.category(character) in _MARKS or any(
        _in(character, span) for span in _NOT_MARKS_BUT_EXTENDING
    )


def _leads(character: str) -> bool:
    return any(_in(character, span) for span in _HANGUL_LEADING)


def _joins_next(text: str, at: int, start: int) -> bool:
    """Tell whether the grapheme before a place includes the next character: joiners, conjuncts."""
    before = text[at - 1]
    if before == _JOINER or before in _PREPENDED_LETTERS:
        return True
    if unicodedata.category(before) == "Cf" and not _extends(before):
        return True
    # A consonant after a virama joins the one before it, whatever other marks are between them.
    while at > start and _extends(text[at - 1]):
        if unicodedata.combining(text[at - 1]) == _VIRAMA:
            return True
        at -= 1
    return False


def _inside_flag(text: str, at: int, start: int) -> bool:
    """Tell whether an odd number of flag letters precedes a place: two of them are one flag."""
    first = at
    while first > start and _in(text[first - 1], _REGIONAL):
        first -= 1
    return (at - first) % 2 == 1
