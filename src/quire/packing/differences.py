"""Whether one text may stand for another: it says all of it, and nothing against it.

Texts that share nearly all of their words may still contradict each other: in a number, a "not", a
name, a date, a word for its opposite. So the words that two texts do *not* share decide:

- White space, case, punctuation, articles and a short list of words that add nothing make no
  difference, nor do spellings and phrases that are known to mean the same.
- A word in place of another makes a difference, whatever the words are. So does a word more inside
  a clause.
- Sentences may stand in another order; words may not.
- A clause or sentence more makes a difference if it holds a number, a name, a negation, a condition
  or the like, and if leaving it out would lose it.

Lines of code are compared as they are. In doubt, two texts are two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from textwrap import dedent

from quire.core.types import Candidate
from quire.packing.wording import (
    BRITISH,
    CONTRACTIONS,
    DECISIVE_WORDS,
    EMPTY_WORDS,
    PHRASES,
    SAME_WORDS,
)

MAX_TOKENS = 4000
"""Longer remainders are not compared word by word: such texts are two."""
_TOKEN = re.compile(
    r"(?P<number>(?:(?<![\w)\]])[-+\u2212])?[^\W\d]*\d\w*(?:[.,:/\-]\w*\d\w*)*)"
    r"|(?P<word>[^\W_]\w*(?:['\u2019]\w+)*|_\w*)"
    r"|(?P<symbol>[%$\u20ac\u00a3\u00a5\u00b0\u00a7&@=<>+^?])"
    r"|(?P<stop>[.,;:!()\[\]{}\u2013\u2014\u2026\u2029]|\s-+\s)"
)
_BREAK = re.compile(r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[|]|(?:[-*+>#]+|\d{1,3}[.)])[ \t]))")
"""Where a new paragraph, list item, heading or row begins: other line ends say nothing."""
_LINE_MARK = re.compile(r"\u2029[ \t]*(?:[>+][ \t]+)+")
_SENTENCE = re.compile(r"(?<=[.!?])(?=[\"')\]]*\s)|(?<=\u2029)")
_NAME_IN_CODE = re.compile(r"_|[a-z][A-Z]|[A-Z]{2}[a-z]")
_POSSESSIVE = re.compile(r"(\w{2,})'s\Z")
_IZE = re.compile(r"(?<=\w\w\w)is(?=(?:e|es|ed|er|ers|ing|ation|ations)\Z)")
_MAX_PHRASE = max(len(phrase) for phrase in PHRASES)
_CACHE_SIZE = 256


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, number or symbol, as it is compared."""

    text: str
    begins_clause: bool
    begins_sentence: bool
    is_decisive: bool


def may_replace(candidate: Candidate, better: Candidate) -> bool:
    """Tell whether a better candidate says all that a candidate says, and nothing against it."""
    code = candidate.chunk.kind == better.chunk.kind == "code"
    return says_all(better.content, candidate.content, code=code)


def says_all(text: str, part: str, *, code: bool = False) -> bool:
    """Tell whether a text says everything that another one says, and nothing against it."""
    if part.strip() == text.strip():
        return True
    if code:
        return _has_lines(text, part) or _has_lines(dedent(text), dedent(part))
    sentences, part_sentences = _sentences(text), _sentences(part)
    said = {_words(sentence) for sentence in sentences}
    wanted = {_words(sentence) for sentence in part_sentences}
    rest = [token for one in part_sentences if _words(one) not in said for token in one]
    others = [token for one in sentences if _words(one) not in wanted for token in one]
    return not rest or _agree(others, rest)


def _agree(text: Sequence[_Token], part: Sequence[_Token]) -> bool:
    """Tell whether texts differ in nothing that matters; the first may say more."""
    if max(len(text), len(part)) > MAX_TOKENS:
        return False
    matcher = SequenceMatcher(None, _words(part), _words(text), autojunk=False)
    lost: Counter[str] = Counter()
    added: Counter[str] = Counter()
    for name, part_start, part_end, start, end in matcher.get_opcodes():
        if name == "equal":
            continue
        if part_start < part_end and start < end:
            return False  # something in place of something else
        if part_start < part_end:
            if not _may_be_lost(part, part_start, part_end):
                return False
            lost.update(_words(part[part_start:part_end]))
        else:
            if not _may_be_added(text, start, end):
                return False
            added.update(_words(text[start:end]))
    return not lost & added  # a word that moved: who does what to whom


def _may_be_lost(tokens: Sequence[_Token], start: int, end: int) -> bool:
    """Tell whether a part of a text can be left out: a clause that decides nothing."""
    return any(
        not any(token.is_decisive for token in tokens[first:last])
        for first, last in _clauses(tokens, start, end)
    )


def _may_be_added(tokens: Sequence[_Token], start: int, end: int) -> bool:
    """Tell whether a part takes nothing back: sentences, or a clause that decides nothing."""
    return any(
        (_begins(tokens, first, sentence=True) and _begins(tokens, last, sentence=True))
        or not any(token.is_decisive for token in tokens[first:last])
        for first, last in _clauses(tokens, start, end)
    )


def _clauses(tokens: Sequence[_Token], start: int, end: int) -> list[tuple[int, int]]:
    """Return where a part may stand that begins and ends with a clause.

    Of "The dog. The cat." beside "The cat." the part "dog. The" is the same difference as
    "The dog."
    """
    places = [(start, end)]
    first, last = start, end
    while first > 0 and tokens[first - 1].text == tokens[last - 1].text:
        first, last = first - 1, last - 1
        places.append((first, last))
    first, last = start, end
    while last < len(tokens) and tokens[first].text == tokens[last].text:
        first, last = first + 1, last + 1
        places.append((first, last))
    return [
        (first, last) for first, last in places if _begins(tokens, first) and _begins(tokens, last)
    ]


def _begins(tokens: Sequence[_Token], at: int, *, sentence: bool = False) -> bool:
    if at == len(tokens):
        return True
    return tokens[at].begins_sentence if sentence else tokens[at].begins_clause


def _words(tokens: Sequence[_Token]) -> tuple[str, ...]:
    return tuple(token.text for token in tokens)


@lru_cache(_CACHE_SIZE)
def _sentences(text: str) -> list[list[_Token]]:
    """Return the words of a text, sentence by sentence, as they are compared."""
    text = _LINE_MARK.sub("\u2029 ", _BREAK.sub("\u2029", f"\n\n{text}"))
    shows_case = not text.isupper() and not text.islower() and not _is_title(text)
    sentences = []
    for sentence in _SENTENCE.split(text):
        tokens = _merge_phrases(_tokens(sentence, shows_case=shows_case))
        tokens = _without_empty_words(tokens)
        if tokens:
            sentences.append(tokens)
    return sentences


def _is_title(text: str) -> bool:
    """Tell whether nearly all words begin with a capital, which then says nothing."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 1]
    capitals = sum(1 for word in words if word[0].isupper())
    return 10 * capitals > 6 * len(words)


def _tokens(sentence: str, *, shows_case: bool) -> list[_Token]:
    tokens: list[_Token] = []
    begins_clause = begins_sentence = True
    for match in _TOKEN.finditer(sentence):
        kind = match.lastgroup
        if kind == "stop":
            begins_clause = True
            continue
        word = match[0]
        is_name = shows_case and not begins_sentence and word[0].isupper()
        decisive = kind != "word" or is_name or _NAME_IN_CODE.search(word) is not None
        for part in _parts(word.lower()) if kind == "word" else (word.lower(),):
            tokens.append(
                _Token(part, begins_clause, begins_sentence, decisive or part in DECISIVE_WORDS)
            )
            begins_clause = begins_sentence = False
    return tokens


def _parts(word: str) -> Sequence[str]:
    """Return the words that a lower-case word is made of, in their common spelling."""
    word = word.replace("\u2019", "'")
    if word in CONTRACTIONS:
        return CONTRACTIONS[word]
    if word.endswith("n't"):
        return (word[:-3], "not")
    word = SAME_WORDS.get(word, word)
    word = BRITISH.get(word, word)
    return (_IZE.sub("iz", word),)


def _merge_phrases(tokens: list[_Token]) -> list[_Token]:
    """Replace phrases that mean the same by the same words."""
    merged: list[_Token] = []
    at = 0
    while at < len(tokens):
        if at + 1 < len(tokens) and (owner := _POSSESSIVE.match(tokens[at].text)):
            merged += _owned(owner[1], tokens[at], tokens[at + 1])
            at += 2
            continue
        for length in range(min(_MAX_PHRASE, len(tokens) - at), 0, -1):
            same = PHRASES.get(_words(tokens[at : at + length]))
            if same is not None:
                break
        else:
            merged.append(tokens[at])
            at += 1
            continue
        first = tokens[at]
        merged += [
            _Token(
                word,
                first.begins_clause and not number,
                first.begins_sentence and not number,
                word in DECISIVE_WORDS,
            )
            for number, word in enumerate(same)
        ]
        at += length
    return merged


def _owned(owner: str, first: _Token, thing: _Token) -> list[_Token]:
    """Say "size of cache" for "cache's size"."""
    return [
        _Token(thing.text, first.begins_clause, first.begins_sentence, thing.is_decisive),
        _Token("of", begins_clause=False, begins_sentence=False, is_decisive=False),
        _Token(owner, begins_clause=False, begins_sentence=False, is_decisive=first.is_decisive),
    ]


def _without_empty_words(tokens: list[_Token]) -> list[_Token]:
    """Leave out words that add nothing; what follows them begins their clause."""
    kept: list[_Token] = []
    begins_clause = begins_sentence = False
    for token in tokens:
        begins_clause |= token.begins_clause
        begins_sentence |= token.begins_sentence
        if token.text not in EMPTY_WORDS:
            kept.append(_Token(token.text, begins_clause, begins_sentence, token.is_decisive))
            begins_clause = begins_sentence = False
    return kept


def _has_lines(text: str, part: str) -> bool:
    """Tell whether a text has all lines of another, in their order."""
    lines = iter([line.rstrip() for line in text.splitlines()])
    return all(line in lines for part_line in part.splitlines() if (line := part_line.rstrip()))
