"""Text analysis: the words of chunks and queries.

The same rules apply to stored text and to queries, on every engine. Case and diacritics are
folded and English endings are stemmed. Identifiers (camelCase, snake_case, dotted.paths) are
split, and the whole identifier is kept beside its parts. Scripts that are written without spaces
are split into pairs of neighboring characters. `ANALYZER` names the rules: a store that was
written under other rules rebuilds its postings.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

import Stemmer

from quire.core.types import Chunk

ANALYZER = "words-1"
MAX_WORD_LENGTH = 64
"""Longer words are truncated: they are hashes or blobs, which their beginning distinguishes."""

# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, Kana, Han, Hangul.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"
    "\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"[{_DENSE}]+|(?:(?![{_DENSE}])\w)+(?:\.(?:(?![{_DENSE}])\w)+)*")
_ASCII_TOKEN = re.compile(r"\w+(?:\.\w+)*", re.ASCII)
_DENSE_TOKEN = re.compile(rf"[{_DENSE}]+")

STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being between both but
    by can could did do does doing down during each few for from further had has have having he her
    here hers him his how i if in into is it its itself just me more most my no nor not now of off
    on once only or other our out over own same she should so some such than that the their them
    then there these they this those through to too under until up very was we were what when
    where which while who whom why will with would you your""".split()  # noqa: SIM905 - read as prose, it is easier to check
)

_stemmer = Stemmer.Stemmer("english", 0)  # no cache of its own: `_forms` is cached


def tokenize(text: str) -> list[str]:
    """Return the words of a text in reading order, repetitions included."""
    words: list[str] = []
    for token in (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text):
        words.extend(_forms(token))
    return words


def content_words(text: str) -> list[str]:
    """Return the words of a text likewise, without stop words."""
    return [word for word in tokenize(text) if word not in STOPS]


def count_chunk_words(chunk: Chunk) -> tuple[Counter[str], int]:
    """Count the words of a chunk, including its path and headings; return counts and total."""
    counts: Counter[str] = Counter()
    for text in (chunk.path, chunk.title, chunk.text):
        counts.update(tokenize(text))
    return counts, counts.total()


def count_query_words(query: str) -> Counter[str]:
    """Count the words of a query; stop words count only if there are no others."""
    counts = Counter(tokenize(query))
    content = Counter({word: count for word, count in counts.items() if word not in STOPS})
    return content or counts


@lru_cache(maxsize=1 << 16)
def _forms(token: str) -> tuple[str, ...]:
    if (
        token.isascii()
        and token.isalnum()
        and token == token.lower()
        and len(token) <= MAX_WORD_LENGTH
    ):
        return (_stem(token),)  # a shortcut for most words
    if _DENSE_TOKEN.fullmatch(token):
        folded = unicodedata.normalize("NFKC", token)
        pairs = [folded[start : start + 2] for start in range(len(folded) - 1)]
        return tuple(pairs or [folded])
    parts = [_fold(part) for piece in re.split(r"[._]+", token) for part in _split_case(piece)]
    stems = [_stem(part) for part in parts]
    whole = _fold(token)
    # The whole is stemmed, too: `getusername` in a query is a single part, and must match it.
    words = stems if [whole] == parts else [_stem(whole), *stems]
    return tuple(word for word in words if word.strip())  # folding may leave nothing of a character


def _split_case(name: str) -> list[str]:
    """Split fooBar into foo and Bar, HTTPServer into HTTP and Server."""
    parts: list[str] = []
    start = 0
    for index in range(1, len(name)):
        upper = name[index].isupper()
        rises = upper and not name[index - 1].isupper()
        falls = upper and name[index - 1].isupper() and name[index + 1 : index + 2].islower()
        if rises or falls:
            parts.append(name[start:index])
            start = index
    return [part for part in (*parts, name[start:]) if part]


def _fold(token: str) -> str:
    if token.isascii():
        return token.lower()
    decomposed = unicodedata.normalize("NFKD", token.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _stem(word: str) -> str:
    stemmed: str = _stemmer.stemWord(word[:MAX_WORD_LENGTH])
    return stemmed


STOPS = frozenset(_stem(word) for word in STOP_WORDS)
