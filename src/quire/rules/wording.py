"""What the words of a condition and of a situation say that their vectors do not.

Vectors see the topic. Two things that they miss are cheap to see in the words: whether the
situation names the things that the condition is about, and whether it only looks at them ("which
columns does the table have?") where the condition wants something done ("tables are altered"). The
lists are English; in other languages the vectors decide alone.
"""

from __future__ import annotations

import re

from quire.core.types import Situation


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


COMMON_WORDS = _words(
    "a about add added after again all also an and any are as at be because been before being"
    " both by can change changed changes concern concerned could customer customers data did"
    " discuss discussed do does each every file files for from had has have he her here his how"
    " i if in into involve involved is it its just made make may me might more most must my new"
    " no nor not of old on only or our out over own plan planned read same she should since so"
    " some such than that the their them then there these they this those to too under until up"
    " us use used user users very was we were what when where which while who whom why will with"
    " would write written you your"
)
"""Words that name nothing, or what nearly every condition names."""
LOOKING_WORDS = _words(
    "are can compare count describe do does explain find how is list read see show what when"
    " where which who why"
)
"""The first words of a wish to know something."""
ACTIONS = _words(
    "added adds altered built calculated cancelled change changed changes computed connected"
    " deleted done edited granted handled issued moved overwritten planned prepared removed"
    " renewed restored reviewed sent shared switched touched tracked trained updated used"
    " written"
)
"""Verbs of conditions that want something done."""
ENDINGS = ("ations", "ation", "ings", "ing", "ed", "es", "s", "er", "ly")
MIN_STEM = 3
WISH_KEYS = ("intent", "message")
_WORD = re.compile(r"[a-z]{2,}")
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FIRST = re.compile(r"\W*(\w+)")


def shared_words(sentence: str, text: str) -> tuple[int, int]:
    """Return how many of the things that a sentence names a text names too, and of how many."""
    named = _stems(sentence)
    return len(named & _stems(text)), len(named)


def only_looks(sentence: str, situation: Situation) -> bool:
    """Tell whether a situation only asks to know something where a sentence wants an action."""
    wishes = (situation.get(key) for key in WISH_KEYS)
    wish = next((value for value in wishes if isinstance(value, str) and value), "")
    first = _FIRST.match(wish)
    if first is None or first[1].lower() not in LOOKING_WORDS:
        return False
    return not ACTIONS.isdisjoint(_WORD.findall(sentence.lower()))


def _stems(text: str) -> set[str]:
    words = _WORD.findall(_CASE.sub(" ", text).lower())
    return {_stem(word) for word in words if word not in COMMON_WORDS}


def _stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM:
            return word.removesuffix(ending)
    return word
