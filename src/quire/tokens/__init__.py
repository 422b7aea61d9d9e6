"""How long is this for that model?

A counter is opened by its own name (`o200k`), by a model's (`gpt-5`, `claude-sonnet-4-5`), or
with a margin for a model that is not known here (`o200k+20%`). Where a model's vocabulary is
at hand the count is exact; where it is not, the counter says so and why.

Nothing is loaded until something is counted.
"""

from __future__ import annotations

import re

from quire.core.protocols import Counter
from quire.errors import InputError
from quire.tokens import models
from quire.tokens.estimates import LENGTHS, MarginCounter
from quire.tokens.extractive import EXTRACTIVE, KEEP_START, SUMMARIZE, WAYS, shorten
from quire.tokens.truncate import cut
from quire.tokens.vocabularies import VOCABULARIES

__all__ = [
    "EXTRACTIVE",
    "KEEP_START",
    "SUMMARIZE",
    "WAYS",
    "counters",
    "cut",
    "open_counter",
    "shorten",
]

_COUNTERS: dict[str, Counter] = {counter.name: counter for counter in (*VOCABULARIES, *LENGTHS)}
_WITH_MARGIN = re.compile(r"(?P<counter>.+)\+(?P<percent>[0-9]{1,3})%")


def open_counter(name: str = "o200k") -> Counter:
    """Open a counter by its name or by that of a model."""
    asked = name.strip().lower()
    if asked in _COUNTERS:
        return _COUNTERS[asked]
    match = _WITH_MARGIN.fullmatch(asked)
    if match and match["counter"] in _COUNTERS:
        counter, percent = _COUNTERS[match["counter"]], int(match["percent"])
        return MarginCounter(
            counter, percent, f"an estimate: {counter.name}'s count and {percent}%"
        )
    row = models.find(asked)
    if row is None:
        raise InputError(
            f"there is no counter for the model {name!r}: give a model's name as its maker "
            "spells it (gpt-5, claude-sonnet-4-5, gemini-2.5-pro, meta-llama/Llama-3.3-70B, "
            f"qwen3-8b, mistral-nemo, deepseek-v3), one of the counters {', '.join(counters())}, "
            "or a counter with a margin: o200k+20%"
        )
    exact = _COUNTERS[row.vocabulary]
    if row.margin is None:
        return exact
    return MarginCounter(exact, row.margin, row.note or "an estimate")


def counters() -> tuple[str, ...]:
    """Name all counters, exact ones first."""
    return tuple(_COUNTERS)
