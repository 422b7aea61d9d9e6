"""Is this condition an expression or a sentence?

`{expr: …}` and `{says: …}` say it themselves. A plain text is an expression if it reads as one and
has what a sentence lacks: a comparison sign, `has(…)`, or beside an operator a value (in quotes, in
brackets, a number, true, false, none). Words alone (`not urgent`, `deployment in production`) are a
sentence. A text that has the signs of an expression but does not read as one is refused: a slip
must not turn it into a sentence.
"""

from __future__ import annotations

import re

from quire.core.types import EXPRESSION, SENTENCE, Condition
from quire.rules.expressions import CONSTANTS, SIGNS, NotAnExpression, parse, tokens

TELLING = re.compile(r"[=!<>]=|&&|\|\||(?<!\w)has\(|[\w)\]'\"]\s*[=<>]\s*['\"\d\[]")
"""What stands in expressions, slips included, and in no sentence."""
HINT = "write {says: …} if it is a sentence"


def of_text(text: str) -> Condition:
    """Tell what a plain text is; raises NotAnExpression."""
    try:
        parse(text)
    except NotAnExpression as error:
        if TELLING.search(text):
            raise NotAnExpression(error.at, f"{error.reason}; {HINT}") from error
        return Condition(text, SENTENCE)
    return Condition(text, EXPRESSION if _is_telling(text) else SENTENCE)


def of_expression(text: str) -> Condition:
    """Read what is said to be an expression; raises NotAnExpression."""
    parse(text)
    return Condition(text, EXPRESSION)


def of_sentence(text: str) -> Condition:
    """Take what is said to be a sentence."""
    return Condition(text, SENTENCE)


def _is_telling(text: str) -> bool:
    found = {token.text if token.kind in {"word", "sign"} else token.kind for token in tokens(text)}
    compared = not found.isdisjoint({*SIGNS, "has"})
    valued = not found.isdisjoint({"text", "number", "[", *CONSTANTS})
    joined = not found.isdisjoint({"and", "or", "not", "in", "contains", "matches"})
    return compared or (valued and joined) or text.strip() in CONSTANTS
