"""Which words does this text hold?

The same rules for what is stored and for what is asked, on every engine: case and diacritics
are folded, English endings stemmed, identifiers split (camelCase, snake_case, dotted.paths)
with the whole kept beside its parts, and scripts that are written without spaces give pairs of
neighbouring characters. `ANALYZER` names the rules; a store that was written under other rules
builds its postings anew.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

import Stemmer

from quire.core.types import Chunk

ANALYZER = "words-1"
LONGEST = 64
"""A longer word is cut: it is a hash or a blob, and its beginning tells it apart."""

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

_stemmer = Stemmer.Stemmer("english", 0)  # words are kept once stemmed, see `_forms`


def words(text: str) -> list[str]:
    """Give the words of a text in the order in which they stand, repeats included."""
    found: list[str] = []
    for token in (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text):
        found.extend(_forms(token))
    return found


def of_chunk(chunk: Chunk) -> tuple[Counter[str], int]:
    """Count the words of a chunk, its path and headings included; gives counts and their sum."""
    counts: Counter[str] = Counter()
    for text in (chunk.path, chunk.title, chunk.text):
        counts.update(words(text))
    return counts, counts.total()


def asked(query: str) -> Counter[str]:
    """Count the words of a question; frequent function words count only if nothing else does."""
    counts = Counter(words(query))
    telling = Counter({word: count for word, count in counts.items() if word not in STOPS})
    return telling or counts


@lru_cache(maxsize=1 << 16)
def _forms(token: str) -> tuple[str, ...]:
    if token.isascii() and token.isalnum() and token == token.lower() and len(token) <= LONGEST:
        return (_stem(token),)  # what most words come to, the short way
    if _DENSE_TOKEN.fullmatch(token):
        folded = unicodedata.normalize("NFKC", token)
        pairs = [folded[at : at + 2] for at in range(len(folded) - 1)]
        return tuple(pairs or [folded])
    parts = [_fold(part) for piece in re.split(r"[._]+", token) for part in _humps(piece)]
    stems = [_stem(part) for part in parts]
    whole = _fold(token)
    # The whole is stemmed, too: `getusername` in a question is one part, and must meet it.
    found = stems if [whole] == parts else [_stem(whole), *stems]
    return tuple(word for word in found if word.strip())  # folding may leave nothing of a sign


def _humps(name: str) -> list[str]:
    """Split fooBar into foo and Bar, HTTPServer into HTTP and Server."""
    parts: list[str] = []
    start = 0
    for at in range(1, len(name)):
        upper = name[at].isupper()
        rises = upper and not name[at - 1].isupper()
        falls = upper and name[at - 1].isupper() and name[at + 1 : at + 2].islower()
        if rises or falls:
            parts.append(name[start:at])
            start = at
    return [part for part in (*parts, name[start:]) if part]


def _fold(token: str) -> str:
    if token.isascii():
        return token.lower()
    plain = unicodedata.normalize("NFKD", token.casefold())
    return "".join(sign for sign in plain if not unicodedata.combining(sign))


def _stem(word: str) -> str:
    stemmed: str = _stemmer.stemWord(word[:LONGEST])
    return stemmed


STOPS = frozenset(_stem(word) for word in STOP_WORDS)
