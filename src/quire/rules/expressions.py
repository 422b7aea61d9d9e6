r"""What does an expression over a situation say?

::

    either     = both ("or" both)*
    both       = denied ("and" denied)*
    denied     = "not" denied | compared
    compared   = operand [("==" | "!=" | "<" | "<=" | ">" | ">=") operand
                          | ["not"] "in" operand | "contains" operand | "matches" patterns]
    operand    = text | number | "true" | "false" | "none" | list | key | "has" "(" key ")"
               | "(" either ")"
    list       = "[" [operand ("," operand)*] "]"
    key        = name ("." (name | number | text))*

A text stands in quotes of either kind, with `\` before a quote or a backslash that is meant. The
patterns of `matches` are texts: they are checked, and compiled, when the expression is read. Length
and depth are bounded; a mistake is told with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from quire.core.globs import Globs, is_glob, is_negated

LONGEST = 2000
DEEPEST = 24
MOST_DIGITS = 15

SIGNS = ("==", "!=", "<=", ">=", "<", ">")
WORDS = frozenset({"and", "or", "not", "in", "contains", "matches", "has", "true", "false", "none"})
CONSTANTS = {"true": True, "false": False, "none": None}

_TEXT = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_NAME = r"[^\W\d][\w-]*+"
_TOKEN = re.compile(
    rf"""\s*+(?:
    (?P<text>{_TEXT})
    |(?P<number>-?\d++(?:\.\d++)?+)(?![\w.])
    |(?P<key>{_NAME}(?:\.(?:{_NAME}|\d++|{_TEXT}))*+)
    |(?P<sign>==|!=|<=|>=|<|>|\(|\)|\[|\]|,)
    |(?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_PART = re.compile(rf"\.?({_TEXT}|[\w-]++)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class NotAnExpression(Exception):  # noqa: N818  # not an error: it becomes a Mistake
    """A text is no expression; says why, and at which character."""

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(f"at character {at + 1}: {reason}")
        self.at = at
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that stands for itself."""

    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Key:
    """What the situation says under a key."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Has:
    """Whether the situation says anything under a key."""

    key: Key


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Denied:
    """The opposite."""

    inner: Expression


@dataclass(frozen=True, slots=True)
class Joined:
    """Several of which all (`and`) or any (`or`) must hold."""

    every: bool
    inner: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two values beside each other."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Matched:
    """A text, or a list of texts, against patterns as in .gitignore."""

    left: Expression
    patterns: Globs


Expression: TypeAlias = Constant | Key | Has | Items | Denied | Joined | Compared | Matched


@dataclass(frozen=True, slots=True)
class Token:
    """A word or sign, and the character at which it begins."""

    kind: str
    text: str
    at: int


def tokens(text: str) -> Iterator[Token]:
    """Cut a text into words and signs; the last one is its end."""
    at = 0
    while True:
        met = _TOKEN.match(text, at)
        if met is None:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            raise NotAnExpression(start, f"{text[start : start + 10]!r} is not understood")
        kind = str(met.lastgroup)
        word = met[kind]
        yield Token("word" if kind == "key" and word in WORDS else kind, word, met.start(kind))
        if kind == "end":
            return
        at = met.end()


def parse(text: str) -> Expression:
    """Read an expression; raises NotAnExpression."""
    if len(text) > LONGEST:
        raise NotAnExpression(LONGEST, f"more than {LONGEST} characters")
    parser = _Parser(list(tokens(text)))
    found = parser.either(0)
    parser.expect("end")
    return found


class _Parser:
    """Reads tokens from left to right, one method for each line of the grammar."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self, *texts: str) -> str:
        """Go on if the next token is one of these words or signs; else give nothing."""
        token = self._next
        if token.kind in {"word", "sign"} and token.text in texts:
            self._at += 1
            return token.text
        return ""

    def expect(self, wanted: str) -> Token:
        """Go on behind a token of this kind, or with this text; else complain."""
        token = self._next
        if wanted not in {token.kind, token.text}:
            said = "the end" if wanted == "end" else wanted if wanted == "key" else f"{wanted!r}"
            raise NotAnExpression(token.at, f"expected {said}, not {_shown(token)}")
        self._at += 1
        return token

    def either(self, depth: int) -> Expression:
        found = [self._both(depth)]
        while self._take("or"):
            found.append(self._both(depth))
        return found[0] if len(found) == 1 else Joined(every=False, inner=tuple(found))

    def _both(self, depth: int) -> Expression:
        found = [self._denied(depth)]
        while self._take("and"):
            found.append(self._denied(depth))
        return found[0] if len(found) == 1 else Joined(every=True, inner=tuple(found))

    def _denied(self, depth: int) -> Expression:
        self._bound(depth)
        if self._take("not"):
            return Denied(self._denied(depth + 1))
        return self._compared(depth)

    def _compared(self, depth: int) -> Expression:
        left = self._operand(depth)
        at = self._next.at
        if sign := self._take(*SIGNS, "in", "contains"):
            found: Expression = Compared(sign, left, self._operand(depth))
        elif self._take("not"):
            self.expect("in")
            found = Denied(Compared("in", left, self._operand(depth)))
        elif self._take("matches"):
            found = Matched(left, self._patterns(depth))
        else:
            return left
        if self._next.kind == "sign" and self._next.text in SIGNS:
            raise NotAnExpression(at, "comparisons do not chain: join two with `and`")
        return found

    def _patterns(self, depth: int) -> Globs:
        at = self._next.at
        given = self._operand(depth)
        items = given.items if isinstance(given, Items) else (given,)
        found = [item.value for item in items if isinstance(item, Constant)]
        texts = [value for value in found if isinstance(value, str)]
        if not texts or len(texts) != len(items):
            raise NotAnExpression(at, "behind `matches` a pattern in quotes, or a list of them")
        for text in texts:
            if not is_glob(text):
                raise NotAnExpression(at, f"{text!r:.40} is no pattern as in .gitignore")
        if all(map(is_negated, texts)):
            raise NotAnExpression(at, "patterns that only leave out match nothing")
        return Globs(texts)

    def _operand(self, depth: int) -> Expression:  # noqa: PLR0911  # one a kind
        self._bound(depth)
        token = self._next
        self._at += 1
        if token.kind == "text":
            return Constant(_unquoted(token.text))
        if token.kind == "number":
            return Constant(_number(token))
        if token.kind == "key":
            return _key(token.text)
        if token.text in CONSTANTS:
            return Constant(CONSTANTS[token.text])
        if token.text == "has":
            self.expect("(")
            key = _key(self.expect("key").text)
            self.expect(")")
            return Has(key)
        if token.text == "(":
            found = self.either(depth + 1)
            self.expect(")")
            return found
        if token.text == "[":
            return self._list(depth + 1)
        raise NotAnExpression(token.at, f"expected a value, not {_shown(token)}")

    def _list(self, depth: int) -> Items:
        items: list[Expression] = []
        while not self._take("]"):
            if items:
                self.expect(",")
            items.append(self._operand(depth))
        return Items(tuple(items))

    def _bound(self, depth: int) -> None:
        if depth > DEEPEST:
            raise NotAnExpression(self._next.at, f"nested deeper than {DEEPEST} levels")


def _key(text: str) -> Key:
    parts = _PART.findall(text)
    return Key(tuple(_unquoted(part) if part[0] in "'\"" else part for part in parts))


def _unquoted(text: str) -> str:
    return _ESCAPED.sub(r"\1", text[1:-1])


def _number(token: Token) -> int | float:
    if len(token.text) > MOST_DIGITS:
        raise NotAnExpression(token.at, f"a number of more than {MOST_DIGITS} characters")
    return float(token.text) if "." in token.text else int(token.text)


def _shown(token: Token) -> str:
    return "the end" if token.kind == "end" else f"{token.text!r:.40}"
