"""Near duplicates: items that say the same in nearly the same words.

Two items are near duplicates if they share more than a certain part of their words, in any order
and case. A number, a name in code or a "not" that only one of them has makes them differ, however
long they are: port 8080 is not port 9090. Words are compared, so sentences may have moved.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from quire.core.types import Candidate
from quire.packing.dedup import Duplicate

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_DECISIVE = re.compile(r"\d|_|[^\W\d_][A-Z](?=[a-z])|n['\u2019]t$")
"""Words that change the meaning of a text if they differ: numbers, names in code, negations."""
_NEGATIONS = frozenset(
    ["cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "without"]
)


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
    bags = _bags_of_words([candidate.chunk.text for candidate in candidates])
    # Only items with the same decisive words can be near duplicates: most have no counterpart.
    groups = Counter(bag.decisive for bag in bags)
    frequency = Counter(chain.from_iterable(bag.words for bag in bags if groups[bag.decisive] > 1))
    kept: list[Candidate] = []
    dropped: list[Duplicate] = []
    kept_bags: list[_BagOfWords] = []
    kept_with_word: dict[tuple[tuple[str, ...], str], list[int]] = {}
    for candidate, bag in zip(candidates, bags, strict=True):
        if groups[bag.decisive] == 1:
            kept.append(candidate)
            kept_bags.append(bag)
            continue
        # Two items that share enough words cannot both lack all of these few rare ones.
        spare = bag.count - permille * bag.count // (2000 - permille)
        suspects = {
            index
            for word in _rarest_words(bag, frequency, spare)
            for index in kept_with_word.get((bag.decisive, word), ())
            if kept[index].chunk.record_id != candidate.chunk.record_id
        }
        best, best_share = None, permille * 1000
        for index in sorted(suspects):
            share = _share(bag, kept_bags[index])
            if share > best_share:
                best, best_share = index, share
        if best is not None:
            dropped.append(Duplicate(candidate, kept[best], best_share // 10_000))
            continue
        for word in bag.words:
            kept_with_word.setdefault((bag.decisive, word), []).append(len(kept))
        kept.append(candidate)
        kept_bags.append(bag)
    return kept, dropped


def _bags_of_words(texts: Sequence[str]) -> list[_BagOfWords]:
    words_of_texts = [_WORD.findall(text) for text in texts]
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
        return word.lower() in _NEGATIONS  # nearly all words: the pattern finds nothing in them
    return bool(_DECISIVE.search(word)) or word.lower() in _NEGATIONS


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
