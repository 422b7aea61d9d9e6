"""Near duplicates: items that say the same in nearly the same words.

Two items are near duplicates if they share more than a certain part of their words, in any order
and case, and differ in nothing that matters (`differences`): port 8080 is not port 9090. Words are
compared, so sentences may have moved. Only items with the same numbers, names in code and negations
are compared at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from quire.core.types import Candidate
from quire.packing.dedup import MAX_OF, Duplicate
from quire.packing.differences import may_replace
from quire.packing.wording import NEGATIONS

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_DECISIVE = re.compile(r"\d|_|[^\W\d_][A-Z](?=[a-z])")
"""Words that change the meaning of a text if they differ: numbers, names in code, negations."""
_SHORT_NEGATION = re.compile(r"n['\u2019]t\b|(?<=\bca)nnot\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _BagOfWords:
    """The words of a text without their order."""

    words: Counter[str]
    count: int
    decisive: tuple[str, ...]


def dedup_near(
    candidates: Sequence[Candidate], threshold: float
) -> tuple[list[Candidate], list[Duplicate]]:
    """Split candidates, best first, into those to keep and near duplicates of a better one.

    Chunks of one record are not compared: two functions of a file may be alike and still be two.
    """
    permille = round(threshold * 1000)
    bags = _bags_of_words([candidate.content for candidate in candidates])
    # Only items with the same decisive words can be near duplicates: most have no counterpart.
    groups = Counter(bag.decisive for bag in bags)
    frequency = Counter(chain.from_iterable(bag.words for bag in bags if groups[bag.decisive] > 1))
    kept: list[Candidate] = []
    dropped: list[Duplicate] = []
    with_word: dict[tuple[tuple[str, ...], str], list[int]] = {}
    is_kept: list[bool] = []
    for number, (candidate, bag) in enumerate(zip(candidates, bags, strict=True)):
        is_kept.append(True)
        if groups[bag.decisive] == 1:
            kept.append(candidate)
            continue
        # Two items that share enough words cannot both lack all of these few rare ones.
        spare = bag.count - permille * bag.count // (2000 - permille)
        suspects = {
            index
            for word in _rarest_words(bag, frequency, spare)
            for index in with_word.get((bag.decisive, word), ())
            if candidates[index].chunk.record_id != candidate.chunk.record_id
        }
        for word in bag.words:
            with_word.setdefault((bag.decisive, word), []).append(number)
        shares = {index: _share(bag, bags[index]) for index in suspects}
        likely = sorted(
            (index for index in suspects if shares[index] > permille * 1000),
            key=lambda index: (not is_kept[index], -shares[index], index),
        )
        better = [index for index in likely[:MAX_OF] if may_replace(candidate, candidates[index])]
        first = next((place for place, index in enumerate(better) if is_kept[index]), None)
        if first is None:
            kept.append(candidate)
            continue
        of = better.pop(first)
        is_kept[number] = False
        also = tuple((candidates[index], shares[index] // 10_000) for index in better)
        dropped.append(Duplicate(candidate, candidates[of], shares[of] // 10_000, also))
    return kept, dropped


def _bags_of_words(texts: Sequence[str]) -> list[_BagOfWords]:
    words_of_texts = [_WORD.findall(_SHORT_NEGATION.sub(" not", text)) for text in texts]
    lower = {word: word.lower() for word in set().union(*words_of_texts)}
    decisive = {word for word in lower if _is_decisive(word)}
    return [
        _BagOfWords(
            Counter([lower[word] for word in words]),
            len(words),
            tuple(sorted(lower[word] for word in words if word in decisive)),
        )
        for words in words_of_texts
    ]


def _is_decisive(word: str) -> bool:
    if word.isalpha() and (word.islower() or word.istitle()):
        return word.lower() in NEGATIONS  # nearly all words: the pattern finds nothing in them
    return bool(_DECISIVE.search(word)) or word.lower() in NEGATIONS


def _rarest_words(bag: _BagOfWords, frequency: Counter[str], count: int) -> list[str]:
    """Return the rarest words of a text, as many as have `count` occurrences in it."""
    rarest: list[str] = []
    for word in sorted(bag.words, key=lambda word: (frequency[word], word)):
        if count <= 0:
            break
        rarest.append(word)
        count -= bag.words[word]
    return rarest


def _share(bag: _BagOfWords, other: _BagOfWords) -> int:
    """Return the share of words that both have, in millionths."""
    common = sum((bag.words & other.words).values())
    return 2_000_000 * common // max(1, bag.count + other.count)
