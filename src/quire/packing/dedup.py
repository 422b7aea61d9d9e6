"""Duplicates by overlap: texts whose word runs are found in a better candidate.

The overlap of a text with another is the share of its runs of three words that the other holds. A
candidate whose overlap with a better one is above the threshold is dropped, unless the two differ
in something that matters (`differences`). All runs are sorted once, as numbers: that shows which
candidates share many runs with better ones, and only those are compared, with all better ones at a
time. So the work grows with the text, not with the pairs.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from quire.core.frozen import dataclass
from quire.core.types import Candidate
from quire.packing.differences import may_replace

MAX_OF = 8
"""How many better candidates are compared in detail with one, those that share most first."""
RUN_LENGTH = 3
NUMBER_BITS = 63
"""A run is one number, if the numbers of its words fit into so many bits."""
_WORD = re.compile(r"\w+|[^\w\s]")
_MARKS = tuple(chr(code) for code in range(128) if re.fullmatch(r"[^\w\s]", chr(code)))
"""What is a word of its own in a text of ASCII."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A dropped candidate, the better one that holds it, and how much of it, in percent."""

    candidate: Candidate
    of: Candidate
    percent: int
    also: tuple[tuple[Candidate, int], ...] = ()
    """Other better candidates that hold it, kept or not, and how much of it."""

    @property
    def better(self) -> tuple[tuple[Candidate, int], ...]:
        """All candidates that it is a duplicate of."""
        return ((self.of, self.percent), *self.also)


def dedup(
    candidates: Sequence[Candidate],
    threshold: float,
    *,
    within: bool = True,
    runs: Runs | None = None,
) -> tuple[list[Candidate], list[Duplicate]]:
    """Split candidates, best first, into those to keep and those that duplicate a better one.

    Chunks of one record are compared only with `within`: two functions of a file may be nearly
    alike and still be two. `runs` are those of their texts, if they are known already.
    """
    permille = round(threshold * 1000)
    runs = runs or Runs.of([candidate.content for candidate in candidates])
    suspects = set(np.flatnonzero(runs.shared * 1000 > permille * runs.sizes).tolist())
    with_text: dict[str, list[int]] = {}
    records = np.array([candidate.chunk.record_id for candidate in candidates])
    is_kept = np.zeros(len(candidates), np.bool_)
    kept: list[Candidate] = []
    dropped: list[Duplicate] = []
    for index, candidate in enumerate(candidates):
        same = with_text.setdefault(candidate.content, [])
        better = [(other, 100) for other in same[:MAX_OF]]
        if index in suspects and not any(is_kept[other] for other, _ in better):
            shared = runs.shared_with(index)
            if not within:
                shared[records[: shared.size] == records[index]] = 0
            likely = np.flatnonzero(shared * 1000 > permille * runs.sizes[index])
            likely = likely[np.lexsort((-shared[likely], ~is_kept[likely]))]
            better += [
                (other, int(shared[other]) * 100 // int(runs.sizes[index]))
                for other in likely[:MAX_OF].tolist()
                if other not in same and may_replace(candidate, candidates[other])
            ]
        same.append(index)
        first = next((place for place, (other, _) in enumerate(better) if is_kept[other]), None)
        if first is None:
            is_kept[index] = True
            kept.append(candidate)
            continue
        of, percent = better.pop(first)
        also = tuple((candidates[other], share) for other, share in better)
        dropped.append(Duplicate(candidate, candidates[of], percent, also))
    return kept, dropped


def find_contained(candidates: Sequence[Candidate], runs: Runs | None = None) -> list[Duplicate]:
    """Return the candidates, best first, all of whose text stands in a longer one not as good.

    Only texts of the same kind from different records are compared. Nothing is dropped here: the
    longer one may not fit. `runs` are those of their texts, if they are known already.
    """
    runs = runs or Runs.of([candidate.content for candidate in candidates])
    contained: list[Duplicate] = []
    for index in np.flatnonzero((runs.shared_later == runs.sizes) & (runs.sizes > 0)).tolist():
        candidate = candidates[index]
        holding = np.flatnonzero(runs.shared_with_later(index) == runs.sizes[index])
        longer = [
            (candidates[other], 100)
            for other in holding[:MAX_OF].tolist()
            if candidates[other].chunk.record_id != candidate.chunk.record_id
            and candidates[other].chunk.kind == candidate.chunk.kind
            and may_replace(candidate, candidates[other])
        ]
        if longer:
            (of, percent), *also = longer
            contained.append(Duplicate(candidate, of, percent, tuple(also)))
    return contained


def overlap(text: str, other: str) -> float:
    """Return the share of a text's runs of three words that another text holds."""
    runs = Runs.of([other, text])
    return int(runs.shared[1]) / int(runs.sizes[1]) if runs.sizes[1] else 0.0


class WordNumbers:
    """The words of texts as numbers, each text split once; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        """Two words never have the same number."""
        self._numbers: dict[str, int] = {}
        """A number for each word, in the order in which they were met."""
        self._texts: dict[str, Numbers] = {}

    def __len__(self) -> int:
        """Return how many different words were met."""
        return len(self._numbers)

    def of(self, text: str) -> Numbers:
        """Return the numbers of the words of a text, ignoring case, filled up to one run."""
        numbers = self._texts.get(text)
        if numbers is None:
            words = _pad(_split_words(text.lower()))
            with self._lock:
                known = self._numbers
                numbers = np.array([known.setdefault(word, len(known)) for word in words], np.int64)
            self._texts[text] = numbers
        return numbers


class Runs:
    """The runs of three words of some texts, ignoring case; a shorter text is one run."""

    def __init__(self, numbers: Numbers, owners: Numbers, texts: int) -> None:
        """Take each text (`owners`) with each of its runs once, run by run, the best text first."""
        begins = np.ones(numbers.size, np.bool_)
        begins[1:] = numbers[1:] != numbers[:-1]
        self._numbers = numbers
        self._owners = owners
        """The texts that hold a run, best first, run by run."""
        self._begins = np.flatnonzero(begins)
        self._run_of = np.cumsum(begins) - 1
        self.sizes: Numbers = np.bincount(owners, minlength=texts)
        """Number of different runs of each text."""
        firsts = np.bincount(owners[self._begins], minlength=texts)
        self.shared: Numbers = self.sizes - firsts
        """Number of them that a better text holds."""
        self._ends = np.append(self._begins, owners.size)[1:]
        lasts = np.bincount(owners[self._ends - 1], minlength=texts)
        self.shared_later: Numbers = self.sizes - lasts
        """Number of them that a text holds which is not as good."""

    @classmethod
    def of(cls, texts: Sequence[str], words: WordNumbers | None = None) -> Runs:
        """Return the runs of texts, best first; `words` may know some of the texts."""
        words = WordNumbers() if words is None else words
        numbers = [words.of(text) for text in texts]
        owners = np.repeat(np.arange(len(texts)), [len(each) for each in numbers])
        runs = _number_runs(np.concatenate(numbers or [np.empty(0, np.int64)]), len(words))
        whole = np.flatnonzero(owners[: runs.size] == owners[owners.size - runs.size :])
        # A stable sort: the owners of a run stay in the order of the texts, the best first.
        order = whole[np.argsort(runs[whole], kind="stable")]
        runs, owners = runs[order], owners[order]
        distinct = np.ones(runs.size, np.bool_)
        distinct[1:] = (runs[1:] != runs[:-1]) | (owners[1:] != owners[:-1])
        return cls(runs[distinct], owners[distinct], len(texts))

    def only(self, texts: Sequence[int]) -> Runs:
        """Return the runs of some of the texts, in ascending order."""
        renumbered = np.full(self.sizes.size, -1, np.int64)
        renumbered[texts] = np.arange(len(texts))
        owners = renumbered[self._owners]
        held = owners >= 0
        return Runs(self._numbers[held], owners[held], len(texts))

    def shared_with(self, index: int) -> Numbers:
        """Return how many runs of a text each better text holds."""
        mine = np.flatnonzero(self._owners == index)
        return self._count_owners(self._begins[self._run_of[mine]], mine, index)

    def shared_with_later(self, index: int) -> Numbers:
        """Return how many runs of a text each other one holds that is not as good."""
        mine = np.flatnonzero(self._owners == index)
        return self._count_owners(mine + 1, self._ends[self._run_of[mine]], index)

    def _count_owners(self, begins: Numbers, ends: Numbers, index: int) -> Numbers:
        """Count the texts that hold runs, each of them from a place to before another."""
        lengths = ends - begins
        totals = np.cumsum(lengths)
        positions = np.arange(int(totals[-1])) + np.repeat(begins - (totals - lengths), lengths)
        return np.bincount(self._owners[positions], minlength=index)


def _split_words(text: str) -> list[str]:
    """Split a text into words and marks, as `_WORD` finds them; ASCII several times as fast."""
    if not text.isascii():
        return _WORD.findall(text)
    for mark in _MARKS:
        if mark in text:
            text = text.replace(mark, f" {mark} ")
    return text.split()


def _pad(words: list[str]) -> list[str]:
    """Fill up a text of few words to one run, with empty words."""
    return words + [""] * (RUN_LENGTH - len(words)) if 0 < len(words) < RUN_LENGTH else words


def _number_runs(words: Numbers, different: int) -> Numbers:
    """Return a number for the run that begins at each word; equal runs have equal numbers.

    Words have numbers below `different`.
    """
    bits = different.bit_length()
    runs = words
    for ahead in range(1, RUN_LENGTH):
        if bits * (ahead + 1) > NUMBER_BITS:
            runs = np.unique(runs, return_inverse=True)[1]
        runs = runs[: words[ahead:].size] << bits | words[ahead:]
    return runs
