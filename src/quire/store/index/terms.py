"""Terms: the words of a query with the readable rows that contain them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from quire.core import languages
from quire.core.frozen import dataclass
from quire.core.types import LITERAL, Wording
from quire.errors import InputError
from quire.store.damage import damaged
from quire.store.index import analyzer, bm25, lexicon
from quire.store.index.postings import Posting
from quire.store.index.snapshot import IndexSnapshot, RowNumbers
from quire.store.index.totals import Totals, chunk_count, holding

MAX_TERMS = 1024
"""The number of different words of a query that are looked up, the rarest ones."""
MAX_RELATED = 64
"""A query of more different words says enough: no others are looked up in their place."""
WHOLE = 100
"""Percent of its weight that a word has."""
STRIP = 1 << 15
"""The number of rows that are scored at once: few enough for the cache."""
SEARCH_COST = 32
"""Searching a list for one row costs as much as scanning this many of its rows."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query with the readable rows that contain it."""

    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint8]
    query_count: int
    idf: int
    word: str = ""
    """The word of the query; a word that is used in its place has another term of the same word,
    of the rows that do not contain it."""

    @property
    def max_weight(self) -> int:
        """The most that the word can add to the score of a row."""
        return bm25.max_weight(self.query_count, self.idf)

    def add_to(self, scores: npt.NDArray[Any], norms: npt.NDArray[np.int32]) -> None:
        """Add the word's weight to the score of each row that contains it."""
        for start in range(0, self.rows.size, STRIP):
            rows = self.rows[start : start + STRIP]
            counts = self.counts[start : start + STRIP]
            weights = bm25.weights(counts, np.take(norms, rows), self.query_count, self.idf)
            # No row occurs twice in a list; this is `scores[rows] += weights`, only faster.
            np.add.at(scores, rows, weights)

    def weights_in(self, rows: RowNumbers, norms: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the word's weight in each of these rows, 0 where they do not contain it."""
        index = np.searchsorted(self.rows, rows)
        index[index == self.rows.size] = 0
        present = self.rows[index] == rows
        weights = np.zeros(rows.size, np.int32)
        weights[present] = bm25.weights(
            self.counts[index[present]], norms[rows[present]], self.query_count, self.idf
        )
        return weights

    def renumber(self, rows: RowNumbers) -> Term:
        """Replace row numbers by their indices in `rows`, which contains all of them."""
        indices = np.searchsorted(rows, self.rows).astype(np.int32)
        return replace(self, rows=indices)

    def restrict(self, candidates: RowNumbers, scores: npt.NDArray[Any]) -> Term:
        """Keep only the rows among the candidates (and possibly some that a filter excludes)."""
        if candidates.size * SEARCH_COST < self.rows.size:
            index = np.searchsorted(self.rows, candidates)
            index[index == self.rows.size] = 0
            chosen = index[self.rows[index] == candidates]
        else:  # a row that is not a candidate scores less than the lowest candidate
            chosen = np.flatnonzero(np.take(scores, self.rows) >= scores[candidates].min())
        return replace(self, rows=self.rows[chosen], counts=self.counts[chosen])


def check_wording(wording: Wording) -> None:
    """Refuse percentages that are none."""
    for name, percent in (("common", wording.common), ("related", wording.related)):
        if not 0 <= percent <= WHOLE:
            raise InputError(
                f"must be between 0 and {WHOLE}, not {percent}", field=name, value=percent
            )


def find_terms(
    snapshot: IndexSnapshot,
    query: str,
    wording: Wording = LITERAL,
    totals: Totals | None = None,
) -> list[Term]:
    """Look up the words of a query, the rarest first, and those that are used in their place.

    How rare a word is, and which words are looked up, follows from the totals if there are any.
    """
    asked, words, with_related = _read_query(snapshot, query, wording, totals)
    chunks = chunk_count(snapshot, totals)
    terms: list[tuple[int, Term]] = []
    for word, term in asked.items():
        rows, counts = find_posting(snapshot, term.forms)
        size = holding(totals, word, rows.size)
        idf = bm25.idf(chunks, size)
        if word in words.common:
            common = Term(rows, counts, term.count, idf * wording.common // WHOLE, word)
            terms.append((size, common))
            continue
        own = Term(rows, counts, term.count, idf, word)
        terms.append((size, own))
        if with_related:
            others = [other for other in words.related.get(word, ()) if other not in asked]
            found = _find_related(
                snapshot, own, size, others, percent=wording.related, totals=totals
            )
            terms += [(each.rows.size, each) for each in found]
    held = sorted(
        (pair for pair in terms if pair[0]), key=lambda pair: (pair[0], pair[1].word, pair[1].idf)
    )
    return [term for _, term in held[:MAX_TERMS] if term.rows.size]


def count_terms(
    snapshot: IndexSnapshot, query: str, wording: Wording, totals: Totals
) -> dict[str, int]:
    """Return how many readable chunks hold each word that `find_terms` looks up."""
    asked, words, with_related = _read_query(snapshot, query, wording, totals)
    counts = {word: find_posting(snapshot, asked[word].forms)[0].size for word in asked}
    if with_related:
        for word in asked:
            for other in () if word in words.common else words.related.get(word, ()):
                if other not in counts:
                    counts[other] = readable_posting(snapshot, other)[0].size
    return counts


def _read_query(
    snapshot: IndexSnapshot, query: str, wording: Wording, totals: Totals | None
) -> tuple[Mapping[str, analyzer.QueryTerm], lexicon.Lexicon, bool]:
    """Return the words of a query, the lexicon, and whether related words are looked up."""
    asked = analyzer.query_terms(query, stemmed_languages(snapshot, totals))
    words = lexicon.load() if wording != LITERAL else lexicon.EMPTY
    with_related = bool(wording.related) and len(asked) <= MAX_RELATED
    snapshot.prefetch(
        [
            each
            for word, term in asked.items()
            for each in (*term.forms, *(words.related.get(word, ()) if with_related else ()))
        ]
    )
    return asked, words, with_related


def _find_related(
    snapshot: IndexSnapshot,
    own: Term,
    held: int,
    words: Sequence[str],
    *,
    percent: int,
    totals: Totals | None,
) -> list[Term]:
    """Look up the words that are used in place of another one, the rarest first.

    Each row counts for one of them, the rarest that it contains, and none of them counts as more
    rare than the word itself, which `held` chunks hold.
    """
    postings = [(word, *readable_posting(snapshot, word)) for word in words]
    sizes = {word: holding(totals, word, rows.size) for word, rows, _ in postings}
    postings.sort(key=lambda posting: (sizes[posting[0]], posting[0]))
    taken = np.zeros(snapshot.columns.rows, np.bool_)
    taken[own.rows] = True
    terms = []
    for word, rows, counts in postings:
        if not rows.size:
            continue
        idf = bm25.idf(chunk_count(snapshot, totals), sizes[word])
        idf = min(idf, own.idf) if held else idf
        free = ~taken[rows]
        terms.append(
            Term(rows[free], counts[free], own.query_count, idf * percent // WHOLE, own.word)
        )
        taken[rows] = True
    return terms


def find_rows_with_all(
    snapshot: IndexSnapshot, text: str, totals: Totals | None = None
) -> RowNumbers:
    """Return the readable rows that contain every word of a text."""
    terms = analyzer.all_terms(text, stemmed_languages(snapshot, totals))
    lists = [find_posting(snapshot, terms[word].forms)[0] for word in sorted(terms)]
    if not lists:
        return np.zeros(0, np.int64)
    rows, *others = sorted(lists, key=lambda posting: posting.size)
    for other in others:
        if not rows.size:
            break
        index = np.searchsorted(other, rows)
        index[index == other.size] = 0
        rows = rows[other[index] == rows]
    return rows.astype(np.int64)


def count_languages(snapshot: IndexSnapshot) -> dict[str, int]:
    """Return how many readable chunks each language has; English has none of the rest."""
    if not readable_posting(snapshot, analyzer.TAG)[0].size:
        return {}
    sizes = {
        code: readable_posting(snapshot, analyzer.mark_of(code))[0].size
        for code in languages.all_codes()
    }
    return {code: size for code, size in sizes.items() if size}


def stemmed_languages(snapshot: IndexSnapshot, totals: Totals | None = None) -> list[str]:
    """Return the languages with stems of their own that the viewer can read."""
    known = count_languages(snapshot) if totals is None else totals.languages
    return [code for code in known if code in analyzer.STEMMERS]


def find_posting(snapshot: IndexSnapshot, forms: Sequence[str]) -> Posting:
    """Return the readable rows that contain a word in any of its forms.

    A row that has several of them counts the most frequent one: it is the same word.
    """
    postings = [readable_posting(snapshot, form) for form in forms]
    held = [posting for posting in postings if posting[0].size] or postings[:1]
    if len(held) == 1:
        return held[0]
    rows = np.concatenate([rows for rows, _ in held])
    order = np.argsort(rows, kind="stable")
    unique, starts = np.unique(rows[order], return_index=True)
    counts = np.concatenate([counts for _, counts in held])[order]
    return unique, np.maximum.reduceat(counts, starts)


def readable_posting(snapshot: IndexSnapshot, word: str) -> Posting:
    """Return the readable rows that contain a word."""
    rows, counts = snapshot.posting(word)
    if rows.size and rows[-1] >= snapshot.columns.rows:
        raise damaged("a posting list is damaged")
    if snapshot.access.complete:
        return rows, counts
    readable = np.take(snapshot.access.rows, rows)
    return rows[readable], counts[readable]
