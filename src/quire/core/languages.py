"""The language that a text is written in, decided by its letters and function words.

Most scripts belong to one language, or to one that counts here. Where several share a script, the
function words decide ("und", "der", "nicht"), and the letters that only some of them write with.
A text that says too little (a table, a list of names, a line of code) has no language, and English
has none either: both are treated alike everywhere. The result depends on the text alone.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quire.core.types import Chunk, Record


ATTRIBUTE = "text_language"
"""The attribute of a record that holds the language of its text; English has none."""
ENGLISH = "en"
SAMPLE = 12_000
"""Characters of a text that are looked at."""
UNIT = 24
"""What a function word counts that only one language has."""
MIN_WORDS, WORDS_PER_MORE, MAX_MIN_WORDS = 2, 20, 8
"""Different function words of two letters or more, or rare letters, that a text must have of a
language that shares the script of English: two, one more for each twenty words, eight at most."""
RARE_LETTER = 4
"""Not more languages than this write with a rare letter."""
MAX_SPARSE = 10
"""At least one word in so many must be a function word."""
DENSE_WEIGHT = 3
"""Letters of an alphabet that a character of a script without blanks stands for."""
UNWRITTEN = frozenset({"code", "block.code"})
"""Kinds of records whose text is no language that people speak."""

MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903"
    "\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7"
    "\u0a01-\u0a03\u0a3c-\u0a4d\u0a70\u0a71\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0b01-\u0b03\u0b3c"
    "\u0b3e-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc"
    "\u0cbe-\u0cd6\u0d00-\u0d03\u0d3b\u0d3c\u0d3e-\u0d4d\u0d57\u0d81-\u0d83\u0dca-\u0ddf"
)
"""Vowel signs and accents, for a class of a pattern: they are a part of a word, and no letters."""
_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}])*")
_ASCII_WORD = re.compile("[a-z]+")

SCRIPTS: tuple[tuple[int, int, str], ...] = (
    (0x41, 0x24F, "latin"),
    (0x370, 0x3FF, "el"),
    (0x400, 0x52F, "cyrillic"),
    (0x531, 0x58F, "hy"),
    (0x591, 0x5FF, "he"),
    (0x600, 0x77F, "arabic"),
    (0x900, 0x97F, "devanagari"),
    (0x980, 0x9FF, "bn"),
    (0xA00, 0xA7F, "pa"),
    (0xA80, 0xAFF, "gu"),
    (0xB80, 0xBFF, "ta"),
    (0xC00, 0xC7F, "te"),
    (0xC80, 0xCFF, "kn"),
    (0xD00, 0xD7F, "ml"),
    (0xD80, 0xDFF, "si"),
    (0xE00, 0xE7F, "th"),
    (0xE80, 0xEFF, "lo"),
    (0x1000, 0x109F, "my"),
    (0x10A0, 0x10FF, "ka"),
    (0x1200, 0x137F, "am"),
    (0x1780, 0x17FF, "km"),
    (0x1E00, 0x1EFF, "latin"),
    (0x1F00, 0x1FFF, "el"),
    (0x3040, 0x30FF, "ja"),
    (0x3400, 0x9FFF, "zh"),
    (0xAC00, 0xD7AF, "ko"),
    (0xFF66, 0xFF9F, "ja"),
    (0x20000, 0x3FFFF, "zh"),
)
"""First and last character of a script, and the one language that it stands for or its name."""
SHARED: Mapping[str, tuple[str, ...]] = {
    "latin": (
        *("en", "es", "pt", "fr", "de", "it", "tr", "vi", "pl", "nl", "ro", "id", "cs"),
        *("sv", "hu", "ca", "sr", "da", "no", "fi", "sk", "lt", "et", "eu", "ga"),
    ),
    "cyrillic": ("ru", "bg", "uk", "sr"),
    "arabic": ("ar", "fa"),
    "devanagari": ("hi", "ne"),
}
"""The languages of a script that several share; of two that fit alike, the first is taken."""
DENSE = frozenset({"ja", "km", "ko", "lo", "my", "th", "zh"})
"""Languages whose script has no blanks between words, or few."""
KANA_SHARE = 10
"""A text of Han characters is Japanese if one character in so many is kana."""
_STARTS = [first for first, _, _ in SCRIPTS]
_NAMES: Mapping[str, str] = {
    "am": "Amharic",
    "bn": "Bengali",
    "gu": "Gujarati",
    "ja": "Japanese",
    "ka": "Georgian",
    "km": "Khmer",
    "kn": "Kannada",
    "ko": "Korean",
    "lo": "Lao",
    "ml": "Malayalam",
    "my": "Burmese",
    "pa": "Punjabi",
    "si": "Sinhala",
    "te": "Telugu",
    "th": "Thai",
    "zh": "Chinese",
}
"""Languages that their script gives away, and that have no table of words."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language with its function words and the letters that it has beyond a to z."""

    name: str
    words: frozenset[str]
    letters: frozenset[str]


def detect_language(text: str) -> str:
    """Return the code of the language of a text; `""` for English, or if there is none to see."""
    sample = text[:SAMPLE]
    if not sample.isascii():
        sample = unicodedata.normalize("NFC", sample)
    sample = sample.lower()
    if sample.isascii():
        # No language has these letters for itself, so only words tell.
        return _find_by_words(Counter(_ASCII_WORD.findall(sample)), Counter(), SHARED["latin"])
    chars = Counter(sample)
    script = _find_script(chars)
    if script not in SHARED:
        return script
    return _find_by_words(Counter(_WORD.findall(sample)), chars, SHARED[script])


@cache
def all_codes() -> tuple[str, ...]:
    """List the codes of all languages but English, in alphabetical order."""
    return tuple(sorted({*_table(), *_NAMES} - {ENGLISH}))


def language_name(code: str) -> str:
    """Return the English name of a language."""
    table = _table()
    return table[code].name if code in table else _NAMES.get(code, code)


@cache
def has_latin_letters(code: str) -> bool:
    """Tell whether a language is written with the letters of English, accents aside."""
    return code in SHARED["latin"]


def language_of(record: Record) -> str:
    """Return the language that was found when a record was written, `""` for English."""
    return language_in(record.attrs)


def language_in(attrs: Mapping[str, str | int]) -> str:
    """Return the language in the attributes of a record, likewise."""
    code = attrs.get(ATTRIBUTE, "")
    return str(code) if code and code in all_codes() else ""


def function_words(code: str) -> frozenset[str]:
    """Return the function words of a language; none if it has no table."""
    language = _table().get(code)
    return frozenset() if language is None else language.words


def with_language(record: Record, chunks: Iterable[Chunk]) -> Record:
    """Return a record with the language of its chunks as an attribute, if it has one."""
    return with_language_of(record, _first_text(chunks))


def with_language_of(record: Record, text: str) -> Record:
    """Return a record with the language of a text as an attribute, likewise."""
    if record.kind in UNWRITTEN:
        return record
    code = detect_language(text)
    return replace(record, attrs={**record.attrs, ATTRIBUTE: code}) if code else record


def _first_text(chunks: Iterable[Chunk]) -> str:
    texts: list[str] = []
    length = 0
    for chunk in chunks:
        texts.append(chunk.text)
        length += len(chunk.text)
        if length >= SAMPLE:
            break
    return "\n".join(texts)


def _find_script(chars: Mapping[str, int]) -> str:
    """Return the script of most letters; of one that belongs to one language, that language."""
    counts: Counter[str] = Counter()
    for char, count in chars.items():
        if char.isalpha():
            script = _script_of(char)
            counts[script] += count * DENSE_WEIGHT if script in DENSE else count
    if not counts:
        return ""
    if counts["ja"] * KANA_SHARE >= counts["zh"]:
        counts["ja"] += counts.pop("zh", 0)
    return min(counts, key=lambda script: (-counts[script], script))


def _script_of(char: str) -> str:
    at = bisect_right(_STARTS, ord(char)) - 1
    if at < 0:
        return ""
    _, last, script = SCRIPTS[at]
    return script if ord(char) <= last else ""


def _find_by_words(words: Counter[str], chars: Counter[str], codes: tuple[str, ...]) -> str:
    scores = dict.fromkeys(codes, 0)
    different = dict.fromkeys(codes, 0)
    total = dict.fromkeys(codes, 0)
    owners = _owners()
    for word in owners.keys() & words.keys():  # in any order: it only adds up
        having = [code for code in owners[word] if code in scores]
        count = words[word]
        for code in having:
            scores[code] += count * UNIT // (len(having) * (1 if len(word) > 1 else 2))
            different[code] += len(word) > 1
            total[code] += count
    writers = _writers()
    for char in writers.keys() & chars.keys():
        having = [code for code in writers[char] if code in scores]
        for code in codes:
            if code in having:
                different[code] += len(having) <= RARE_LETTER
                scores[code] += chars[char] * UNIT // (2 * len(having))
            elif code != ENGLISH:
                scores[code] -= chars[char] * UNIT // 2
    best = max(codes, key=lambda code: scores[code])  # the first of several
    if ENGLISH not in codes:
        return best
    wanted = min(MIN_WORDS + words.total() // WORDS_PER_MORE, MAX_MIN_WORDS)
    if best == ENGLISH or different[best] < wanted or total[best] * MAX_SPARSE < words.total():
        return ""
    return "" if 2 * scores[best] < 3 * scores[ENGLISH] else best


@cache
def _table() -> Mapping[str, Language]:
    data = resources.files("quire.core").joinpath("languages.toml").read_text("utf-8")
    return {
        code: Language(row["name"], frozenset(row["words"].split()), frozenset(row["letters"]))
        for code, row in tomllib.loads(data).items()
    }


@cache
def _owners() -> Mapping[str, tuple[str, ...]]:
    """Return the languages that have a function word."""
    owners: dict[str, list[str]] = {}
    for code, language in sorted(_table().items()):
        for word in language.words:
            owners.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in owners.items()}


@cache
def _writers() -> Mapping[str, tuple[str, ...]]:
    """Return the languages that write with a letter that not all have."""
    writers: dict[str, list[str]] = {}
    for code, language in sorted(_table().items()):
        for letter in language.letters:
            writers.setdefault(letter, []).append(code)
    return {letter: tuple(codes) for letter, codes in writers.items()}
