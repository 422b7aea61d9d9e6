"""Conditions of rules: expressions, which are evaluated, or sentences, which are judged.

`{expr: …}` and `{says: …}` declare which one it is. A plain text is an expression if it parses as
one and has what a sentence lacks: a comparison sign, `has(…)`, or next to an operator a value (in
quotes, in brackets, a number, true, false, none). Words alone (`not urgent`, `deployment in
production`) are a sentence. A text that has the signs of an expression but does not parse is
refused: a typo must not turn an expression into a sentence.
"""

from __future__ import annotations

import re

from quire.core.types import EXPRESSION, SENTENCE, Condition
from quire.rules.expressions import (
    COMPARISONS,
    CONSTANTS,
    ExpressionError,
    parse_expression,
    tokenize,
)

EXPRESSION_SIGNS = re.compile(r"[=!<>]=|&&|\|\||(?<!\w)has\(|[\w)\]'\"]\s*[=<>]\s*['\"\d\[]")
"""What occurs in expressions, typos included, and in no sentence."""
HINT = "write {says: …} if it is a sentence"


def classify_condition(text: str) -> Condition:
    """Decide what a plain text is; raise ExpressionError for a malformed expression."""
    try:
        parse_expression(text)
    except ExpressionError as error:
        if EXPRESSION_SIGNS.search(text):
            raise ExpressionError(error.offset, f"{error.reason}; {HINT}") from error
        return Condition(text, SENTENCE)
    return Condition(text, EXPRESSION if _has_operators(text) else SENTENCE)


def expression_condition(text: str) -> Condition:
    """Return a declared expression as a condition; raise ExpressionError if it is not one."""
    parse_expression(text)
    return Condition(text, EXPRESSION)


def sentence_condition(text: str) -> Condition:
    """Return a declared sentence as a condition."""
    return Condition(text, SENTENCE)


def _has_operators(text: str) -> bool:
    """Return whether a text that parses has what only an expression has."""
    words = {
        token.text if token.kind in {"word", "sign"} else token.kind for token in tokenize(text)
    }
    has_comparison = not words.isdisjoint({*COMPARISONS, "has"})
    has_value = not words.isdisjoint({"text", "number", "[", *CONSTANTS})
    has_operator = not words.isdisjoint({"and", "or", "not", "in", "contains", "matches"})
    return has_comparison or (has_value and has_operator) or text.strip() in CONSTANTS
