"""What do the best pieces speak of, and where else is it told?

An answer often stands one step away: the question names a town, the best piece names its county,
and another document tells of the county. So names that are rare are taken from the best pieces, if
these hold a name of the question, and whatever else holds them is a candidate, the more so the
rarer the name and the better the piece. One step, from few pieces: more of either brings noise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from quire.core.protocols import View
from quire.core.types import Chunk, Filter, Hit, Hits

LINKED = "linked"
LEADS = 3
"""So many of the best pieces are followed."""
MOST_NAMES = 32
"""So many names of a piece are looked up, the first ones."""
MOST_HOLDING = 60
RARE = 100
FEW = 4
"""A name that more chunks hold, or more than a few and one in a hundred, leads everywhere."""
SHORTEST = 4
"""Shorter names are initials and abbreviations."""
RARITY_BITS = 12
CODE = "code"
"""What is written large in it is no name; what a definition uses leads nearly everywhere."""

_WORD = re.compile(r"\w[\w'\u2019&-]*")
_FORMULA = re.compile(r"[A-Z]{2}|[^\W\d_]\d|\d[^\W\d_]")  # acronyms and terms such as BRCA1
_GAP = re.compile(
    r"[ \t]*\n?[ \t]*"
)  # a name may go on in the next line, not in the next paragraph
_SENTENCE_START = re.compile(r"(?:\A|[.!?:;\"\u201c(\[\n*#>-])\s*\Z")
_BETWEEN = frozenset({"of", "the", "de", "du", "la", "von", "van", "and", "for", "in", "on"})
_MOST_BETWEEN = 2
_LEADING = frozenset(
    """a an and as at but by for from he her his if in it its my of on or our she so that the their
    then there these they this those to was we were what when where which who why you your
    """.split()  # noqa: SIM905 - read as prose, it is easier to check
)
"""Words that are written large only because a sentence begins with them."""


def follow(
    view: View, query: str, leads: Sequence[tuple[Chunk, int]], depth: int, where: Filter
) -> Hits:
    """Find what else holds the rare names that stand in the best pieces, each with its score."""
    asked = _words(query)
    wanted = [_words(name) for name in names(query)]
    most = max(FEW, min(MOST_HOLDING, view.coverage().chunks // RARE))
    best: dict[str, Hit] = {}
    for chunk, score in leads:
        held = _words(f"{chunk.title} {chunk.text}")
        if chunk.kind == CODE or not any(name <= held for name in wanted):
            continue
        found = dict.fromkeys(name for name in names(chunk.text) if not _words(name) <= asked)
        for holding in view.match_all(list(islice(found, MOST_NAMES)), most, where):
            for hit in holding:
                worth = score * hit.score >> RARITY_BITS
                known = best.get(hit.id)
                if hit.path != chunk.path and worth > (known.score if known else 0):
                    best[hit.id] = Hit(hit.id, worth, hit.path, hit.sequence, hit.start)
    return Hits(tuple(sorted(best.values(), key=lambda hit: hit.order)[:depth]))


def names(text: str) -> Iterator[str]:
    """Go through the names in a text: words written large, one after the other.

    A single word at the beginning of a sentence is none: it may be any word. Nor is an acronym,
    which is a term more often than somebody's name.
    """
    run: list[re.Match[str]] = []
    for word in (*_WORD.finditer(text), None):
        if word is not None and _goes_on(text, run, word):
            run.append(word)
            continue
        yield from _named(text, run)
        run = [word] if word is not None and _is_large(word.group()) else []


def _goes_on(text: str, run: Sequence[re.Match[str]], word: re.Match[str]) -> bool:
    if not run or not _GAP.fullmatch(text, run[-1].end(), word.start()):
        return False
    if _is_large(word.group()) or word.group().isdigit():
        return True
    between = [each.group() for each in run[-_MOST_BETWEEN:]]
    return word.group() in _BETWEEN and not all(each in _BETWEEN for each in between)


def _is_large(word: str) -> bool:
    return word[0].isupper() and not _FORMULA.search(word)


def _named(text: str, run: list[re.Match[str]]) -> Iterator[str]:
    while run and run[-1].group() in _BETWEEN:
        run = run[:-1]
    first = run[0] if run else None
    while run and run[0].group().lower() in _LEADING:
        run = run[1:]
    if not run:
        return
    begins = run[0] is first and _SENTENCE_START.search(
        text, max(0, run[0].start() - 4), run[0].start()
    )
    name = text[run[0].start() : run[-1].end()]
    if len(name) >= SHORTEST and not (len(run) == 1 and begins):
        yield " ".join(name.split())


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w\w+", text)}  # no letter of a possessive
