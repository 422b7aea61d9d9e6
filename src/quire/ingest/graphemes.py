"""May a text be cut between these two characters?

Unicode's rules for what a reader sees as one character, on the safe side: where the rules
are long (prefixes, conjuncts), a cut is refused rather than risked.
"""

from __future__ import annotations

import unicodedata

ZERO_WIDTH_JOINER = "\u200d"
ASCII_END = "\x80"

EXTENDING = (
    ("\u200c", "\u200d"),  # joiners
    ("\u0e33", "\u0e33"),  # Thai am
    ("\u0eb3", "\u0eb3"),  # Lao am
    ("\u1160", "\u11ff"),  # Hangul vowels and final consonants
    ("\ud7b0", "\ud7ff"),
    ("\uff9e", "\uff9f"),  # halfwidth Katakana marks
    ("\U0001f3fb", "\U0001f3ff"),  # skin tones
    ("\U000e0020", "\U000e007f"),  # tags, as in the flags of regions
)
PREPENDING = (
    ("\u0600", "\u0605"),  # Arabic number signs
    ("\u06dd", "\u06dd"),
    ("\u070f", "\u070f"),
    ("\u0890", "\u0891"),
    ("\u08e2", "\u08e2"),
    ("\u0d4e", "\u0d4e"),
    ("\U000110bd", "\U000110cd"),
    ("\U000111c2", "\U000111c3"),
)
REGIONAL = ("\U0001f1e6", "\U0001f1ff")
HANGUL_LEADING = (("\u1100", "\u115f"), ("\ua960", "\ua97f"))
HANGUL_SYLLABLES = ("\uac00", "\ud7a3")
VIRAMA = 9


def may_cut(text: str, at: int, start: int) -> bool:
    """Tell whether two characters belong to one sign; `start` is a place known to be between."""
    if at <= start or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after < ASCII_END and before < ASCII_END:
        return True
    if before == "\n":
        return True
    return not (
        _extends(after)
        or _clings(before)
        or (_in(after, REGIONAL) and _odd_flags(text, at, start))
        or (
            any(_in(before, span) for span in HANGUL_LEADING)
            and (_in(after, HANGUL_SYLLABLES) or any(_in(after, span) for span in HANGUL_LEADING))
        )
    )


def last_cut(text: str, start: int, limit: int, furthest: int) -> int:
    """Find the last place for a cut up to a limit, or the first one behind it."""
    for at in range(min(limit, len(text)), start, -1):
        if may_cut(text, at, start):
            return at
    for at in range(limit + 1, min(furthest, len(text))):
        if may_cut(text, at, start):
            return at
    return min(furthest, len(text))


def _in(character: str, span: tuple[str, str]) -> bool:
    return span[0] <= character <= span[1]


def _extends(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me", "Mc") or any(
        _in(character, span) for span in EXTENDING
    )


def _clings(character: str) -> bool:
    """Tell whether a character draws the next one to itself."""
    return (
        character == ZERO_WIDTH_JOINER
        or unicodedata.combining(character) == VIRAMA
        or any(_in(character, span) for span in PREPENDING)
    )


def _odd_flags(text: str, at: int, start: int) -> bool:
    count = 0
    while at - count > start and _in(text[at - count - 1], REGIONAL):
        count += 1
    return count % 2 == 1
