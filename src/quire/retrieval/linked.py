"""The linked collector: other documents that hold the rare names of the best chunks.

An answer is often one step away: the query names a town, the best chunk names its county, and
another document describes the county. So this takes rare names from the best chunks, if these hold
a name of the query, and collects whatever else holds them. The rarer the name and the better the
chunk, the higher the score. It takes one step from a few chunks: more of either brings noise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from quire.core.protocols import View
from quire.core.types import Hit, Hits
from quire.retrieval.query import Query

LINKED = "linked"
MAX_LEADS = 3
"""Number of the best chunks whose names are followed."""
MAX_NAMES = 32
"""Number of names of a chunk that are looked up, the first ones."""
MAX_CHUNKS = 60
MAX_SHARE = 100
MIN_CHUNKS = 4
"""A name leads everywhere if more than `MAX_CHUNKS` chunks hold it, or more than `MIN_CHUNKS` and
one in `MAX_SHARE`."""
MIN_LENGTH = 4
"""Shorter names are initials and abbreviations."""
RARITY_BITS = 12
CODE = "code"
"""Capitalized words in code are no names, and the names of definitions lead nearly everywhere."""

_WORD = re.compile(r"\w[\w'\u2019&-]*")
_FORMULA = re.compile(r"[A-Z]{2}|[^\W\d_]\d|\d[^\W\d_]")  # acronyms and terms such as BRCA1
_GAP = re.compile(
    r"[ \t]*+(?:\n[ \t]*+)?"
)  # a name may continue in the next line, not in the next paragraph
_SENTENCE_START = re.compile(r"(?:\A|[.!?:;\"\u201c(\[\n*#>-])\s*\Z")
_CONNECTORS = frozenset({"of", "the", "de", "du", "la", "von", "van", "and", "for", "in", "on"})
_MAX_CONNECTORS = 2
_SENTENCE_OPENERS = frozenset(
    """a an and as at but by for from he her his if in it its my of on or our she so that the their
    then there these they this those to was we were what when where which who why you your
    """.split()  # noqa: SIM905 - read as prose, it is easier to check
)
"""Words that are capitalized only because they begin a sentence."""


def collect_linked(view: View, query: Query, depth: int) -> Hits:
    """Find what else holds the rare names of the leads."""
    query_words = _words(query.text)
    query_names = [_words(name) for name in find_names(query.text)]
    limit = max(MIN_CHUNKS, min(MAX_CHUNKS, view.coverage().chunks // MAX_SHARE))
    best: dict[str, Hit] = {}
    for chunk, chunk_score in query.leads:
        words = _words(f"{chunk.title} {chunk.text}")
        if chunk.kind == CODE or not any(name <= words for name in query_names):
            continue
        names = dict.fromkeys(
            name for name in find_names(chunk.text) if not _words(name) <= query_words
        )
        for holding in view.match_all(list(islice(names, MAX_NAMES)), limit, query.where):
            for hit in holding:
                score = chunk_score * hit.score >> RARITY_BITS
                previous = best.get(hit.id)
                if hit.path != chunk.path and score > (previous.score if previous else 0):
                    best[hit.id] = Hit(hit.id, score, hit.path, hit.sequence, hit.start)
    return Hits(tuple(sorted(best.values(), key=lambda hit: hit.order)[:depth]))


def find_names(text: str) -> Iterator[str]:
    """Find the names in a text: runs of capitalized words.

    A single word at the beginning of a sentence is not a name: it may be any word. Nor is an
    acronym, which is a term more often than a name.
    """
    run: list[re.Match[str]] = []
    for word in (*_WORD.finditer(text), None):
        if word is not None and _continues(text, run, word):
            run.append(word)
            continue
        yield from _name_of_run(text, run)
        run = [word] if word is not None and _is_capitalized(word.group()) else []


def _continues(text: str, run: Sequence[re.Match[str]], word: re.Match[str]) -> bool:
    if not run or not _GAP.fullmatch(text, run[-1].end(), word.start()):
        return False
    if _is_capitalized(word.group()) or word.group().isdigit():
        return True
    last = [match.group() for match in run[-_MAX_CONNECTORS:]]
    return word.group() in _CONNECTORS and not all(other in _CONNECTORS for other in last)


def _is_capitalized(word: str) -> bool:
    return word[0].isupper() and not _FORMULA.search(word)


def _name_of_run(text: str, run: list[re.Match[str]]) -> Iterator[str]:
    while run and run[-1].group() in _CONNECTORS:
        run = run[:-1]
    first = run[0] if run else None
    while run and run[0].group().lower() in _SENTENCE_OPENERS:
        run = run[1:]
    if not run:
        return
    begins_sentence = run[0] is first and _SENTENCE_START.search(
        text, max(0, run[0].start() - 4), run[0].start()
    )
    name = text[run[0].start() : run[-1].end()]
    if len(name) >= MIN_LENGTH and not (len(run) == 1 and begins_sentence):
        yield " ".join(name.split())


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w\w+", text)}  # no letter of a possessive
