"""Do two items say the same in nearly the same words?

They are alike if more than a share of their words is common to both, in whatever order and case.
A number, a name in code or a "not" that only one of them has makes them differ, however long they
are: port 8080 is not port 9090. What is compared are words, so sentences may have moved.
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
_DECIDING = re.compile(r"\d|_|[^\W\d_][A-Z](?=[a-z])|n['\u2019]t$")
"""Of what differs in such a word, the meaning depends."""
_DENYING = frozenset(
    ["cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "without"]
)


@dataclass(frozen=True, slots=True)
class _Said:
    """What an item says, without its order."""

    words: Counter[str]
    count: int
    deciding: tuple[str, ...]


def alike(
    candidates: Sequence[Candidate], threshold: float
) -> tuple[list[Candidate], list[Duplicate]]:
    """Part candidates, best first, into those to keep and those that are like a better one.

    Pieces of one record are not compared: two functions of a file may be alike, and yet be two.
    """
    permille = round(threshold * 1000)
    said = _said([candidate.chunk.text for candidate in candidates])
    # Only those with the same deciding words can be alike: mostly there is nobody to look at.
    groups = Counter(each.deciding for each in said)
    held = Counter(chain.from_iterable(each.words for each in said if groups[each.deciding] > 1))
    kept: list[Candidate] = []
    dropped: list[Duplicate] = []
    known: list[_Said] = []
    holding: dict[tuple[tuple[str, ...], str], list[int]] = {}
    for candidate, own in zip(candidates, said, strict=True):
        if groups[own.deciding] == 1:
            kept.append(candidate)
            known.append(own)
            continue
        # Whoever shares so much holds one of any few words that are too many to be missed.
        spare = own.count - permille * own.count // (2000 - permille)
        near = {
            place
            for word in _rarest(own, held, spare)
            for place in holding.get((own.deciding, word), ())
            if kept[place].chunk.record_id != candidate.chunk.record_id
        }
        best, share = None, permille * 1000
        for place in sorted(near):
            found = _share(own, known[place])
            if found > share:
                best, share = place, found
        if best is not None:
            dropped.append(Duplicate(candidate, kept[best], share // 10_000))
            continue
        for word in own.words:
            holding.setdefault((own.deciding, word), []).append(len(kept))
        kept.append(candidate)
        known.append(own)
    return kept, dropped


def _said(texts: Sequence[str]) -> list[_Said]:
    found = [_WORD.findall(text) for text in texts]
    spelt = {word: word.lower() for word in set().union(*found)}
    deciding = {word for word in spelt if _decides(word)}
    return [
        _Said(
            Counter([spelt[word] for word in words]),
            len(words),
            tuple(sorted(spelt[word] for word in words if word in deciding)),
        )
        for words in found
    ]


def _decides(word: str) -> bool:
    if word.isalpha() and (word.islower() or word.istitle()):
        return word.lower() in _DENYING  # nearly all words: the pattern finds nothing in them
    return bool(_DECIDING.search(word)) or word.lower() in _DENYING


def _rarest(own: _Said, held: Counter[str], count: int) -> list[str]:
    """Give the rarest words, so many that they make up a count."""
    chosen: list[str] = []
    for word in sorted(own.words, key=lambda word: (held[word], word)):
        if count <= 0:
            break
        chosen.append(word)
        count -= own.words[word]
    return chosen


def _share(one: _Said, other: _Said) -> int:
    """Give the share of words that both have, in millionths."""
    common = sum((one.words & other.words).values())
    return 2_000_000 * common // max(1, one.count + other.count)
