"""Twins: definitions that say nearly what a better one says.

The asynchronous copy of a method, or `get`, `head` and `options` that all call `request`: a reader
who has seen one of them needs no more than the declarations of the others. Names, and the words of
asynchronous code, do not count in the comparison. Nor does one need the overloads of a function
whose implementation is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from quire.core.types import Candidate
from quire.pipeline.units import CALLABLES, is_overload

ALIKE = 85
"""Percent of the words of both that twins have in common, at least."""
MIN_WORDS = 12
"""Shorter definitions are shown whole: their declarations are not much shorter."""
MAX_COMPARED = 40
"""So many definitions are compared with each other, the best ones."""
ASYNC_WORDS = frozenset({"async", "await"})
_WORD = re.compile(r"\w+")


def find_twins(candidates: Iterable[Candidate], known: dict[str, Counter[str]]) -> frozenset[str]:
    """Return the ids of chunks whose definition is nearly that of an earlier candidate.

    Their words are kept in `known`.
    """
    seen: list[Counter[str]] = []
    twins: set[str] = set()
    for candidate in candidates:
        name = candidate.chunk.id
        if name not in known:
            known[name] = _words(candidate)
        words = known[name]
        total = words.total()
        if total < MIN_WORDS:
            continue
        if len(seen) >= MAX_COMPARED:
            break
        if any(_are_alike(words, total, other) for other in seen):
            twins.add(name)
        else:
            seen.append(words)
    return frozenset(twins)


def find_overloads(candidates: Sequence[Candidate]) -> list[tuple[Candidate, Candidate]]:
    """Return the declarations that another candidate implements, each with that candidate."""
    implemented = {
        (candidate.chunk.record_id, candidate.unit.entity.qualified): candidate
        for candidate in reversed(candidates)
        if candidate.unit is not None and not is_overload(candidate.unit.entity)
    }
    pairs: list[tuple[Candidate, Candidate]] = []
    for candidate in candidates:
        unit = candidate.unit
        if unit is None or len(unit.others) > 1 or not is_overload(unit.entity):
            continue
        other = implemented.get((candidate.chunk.record_id, unit.entity.qualified))
        if other is not None:
            pairs.append((candidate, other))
    return pairs


def _are_alike(words: Counter[str], total: int, other: Counter[str]) -> bool:
    size = other.total()
    if 100 * min(total, size) < ALIKE * max(total, size):
        return False
    common = (words & other).total()
    return 100 * common >= ALIKE * (total + size - common)


def _words(candidate: Candidate) -> Counter[str]:
    """Count the words of a definition that a chunk holds as a whole; of others there are none."""
    unit, chunk = candidate.unit, candidate.chunk
    if unit is None or unit.entity.kind not in CALLABLES or unit.lines[0] or unit.others:
        return Counter()
    if unit.entity.start < chunk.start or unit.entity.end > chunk.end:
        return Counter()
    name = unit.entity.name.lower().removeprefix("async").strip("_")
    words = (word.lower().removeprefix("async") for word in _WORD.findall(unit.source))
    return Counter(word for word in words if word not in ASYNC_WORDS and word.strip("_") != name)
