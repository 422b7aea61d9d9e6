r"""Expressions over a situation: tokens, grammar and syntax tree.

::

    either     = both ("or" both)*
    both       = negated ("and" negated)*
    negated    = "not" negated | comparison
    comparison = operand [("==" | "!=" | "<" | "<=" | ">" | ">=") operand
                          | ["not"] "in" operand | "contains" operand | "matches" patterns]
    operand    = text | number | "true" | "false" | "none" | list | key | "has" "(" key ")"
               | "(" either ")"
    list       = "[" [operand ("," operand)*] "]"
    key        = name ("." (name | number | text))*

A text is quoted with either kind of quote; `\` escapes a quote or a backslash. The patterns of
`matches` are texts, checked and compiled when the expression is parsed. Length and depth are
bounded; an error names the character that it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from quire.core.frozen import dataclass
from quire.core.globs import Globs, is_glob, is_negated

MAX_LENGTH = 2000
MAX_DEPTH = 24
MAX_DIGITS = 15

COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
KEYWORDS = frozenset(
    {"and", "or", "not", "in", "contains", "matches", "has", "true", "false", "none"}
)
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


class ExpressionError(Exception):
    """A text is not an expression; says why, and at which character.

    It never leaves this package: a parser turns it into a Mistake.
    """

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"at character {offset + 1}: {reason}")
        self.offset = offset
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal value."""

    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Key:
    """The value of the situation under a key."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Has:
    """Whether the situation has a value under a key."""

    key: Key


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """A list of operands."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """A negation."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Logical:
    """Operands of which all (`and`) or any (`or`) must be true."""

    every: bool
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two operands and the operator between them."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class GlobMatch:
    """A text, or a list of texts, against patterns as in .gitignore."""

    left: Expression
    patterns: Globs


Expression: TypeAlias = Constant | Key | Has | ListLiteral | Not | Logical | Comparison | GlobMatch


@dataclass(frozen=True, slots=True)
class Token:
    """A word or sign, and the offset at which it begins."""

    kind: str
    text: str
    offset: int


def tokenize(text: str) -> Iterator[Token]:
    """Split a text into words and signs; the last token is its end."""
    offset = 0
    while True:
        match = _TOKEN.match(text, offset)
        if match is None:
            start = offset + len(text[offset:]) - len(text[offset:].lstrip())
            raise ExpressionError(start, f"{text[start : start + 10]!r} is not understood")
        kind = str(match.lastgroup)
        word = match[kind]
        is_keyword = kind == "key" and word in KEYWORDS
        yield Token("word" if is_keyword else kind, word, match.start(kind))
        if kind == "end":
            return
        offset = match.end()


def parse_expression(text: str) -> Expression:
    """Parse an expression; raise ExpressionError if it is not one."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(MAX_LENGTH, f"more than {MAX_LENGTH} characters")
    parser = _Parser(list(tokenize(text)))
    expression = parser.either(0)
    parser.expect("end")
    return expression


class _Parser:
    """A recursive descent parser: one method for each line of the grammar."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._index = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._index]

    def _take(self, *texts: str) -> str:
        """Consume the next token if it is one of these words or signs; else return ""."""
        token = self._next
        if token.kind in {"word", "sign"} and token.text in texts:
            self._index += 1
            return token.text
        return ""

    def expect(self, wanted: str) -> Token:
        """Consume a token of this kind, or with this text; raise if the next is another."""
        token = self._next
        if wanted not in {token.kind, token.text}:
            name = "the end" if wanted == "end" else wanted if wanted == "key" else f"{wanted!r}"
            raise ExpressionError(token.offset, f"expected {name}, not {_shown(token)}")
        self._index += 1
        return token

    def either(self, depth: int) -> Expression:
        operands = [self._both(depth)]
        while self._take("or"):
            operands.append(self._both(depth))
        return operands[0] if len(operands) == 1 else Logical(every=False, operands=tuple(operands))

    def _both(self, depth: int) -> Expression:
        operands = [self._negated(depth)]
        while self._take("and"):
            operands.append(self._negated(depth))
        return operands[0] if len(operands) == 1 else Logical(every=True, operands=tuple(operands))

    def _negated(self, depth: int) -> Expression:
        self._check_depth(depth)
        if self._take("not"):
            return Not(self._negated(depth + 1))
        return self._comparison(depth)

    def _comparison(self, depth: int) -> Expression:
        left = self._operand(depth)
        offset = self._next.offset
        if operator := self._take(*COMPARISONS, "in", "contains"):
            expression: Expression = Comparison(operator, left, self._operand(depth))
        elif self._take("not"):
            self.expect("in")
            expression = Not(Comparison("in", left, self._operand(depth)))
        elif self._take("matches"):
            expression = GlobMatch(left, self._patterns(depth))
        else:
            return left
        if self._next.kind == "sign" and self._next.text in COMPARISONS:
            raise ExpressionError(offset, "comparisons do not chain: join two with `and`")
        return expression

    def _patterns(self, depth: int) -> Globs:
        offset = self._next.offset
        operand = self._operand(depth)
        items = operand.items if isinstance(operand, ListLiteral) else (operand,)
        values = [item.value for item in items if isinstance(item, Constant)]
        texts = [value for value in values if isinstance(value, str)]
        if not texts or len(texts) != len(items):
            raise ExpressionError(
                offset, "expected a pattern in quotes, or a list of them, after `matches`"
            )
        for text in texts:
            if not is_glob(text):
                raise ExpressionError(offset, f"{text!r:.40} is not a pattern as in .gitignore")
        if all(map(is_negated, texts)):
            raise ExpressionError(offset, "patterns that only exclude match nothing")
        return Globs(texts)

    def _operand(self, depth: int) -> Expression:  # noqa: PLR0911  # one a kind
        self._check_depth(depth)
        token = self._next
        self._index += 1
        if token.kind == "text":
            return Constant(_unquote(token.text))
        if token.kind == "number":
            return Constant(_parse_number(token))
        if token.kind == "key":
            return _parse_key(token.text)
        if token.text in CONSTANTS:
            return Constant(CONSTANTS[token.text])
        if token.text == "has":
            self.expect("(")
            key = _parse_key(self.expect("key").text)
            self.expect(")")
            return Has(key)
        if token.text == "(":
            expression = self.either(depth + 1)
            self.expect(")")
            return expression
        if token.text == "[":
            return self._list(depth + 1)
        raise ExpressionError(token.offset, f"expected a value, not {_shown(token)}")

    def _list(self, depth: int) -> ListLiteral:
        items: list[Expression] = []
        while not self._take("]"):
            if items:
                self.expect(",")
            items.append(self._operand(depth))
        return ListLiteral(tuple(items))

    def _check_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise ExpressionError(self._next.offset, f"nested deeper than {MAX_DEPTH} levels")


def _parse_key(text: str) -> Key:
    parts = _PART.findall(text)
    return Key(tuple(_unquote(part) if part[0] in "'\"" else part for part in parts))


def _unquote(text: str) -> str:
    return _ESCAPED.sub(r"\1", text[1:-1])


def _parse_number(token: Token) -> int | float:
    if len(token.text) > MAX_DIGITS:
        raise ExpressionError(token.offset, f"a number of more than {MAX_DIGITS} characters")
    return float(token.text) if "." in token.text else int(token.text)


def _shown(token: Token) -> str:
    return "the end" if token.kind == "end" else f"{token.text!r:.40}"
