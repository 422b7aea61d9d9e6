"""Text analysis: the words of chunks and queries.

The same rules apply to stored text and to queries, on every engine. Case and diacritics are
folded and endings are stemmed. Identifiers (camelCase, snake_case, dotted.paths) are split, and the
whole identifier is kept beside its parts. Scripts that are written without spaces are split into
pairs of neighboring characters. `ANALYZER` names the rules: a store that was written under other
rules rebuilds its postings.

A text is stemmed by the rules of its language, as it was detected (`core.languages`); without one,
by the English rules. Words of another language than English are kept apart by a prefix (`de:haus`),
so that no two languages share a word by accident and English texts never change. A query has no
language of its own: each of its words is looked up in the form that it has in English and in each
language that the viewer can read (`QueryTerm`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import Stemmer

from quire.core.languages import MARKS, detect_language, function_words
from quire.core.types import Chunk

ANALYZER = "words-2"
MAX_WORD_LENGTH = 64
"""Longer words are truncated: they are hashes or blobs, which their beginning distinguishes."""

# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, Kana, Han, Hangul.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"
    "\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"(?![{_DENSE}])[\w{MARKS}]"
_TOKEN = re.compile(rf"[{_DENSE}]+|(?:{_LETTER})+(?:\.(?:{_LETTER})+)*")
_ASCII_TOKEN = re.compile(r"\w+(?:\.\w+)*", re.ASCII)
_DENSE_TOKEN = re.compile(rf"[{_DENSE}]+")
_ASCII_PARTS = re.compile(r"[A-Z]+(?![a-z])[^A-Z._]*|[A-Z][^A-Z._]*|[^A-Z._]+")
"""The parts of an identifier: of foo_bar, fooBar and HTTPServer two each."""

STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being between both but
    by can could did do does doing down during each few for from further had has have having he her
    here hers him his how i if in into is it its itself just me more most my no nor not now of off
    on once only or other our out over own same she should so some such than that the their them
    then there these they this those through to too under until up very was we were what when
    where which while who whom why will with would you your""".split()  # noqa: SIM905 - read as prose, it is easier to check
)

STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""The languages that are stemmed, with the names of their Snowball stemmers."""
TAG = ":"
"""Stands between a language and a word. Alone, it is a mark of all chunks that are not English."""
_UNDECOMPOSED = str.maketrans(
    {
        "ł": "l",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "\u0131": "i",
        "æ": "ae",
        "œ": "oe",
        "ß": "ss",
        "þ": "th",
    }
)
"""Letters that are typed without their stroke, and that Unicode does not decompose."""
LAST_ACCENT = "\u06ff"
"""Combining marks after this one, of the scripts of India, are a part of a word's sound."""

_stemmer = Stemmer.Stemmer("english", 0)  # no cache of its own: `_forms` is cached


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word of a query: how often it occurs, and the forms that texts may contain it in."""

    count: int
    forms: tuple[str, ...]


def tokenize(text: str, language: str = "") -> list[str]:
    """Return the words of a text in reading order, repetitions included.

    In some languages a word has two forms, with its accents and as it is typed without them.
    """
    words: list[str] = []
    if language in STEMMERS:
        for token in _tokens(text):
            for forms in _tagged(token, language):
                words.extend(forms)
        return words
    for token in _tokens(text):
        words.extend(_forms(token))
    return words


def content_words(text: str, language: str = "") -> list[str]:
    """Return the words of a text likewise, without stop words."""
    words = tokenize(text, language)
    stops = _tagged_stops(language) if language in STEMMERS else STOPS
    return [word for word in words if word not in stops]


def count_chunk_words(chunk: Chunk, language: str = "") -> tuple[Counter[str], int]:
    """Count the words of a chunk, including its path and headings; return counts and total."""
    if language in STEMMERS:
        counts: Counter[str] = Counter()
        length = 0
        texts = (chunk.path, chunk.title, chunk.text)
        for token in (token for text in texts for token in _tokens(text)):
            parts = _tagged(token, language)
            length += len(parts)
            for forms in parts:
                counts.update(forms)
    else:
        words = tokenize(chunk.text)
        words += _words_of_name(chunk.path)
        words += _words_of_name(chunk.title)
        counts, length = Counter(words), len(words)
    if language:
        counts.update((TAG, mark_of(language)))
    return counts, length


@lru_cache(maxsize=1024)
def _words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a path or a heading, which many chunks in a row have."""
    return tuple(tokenize(name))


def mark_of(language: str) -> str:
    """Return the word that every chunk of a language has besides those of its text."""
    return f"{language}{TAG}"


def count_query_words(query: str) -> Counter[str]:
    """Count the words of a query; stop words count only if there are no others."""
    counts = Counter(tokenize(query))
    content = Counter({word: count for word, count in counts.items() if word not in STOPS})
    return content or counts


def query_terms(query: str, languages: Sequence[str] = ()) -> dict[str, QueryTerm]:
    """Return the words of a query by their English forms, for texts in English and `languages`.

    Stop words of the language that the query is written in are left out; a word that is one in
    another language (the German article "die") is not looked for in texts of that language.
    """
    if not languages:
        return {word: QueryTerm(count, (word,)) for word, count in count_query_words(query).items()}
    spoken = detect_language(query)
    own = _stops_in(spoken) if spoken in languages else frozenset[str]()
    words: list[tuple[str, Iterable[str]]] = []
    for token in _tokens(query):
        lowered = unicodedata.normalize("NFC", token).lower()
        if lowered in own:
            continue
        usable = [code for code in languages if lowered not in _stops_in(code)]
        for name, forms in _forms_in_all(token, usable):
            if name not in STOPS:
                words.append((name, (name, *forms)))
            elif own and forms:
                words.append((name, forms))
    return _collect(words) or all_terms(query, languages)


def all_terms(query: str, languages: Sequence[str] = ()) -> dict[str, QueryTerm]:
    """Return the words of a query likewise, stop words included."""
    if not languages:
        counts = Counter(tokenize(query))
        return {word: QueryTerm(count, (word,)) for word, count in counts.items()}
    return _collect(
        (name, (name, *forms))
        for token in _tokens(query)
        for name, forms in _forms_in_all(token, languages)
    )


def _collect(words: Iterable[tuple[str, Iterable[str]]]) -> dict[str, QueryTerm]:
    counts: Counter[str] = Counter()
    found: dict[str, set[str]] = {}
    for name, forms in words:
        counts[name] += 1
        found.setdefault(name, set()).update(forms)
    return {name: QueryTerm(counts[name], tuple(sorted(found[name]))) for name in found}


def _tokens(text: str) -> list[str]:
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def _forms_in_all(token: str, languages: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the English form of each part of a token, with its forms in other languages."""
    by_language = [_tagged(token, code) for code in languages if code in STEMMERS]
    return [
        (name, [form for parts in by_language for form in parts[at]])
        for at, name in enumerate(_english(token))
        if name.strip()  # folding may leave nothing of a character
    ]


@lru_cache(maxsize=1 << 16)
def _forms(token: str) -> tuple[str, ...]:
    if (
        token.isascii()
        and token.isalnum()
        and token == token.lower()
        and len(token) <= MAX_WORD_LENGTH
    ):
        return (_stem(token),)  # a shortcut for most words
    return tuple(word for word in _english(token) if word.strip())


def _english(token: str) -> list[str]:
    if _DENSE_TOKEN.fullmatch(token):
        return _pairs(token)
    folded = [_fold(part)[:MAX_WORD_LENGTH] for part in _parts(token)]
    stemmed: list[str] = _stemmer.stemWords(folded)
    return stemmed


def _pairs(token: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", token)
    return [folded[start : start + 2] for start in range(len(folded) - 1)] or [folded]


def _parts(token: str) -> list[str]:
    """Return a token and the parts of an identifier; only one of them if they are the same."""
    if token.isascii():
        parts = _ASCII_PARTS.findall(token)
    else:
        parts = [part for piece in re.split(r"[._]+", token) for part in _split_case(piece)]
    # The whole is stemmed, too: `getusername` in a query is a single part, and must match it.
    return parts if parts == [token] else [token, *parts]


@lru_cache(maxsize=1 << 16)
def _tagged(token: str, language: str) -> tuple[tuple[str, ...], ...]:
    """Return the forms of each part of a token in a language that is stemmed.

    Parts correspond to those of `_english`; scripts without spaces have no stems.
    """
    if _DENSE_TOKEN.fullmatch(token):
        return tuple((pair,) for pair in _pairs(token))
    return tuple(_stems_in(part, language) for part in _parts(token))


def _stems_in(part: str, language: str) -> tuple[str, ...]:
    """Return the stem of a word and that of the word without its accents, both folded."""
    stemmer = _stemmer_of(language)
    lowered = _lower(part, language)[:MAX_WORD_LENGTH]
    stem = _strip_accents(stemmer.stemWord(lowered))
    plain = _strip_accents(stemmer.stemWord(_strip_accents(lowered)))
    stems = (stem,) if stem == plain else (stem, plain)
    return tuple(f"{language}{TAG}{word}" for word in stems if word.strip())


def _lower(word: str, language: str) -> str:
    composed = unicodedata.normalize("NFKC", word)
    if language == "tr":  # the only one whose capital I has no dot
        composed = composed.replace("İ", "i").replace("I", "\u0131")
    return composed.lower()


def _strip_accents(word: str) -> str:
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFKD", word.translate(_UNDECOMPOSED))
    return "".join(
        char for char in decomposed if not unicodedata.combining(char) or char > LAST_ACCENT
    )


@cache
def _stops_in(language: str) -> frozenset[str]:
    """Return the function words of a language, with and without their accents."""
    words = function_words(language)
    return words | {_strip_accents(word) for word in words}


@cache
def _tagged_stops(language: str) -> frozenset[str]:
    return frozenset(
        form for word in function_words(language) for form in _stems_in(word, language)
    )


@cache
def _stemmer_of(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(STEMMERS[language], 0)


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
