r"""Conditions on metadata: grammar, canonical form, and what passes them.

::

    any        = all ("or" all)*
    all        = negated ("and" negated)*
    negated    = "not" negated | "(" any ")" | "has" "(" key ")" | comparison
    comparison = key ("=" | "==" | "!=" | "<" | "<=" | ">" | ">=") value
               | key ["not"] "in" "[" value ("," value)* "]"
               | key ["not"] "contains" value
    value      = "text" | 'text' | number | true | false | date
    key        = letters, digits, `_`, `-` and `.`; a letter first

`priority >= 3 and team in ["north", "east"] and not has(archived)`. A list passes if one of its
texts does. Values of different kinds are never equal. `!=` and `not in` are the opposites of `=`
and `in`: they also pass what does not have the key at all. A date stands for its whole day.

The same as a mapping, with the operators that other stores have: `{"priority": {"$gte": 3}, "team":
["north", "east"], "$not": {"archived": {"$exists": True}}}`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, TypeAlias

from quire.core import metadata as values
from quire.core.frozen import dataclass
from quire.core.metadata import DATE, FLAG, Scalar
from quire.core.types.records import MetadataValue
from quire.errors import InputError, unknown

MAX_LENGTH = 10_000
MAX_DEPTH = 24
MAX_TERMS = 500
FIELD = "where"
HINT = 'write conditions such as team = "north" and priority >= 3'

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MAPPING_OPERATORS = {
    "$eq": "=", "$ne": "!=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<=",
    "$in": "in", "$nin": "not in", "$exists": "has",
}  # fmt: skip
JUNCTIONS = ("$and", "$or", "$not")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Some value under a key compares so with another."""

    key: str
    operator: str
    value: Scalar

    @property
    def kind(self) -> str:
        """The kind of the values that can pass."""
        return values.kind_of(self.value)

    @property
    def bounds(self) -> tuple[tuple[str, str | int | float], ...]:
        """The comparisons that a value (as `metadata.entries` has it) must pass, all of them."""
        if self.kind == FLAG:
            return ((self.operator, int(self.value)),)
        if self.kind != DATE:
            return ((self.operator, self.value),)
        first, last = values.seconds_of(str(self.value))
        if self.operator == "=":
            return (">=", first), ("<=", last)
        return ((self.operator, last if self.operator in ("<=", ">") else first),)


@dataclass(frozen=True, slots=True)
class Has:
    """There is a value under a key."""

    key: str


@dataclass(frozen=True, slots=True)
class Not:
    """A negation."""

    operand: Condition


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions of which all (`and`) or any (`or`) must hold."""

    every: bool
    operands: tuple[Condition, ...]


Condition: TypeAlias = Comparison | Has | Not | Junction


@lru_cache(maxsize=256)
def parse(text: str) -> Condition:
    """Parse a condition into its canonical form."""
    if len(text) > MAX_LENGTH:
        raise InputError(
            f"has {len(text)} characters; at most {MAX_LENGTH} are allowed", field=FIELD
        )
    return _simplify(_Parser(text).parse())


def read(condition: object) -> str:
    """Return the canonical text of a condition, given as a text or as a mapping; empty: none."""
    if isinstance(condition, str):
        return write(parse(condition)) if condition.strip() else ""
    if isinstance(condition, Mapping):
        if not condition:
            return ""
        text = write(_simplify(_of_mapping(condition, 0)))
        parse(text)  # which refuses what is too long
        return text
    raise InputError(
        f"expected a condition as a text or a mapping, not {condition!r}",
        field=FIELD,
        value=condition,
        hint=HINT,
    )


def write(condition: Condition) -> str:
    """Write a condition as a text that parses to the same one."""
    match condition:
        case Comparison():
            return f"{condition.key} {condition.operator} {_write_value(condition.value)}"
        case Has():
            return f"has({condition.key})"
        case Not():
            return f"not {_nested(condition.operand)}"
        case Junction():
            word = " and " if condition.every else " or "
            return word.join(map(_nested, condition.operands))


def keys_of(condition: Condition) -> frozenset[str]:
    """Return the keys that a condition is about."""
    match condition:
        case Comparison() | Has():
            return frozenset((condition.key,))
        case Not():
            return keys_of(condition.operand)
        case Junction():
            return frozenset().union(*map(keys_of, condition.operands))


def comparisons_of(condition: Condition) -> tuple[Comparison, ...]:
    """Return the comparisons that a condition consists of, in order."""
    match condition:
        case Comparison():
            return (condition,)
        case Has():
            return ()
        case Not():
            return comparisons_of(condition.operand)
        case Junction():
            return tuple(part for each in condition.operands for part in comparisons_of(each))


def holds(condition: Condition, metadata: Mapping[str, MetadataValue]) -> bool:
    """Return whether metadata pass a condition."""
    match condition:
        case Comparison():
            return any(
                kind == condition.kind
                and all(OPERATORS[sign](value, bound) for sign, bound in condition.bounds)
                for key, kind, value in values.entries(metadata)
                if key == condition.key
            )
        case Has():
            return condition.key in metadata
        case Not():
            return not holds(condition.operand, metadata)
        case Junction():
            every = all if condition.every else any
            return every(holds(operand, metadata) for operand in condition.operands)


# --- canonical form ------------------------------------------------------------------------------


def _nested(condition: Condition) -> str:
    text = write(condition)
    return f"({text})" if isinstance(condition, Junction) else text


def _write_value(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if values.is_date(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _simplify(condition: Condition) -> Condition:
    """Flatten and sort junctions, and remove double negations and repetitions."""
    match condition:
        case Not():
            inner = _simplify(condition.operand)
            return inner.operand if isinstance(inner, Not) else Not(inner)
        case Junction():
            operands: dict[str, Condition] = {}
            for operand in map(_simplify, condition.operands):
                same = isinstance(operand, Junction) and operand.every == condition.every
                parts = operand.operands if isinstance(operand, Junction) and same else (operand,)
                operands |= {write(part): part for part in parts}
            ordered = tuple(operands[text] for text in sorted(operands))
            return ordered[0] if len(ordered) == 1 else Junction(condition.every, ordered)
    return condition


# --- text ----------------------------------------------------------------------------------------

_TOKEN = re.compile(
    rf"""\s*+(?:
    (?P<text>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")
    |(?P<date>\d{{4}}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)(?![\w.-])
    |(?P<number>-?\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+)(?![\w.-])
    |(?P<key>{values.KEY})
    |(?P<sign>==|=|!=|<>|<=|>=|<|>|\(|\)|\[|\]|,)
    |(?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_WORDS = frozenset({"and", "or", "not", "in", "contains", "has", "true", "false"})
_COMPARISONS = ("=", "==", "!=", "<>", "<", "<=", ">", ">=")
_CLOSING = {"[": "]", "(": ")"}


class _Parser:
    """Reads a text from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*self._tokenize()]
        self._at = 0
        self._terms = 0

    def _tokenize(self) -> Iterator[tuple[str, str, int]]:
        offset = 0
        while True:
            match = _TOKEN.match(self._text, offset)
            if match is None:
                rest = self._text[offset:]
                start = offset + len(rest) - len(rest.lstrip())
                raise self._error(start, f"{self._text[start : start + 10]!r} is not understood")
            kind = str(match.lastgroup)
            word = match[kind]
            is_word = kind == "key" and word.lower() in _WORDS
            yield (
                ("word", word.lower(), match.start(kind))
                if is_word
                else (
                    kind,
                    word,
                    match.start(kind),
                )
            )
            if kind == "end":
                return
            offset = match.end()

    def parse(self) -> Condition:
        condition = self._junction(0, every=False)
        kind, word, offset = self._tokens[self._at]
        if kind != "end":
            raise self._error(offset, f"expected `and`, `or` or the end, not {word!r}")
        return condition

    def _junction(self, depth: int, *, every: bool) -> Condition:
        if depth > MAX_DEPTH:
            raise self._error(self._tokens[self._at][2], "conditions are nested too deeply")
        operands = [self._operand(depth, every=every)]
        while self._take("word", "and" if every else "or"):
            operands.append(self._operand(depth, every=every))
        return operands[0] if len(operands) == 1 else Junction(every, tuple(operands))

    def _operand(self, depth: int, *, every: bool) -> Condition:
        return self._negated(depth) if every else self._junction(depth, every=True)

    def _negated(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise self._error(self._tokens[self._at][2], "conditions are nested too deeply")
        if self._take("word", "not"):
            return Not(self._negated(depth + 1))
        if self._take("sign", "("):
            condition = self._junction(depth + 1, every=False)
            self._expect(")")
            return condition
        if self._take("word", "has"):
            self._expect("(")
            key = self._key()
            self._expect(")")
            return Has(key)
        return self._comparison()

    def _comparison(self) -> Condition:
        self._terms += 1
        if self._terms > MAX_TERMS:
            raise self._error(self._tokens[self._at][2], f"more than {MAX_TERMS} comparisons")
        key = self._key()
        kind, word, offset = self._tokens[self._at]
        if kind == "sign" and word in _COMPARISONS:
            self._at += 1
            return _compare(key, {"==": "=", "<>": "!="}.get(word, word), self._value())
        negated = self._take("word", "not")
        if self._take("word", "in"):
            condition: Condition = self._in(key)
        elif self._take("word", "contains"):
            condition = _compare(key, "=", self._value())
        else:
            raise self._error(
                offset, f"expected `=`, `!=`, `<`, `<=`, `>`, `>=`, `in` or `contains` after {key}"
            )
        return Not(condition) if negated else condition

    def _in(self, key: str) -> Condition:
        kind, opening, offset = self._tokens[self._at]
        if kind != "sign" or opening not in _CLOSING:
            raise self._error(offset, "expected a list such as [1, 2] after `in`")
        self._at += 1
        items = [self._value()]
        while self._take("sign", ","):
            items.append(self._value())
        self._expect(_CLOSING[opening])
        self._terms += len(items)
        return Junction(every=False, operands=tuple(_compare(key, "=", item) for item in items))

    def _key(self) -> str:
        kind, word, offset = self._tokens[self._at]
        if kind != "key" or not values.is_key(word):
            found = "nothing" if kind == "end" else repr(word)
            raise self._error(offset, f"expected a key, not {found}")
        self._at += 1
        return word

    def _value(self) -> Scalar:
        kind, word, offset = self._tokens[self._at]
        self._at += 1
        match kind:
            case "text":
                return values.check_scalar(_ESCAPED.sub(r"\1", word[1:-1]), field=FIELD)
            case "date":
                value = values.check_scalar(word, field=FIELD)
                if isinstance(value, str) and values.is_date(value):
                    return value
                raise self._error(offset, f"{word} is not a date")
            case "number":
                return self._number(word, offset)
            case "word" if word in ("true", "false"):
                return word == "true"
            case "key":
                raise self._error(offset, f'a text needs quotes: "{word}"')
        found = "nothing" if kind == "end" else repr(word)
        raise self._error(offset, f"expected a text in quotes, a number or a date, not {found}")

    def _number(self, word: str, offset: int) -> Scalar:
        if len(word) > values.MAX_KEY_LENGTH:
            raise self._error(offset, "the number is too long")
        try:
            return values.check_scalar(int(word) if word.lstrip("-").isdecimal() else float(word))
        except InputError as error:
            raise self._error(offset, error.message) from None

    def _take(self, kind: str, word: str) -> bool:
        found = self._tokens[self._at][:2] == (kind, word)
        self._at += found
        return found

    def _expect(self, sign: str) -> None:
        kind, word, offset = self._tokens[self._at]
        if not self._take("sign", sign):
            found = "the end" if kind == "end" else repr(word)
            raise self._error(offset, f"expected `{sign}`, not {found}")

    def _error(self, offset: int, reason: str) -> InputError:
        return InputError(
            f"at character {offset + 1}: {reason}", field=FIELD, value=self._text, hint=HINT
        )


def _compare(key: str, sign: str, value: Scalar) -> Condition:
    if isinstance(value, bool) and sign not in ("=", "!="):
        raise InputError(
            f"true and false have no order, so {key} {sign} means nothing",
            field=FIELD,
            value=value,
            hint="use = or !=",
        )
    return Not(Comparison(key, "=", value)) if sign == "!=" else Comparison(key, sign, value)


# --- mapping -------------------------------------------------------------------------------------


def _of_mapping(condition: Mapping[Any, Any], depth: int) -> Condition:
    if depth > MAX_DEPTH:
        raise InputError("conditions are nested too deeply", field=FIELD)
    parts = [_of_member(key, value, depth) for key, value in condition.items()]
    if not parts:
        raise InputError("an empty condition says nothing", field=FIELD, hint=HINT)
    return parts[0] if len(parts) == 1 else Junction(every=True, operands=tuple(parts))


def _of_member(key: object, value: Any, depth: int) -> Condition:
    if key == "$not" and isinstance(value, Mapping):
        return Not(_of_mapping(value, depth + 1))
    if key in ("$and", "$or") and isinstance(value, list | tuple) and value:
        operands = [
            _of_mapping(part, depth + 1) for part in value if isinstance(part, Mapping) and part
        ]
        if len(operands) == len(value):
            return Junction(key == "$and", tuple(operands))
    if key in JUNCTIONS:
        raise InputError(
            f"expected {'a condition' if key == '$not' else 'a list of conditions'} under {key}, "
            f"not {value!r}",
            field=FIELD,
            value=value,
        )
    if not isinstance(key, str) or not values.is_key(key):
        if isinstance(key, str) and key.startswith("$"):
            raise unknown("operator", key, JUNCTIONS, field=FIELD)
        raise InputError(f"{key!r} is not a key of metadata", field=FIELD, value=key, hint=HINT)
    if isinstance(value, Mapping):
        parts = [_of_operator(key, sign, bound) for sign, bound in value.items()]
        if not parts:
            raise InputError(f"there is no condition on {key}", field=FIELD, hint=HINT)
        return parts[0] if len(parts) == 1 else Junction(every=True, operands=tuple(parts))
    return _of_operator(key, "$in" if isinstance(value, list | tuple) else "$eq", value)


def _of_operator(key: str, sign: object, value: Any) -> Condition:
    if not isinstance(sign, str) or sign not in MAPPING_OPERATORS:
        raise unknown("operator", sign, MAPPING_OPERATORS, field=FIELD)
    word = MAPPING_OPERATORS[sign]
    if word == "has":
        if not isinstance(value, bool):
            raise InputError(f"expected true or false, not {value!r}", field=FIELD, value=value)
        return Has(key) if value else Not(Has(key))
    if word in ("in", "not in"):
        if not isinstance(value, list | tuple) or not value:
            raise InputError(
                f"expected a list with at least one value for {key}, not {value!r}",
                field=FIELD,
                value=value,
            )
        any_of = Junction(
            every=False, operands=tuple(_compare(key, "=", _scalar(key, item)) for item in value)
        )
        return Not(any_of) if word == "not in" else any_of
    return _compare(key, word, _scalar(key, value))


def _scalar(key: str, value: Any) -> Scalar:
    if not isinstance(value, bool | int | float | str | date):
        raise InputError(
            f"expected a text, a number, true or false or a date for {key}, not {value!r}",
            field=FIELD,
            value=value,
        )
    return values.check_scalar(value, field=FIELD)
