"""Compare candidates with the query that found them: by words, weighted by rarity, and by vectors.

This is what the probability of relevance is computed from (`ranking.relevance`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from quire import embed, ranking
from quire.core.languages import language_of
from quire.core.protocols import View
from quire.core.types import Chunk
from quire.pipeline.sections import Subquery
from quire.ranking import Match
from quire.store.index import analyzer, lexicon

MAX_SENTENCES = 8
"""A longer query is one text, such as an issue or a log, and no list of questions."""
LEAST_WORDS = 3
WHOLE = 100
"""Percent of its weight that a word has."""
MANY_WORDS = 3
"""So many words of a query, without the common ones, are enough whatever their share: a long query
says more than one text does."""
FEW_WORDS = 2
"""Of so many, one is enough."""
BESIDE = 2
"""A section with fewer words stays beside one with no more than so many times as much."""
AT_LEAST = 4 * 4096
"""What is added to the rarity of each word, a factor of 16: in a small store, words of the query
that most texts have would count nothing."""
MAX_COUNT = 2
"""A word that the query repeats counts so many times."""
MISSING = 200
"""What a word counts that nothing has, in percent: it may be what the query is about, and not here
at all. Common words count as always."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")

WordReader = Callable[[str, Chunk, str], frozenset[str]]
"""Returns the words of a text of a chunk; those of a query by the names that it has for them."""


def compute_matches(
    view: View,
    subqueries: Sequence[Subquery],
    chunks: Mapping[str, Chunk],
    *,
    vectors: Mapping[str, bytes],
    sections: Mapping[str, str],
    headings: Mapping[str, str],
    model: str | None,
    topic: int = 0,
) -> dict[str, Match]:
    """Compare each chunk with the query of its section.

    `vectors` are those of the queries, `headings` the chunks of headings that led to other chunks:
    without vectors, their words count as those of what they led to.
    `topic` is the share of a query's words that a section must have (`RankSpec.topic`).
    """
    matches: dict[str, Match] = {}
    found_sections: list[_Found] = []
    words_of = _word_reader(view, chunks)
    for subquery in subqueries:
        name = "" if subquery.section is None else subquery.section.name
        found = {key: chunk for key, chunk in chunks.items() if sections.get(key, "") == name}
        questions = _split_query(view, subquery.query) if found else {}
        similar = similarities(view, found, headings, vectors.get(subquery.query), model)
        best = max(similar.values(), default=0)
        held: dict[str, frozenset[str]] = {}
        for key in sorted(found):
            chunk, similarity = found[key], similar.get(key)
            words = words_of(subquery.query, chunk, chunk.text)
            lead = chunks.get(headings.get(key, "")) if similarity is None else None
            if lead is not None:
                words |= words_of(subquery.query, chunk, lead.text)
            held[key] = words | words_of(subquery.query, chunk, f"{chunk.path} {chunk.title}")
            matches[key] = Match(
                kind=chunk.kind.partition(".")[0],
                words=max(ranking.coverage(each, words) for each in questions.values()),
                named=max(ranking.coverage(each, held[key]) for each in questions.values()),
                similarity=similarity,
                behind=0 if similarity is None else best - similarity,
                length=len(chunk.text),
            )
        found_sections.append(_Found(questions, held))
    if not topic or all(match.similarity is not None for match in matches.values()):
        return matches  # vectors tell more
    off_topic = _find_off_topic([found for found in found_sections if found.texts], topic)
    return matches | {key: replace(matches[key], on_topic=False) for key in off_topic}


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found for a section."""

    questions: Mapping[str, Mapping[str, int]]
    """Its query and the sentences of that, each with the rarities of its words."""
    texts: Mapping[str, frozenset[str]]
    """The words of each text."""


def _find_off_topic(sections: Sequence[_Found], topic: int) -> list[str]:
    """Return the texts of sections in which none has enough of the query's words to be about it."""
    known: dict[str, set[str]] = {}
    for section in sections:
        for query, rarities in section.questions.items():
            words = known.setdefault(query, set())
            for text in section.texts.values():
                words.update(_held(rarities, text))
    shares = [
        max(
            share
            for query, rarities in section.questions.items()
            for share in _shares(query, rarities, section.texts.values(), known[query], topic)
        )
        for section in sections
    ]
    best = max(shares, default=0)
    least = min(topic, best // BESIDE) if best >= topic else topic
    return [
        key
        for section, share in zip(sections, shares, strict=True)
        if share < least
        for key in section.texts
    ]


def _shares(
    query: str,
    rarities: Mapping[str, int],
    texts: Iterable[frozenset[str]],
    known: Collection[str],
    topic: int,
) -> Iterator[int]:
    """Yield the share of a query's words that each text has, in thousandths.

    Words count by their rarity, common ones less. For a word that the text does not have, one that
    is used in its place counts.
    """
    common = lexicon.load().common
    counts = analyzer.count_query_words(query)
    weights = {
        word: (rarity + AT_LEAST)
        * (lexicon.COMMON if word in common else WHOLE)
        * min(max(1, counts[word]), MAX_COUNT)
        for word, rarity in rarities.items()
    }
    total = sum(
        weight * (WHOLE if word in known or word in common else MISSING)
        for word, weight in weights.items()
    )
    enough = MANY_WORDS if len(weights.keys() - common) > FEW_WORDS else 1
    for text in texts:
        held = _held(rarities, text)
        share = ranking.CERTAIN * sum(weights[word] * held[word] for word in held) // max(1, total)
        has = sum(held[word] == WHOLE for word in held.keys() - common)
        yield max(share, topic) if has >= enough or not total else share


def _held(asked: Iterable[str], words: frozenset[str]) -> dict[str, int]:
    """Return the words of a query that a text has, or others in their place, in percent."""
    related = lexicon.load().related
    return {
        word: WHOLE if word in words else lexicon.RELATED
        for word in asked
        if word in words or not words.isdisjoint(related.get(word, ()))
    }


def _split_query(view: View, query: str) -> dict[str, dict[str, int]]:
    """Return a query and its sentences, each with its words and their rarities.

    Whoever writes several sentences asks several things: what is about one of them is about the
    query, however many words the others have. Whoever pastes a long text asks above or below it. A
    sentence of a word or two says too little.
    """
    sentences = [text for text in _SENTENCE_END.split(query) if text.strip()]
    parts = sentences if len(sentences) <= MAX_SENTENCES else [sentences[0], sentences[-1]]
    parts = parts if len(parts) > 1 else []
    asked = {text: view.rarities(text) for text in parts}
    long = {text: words for text, words in asked.items() if len(words) >= LEAST_WORDS}
    return {query: view.rarities(query), **long}


def _word_reader(view: View, chunks: Mapping[str, Chunk]) -> WordReader:
    """Return a function that returns the words of a text of a chunk, as a query has them."""
    if not (stemmed := analyzer.STEMMERS.keys() & view.languages().keys()):
        return lambda _query, _chunk, text: frozenset(analyzer.tokenize(text))
    codes = sorted(stemmed)
    records = view.records(sorted({chunk.record_id for chunk in chunks.values()}))
    languages = {record.id: language_of(record) for record in records}

    @lru_cache(maxsize=8)
    def terms_of(query: str) -> Mapping[str, analyzer.QueryTerm]:
        return analyzer.query_terms(query, codes)

    def words_of(query: str, chunk: Chunk, text: str) -> frozenset[str]:
        language = languages.get(chunk.record_id, "")
        words = frozenset(analyzer.tokenize(text, language))
        named = frozenset(
            name for name, term in terms_of(query).items() if not words.isdisjoint(term.forms)
        )
        return named if language in stemmed else words | named

    return words_of


def similarities(
    view: View,
    chunks: Collection[str],
    headings: Mapping[str, str],
    vector: bytes | None,
    model: str | None,
) -> dict[str, int]:
    """Compare chunks with a query; what stands under a heading is as similar as that."""
    if vector is None:
        return {}
    query = np.frombuffer(vector, np.int8).astype(np.int64)
    similar = {
        name: embed.similarity(model, int(np.frombuffer(stored, np.int8) @ query), len(vector))
        for name, stored in view.vectors(sorted({*chunks, *headings.values()})).items()
    }
    return {
        name: max(similar.get(name, 0), similar.get(headings.get(name, ""), 0))
        for name in sorted({*chunks} & {*similar, *headings})
    }
