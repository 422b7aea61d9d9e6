"""Token counting and truncation, by model.

A counter is opened by its own name (`o200k`), by a model's (`gpt-5`, `claude-sonnet-4-5`), or
with a margin for a model that is not in the table (`o200k+20%`). Where the model's vocabulary is
available the count is exact. Where it is not, the counter has `exact = False` and a note that
says why.

No vocabulary is loaded before its first count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from quire.core.guard import OWN
from quire.core.protocols import Counter
from quire.errors import InputError
from quire.tokens import models
from quire.tokens.estimates import LENGTH_COUNTERS, MarginCounter
from quire.tokens.excerpt import Excerpt, Terms, matching_part
from quire.tokens.parts import END, adding_up, count_by_parts
from quire.tokens.shorten import EXTRACTIVE, KEEP_START, STRATEGIES, SUMMARIZE, Aim, shorten
from quire.tokens.truncate import truncate_text
from quire.tokens.vocabularies import VOCABULARIES

__all__ = [
    "DEFAULT_MODEL",
    "END",
    "EXTRACTIVE",
    "KEEP_START",
    "STRATEGIES",
    "SUMMARIZE",
    "Aim",
    "Excerpt",
    "Terms",
    "Tokenizer",
    "adding_up",
    "count_by_parts",
    "count_tokens",
    "counter_names",
    "matching_part",
    "open_counter",
    "shorten",
    "truncate_text",
    "truncate_to_tokens",
]

DEFAULT_MODEL = "o200k"
_COUNTERS: dict[str, Counter] = {
    counter.name: counter for counter in (*VOCABULARIES, *LENGTH_COUNTERS)
}
_WITH_MARGIN = re.compile(r"(?P<counter>.+)\+(?P<percent>[0-9]{1,3})%")
_HINT = (
    "or give a model's name as its maker spells it (gpt-5, claude-sonnet-4-5, gemini-2.5-pro, "
    "meta-llama/Llama-3.3-70B, qwen3-8b, mistral-nemo, deepseek-v3), or a counter with a margin: "
    "o200k+20%"
)


def count_tokens(text: str, model: str = DEFAULT_MODEL) -> int:
    """Return the number of tokens that a text has for a model.

    Args:
        text: The text. Nothing is added to it, and control tokens written in it count as text.
        model: The name of a model or of a counter, as in `open_counter`.
    """
    return open_counter(model).count(_require_string("text", text))


def truncate_to_tokens(text: str, max_tokens: int, model: str = DEFAULT_MODEL) -> str:
    """Return the longest well-ended prefix of a text that has at most `max_tokens` tokens.

    It ends with a paragraph, a line, a sentence or a word where one ends near the limit, and
    never within a character that a reader sees as one. A text that fits is returned unchanged.

    Args:
        text: The text.
        max_tokens: The limit, 0 or more.
        model: The name of a model or of a counter, as in `open_counter`.
    """
    if type(max_tokens) is not int or max_tokens < 0:
        raise InputError(
            f"must be a whole number of at least 0, not {max_tokens!r}",
            field="max_tokens",
            value=max_tokens,
        )
    return truncate_text(open_counter(model), _require_string("text", text), max_tokens)


@dataclass(frozen=True)
class Tokenizer:
    """Counts and truncates for one model: the interface of specification 0."""

    model: str = DEFAULT_MODEL
    """The name of a model or of a counter, as in `open_counter`."""

    def __post_init__(self) -> None:
        open_counter(self.model)  # an unknown one is refused at once

    @property
    def name(self) -> str:
        """The name of the counter, which receipts record."""
        return open_counter(self.model).name

    @property
    def exact(self) -> bool:
        """Whether the model itself would count the same."""
        return open_counter(self.model).exact

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return count_tokens(text, self.model)

    def truncate_to_tokens(self, text: str, max_tokens: int) -> str:
        """Return the longest well-ended prefix of a text with at most so many tokens."""
        return truncate_to_tokens(text, max_tokens, self.model)


def open_counter(name: str = DEFAULT_MODEL) -> Counter:
    """Open a counter by its name or by that of a model; case and outer spaces do not matter."""
    key = _require_string("model", name).strip().lower()
    if key in _COUNTERS:
        return _COUNTERS[key]
    match = _WITH_MARGIN.fullmatch(key)
    if match and match["counter"] in _COUNTERS:
        counter, percent = _COUNTERS[match["counter"]], int(match["percent"])
        return MarginCounter(
            counter, percent, f"an estimate: {counter.name}'s count and {percent}%"
        )
    if key.startswith(f"{OWN}:"):
        raise InputError(
            f"the counter {key.removeprefix(f'{OWN}:')!r} is a caller's own and is not here",
            field="model",
            value=name,
            hint="open the store with quire.open(..., counter=...) as it was then",
        )
    row = models.find_model(key)
    if row is None:
        raise InputError(
            f"no token counter for the model {name!r}",
            field="model",
            value=name,
            allowed=counter_names(),
            hint=_HINT,
        )
    exact = _COUNTERS[row.vocabulary]
    if row.margin is None:
        return exact
    return MarginCounter(exact, row.margin, row.note or "an estimate")


def counter_names() -> tuple[str, ...]:
    """Return the names of all counters, exact ones first."""
    return tuple(_COUNTERS)


def _require_string(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"expected a string, got {type(value).__name__}", field=field, value=value)
    return value
