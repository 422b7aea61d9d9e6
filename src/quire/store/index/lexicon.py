"""The lexicon: common words of questions, and the words that are used for one another.

Whoever asks does not know the words of a project. A question says "folder" where the code says
`directory`, and has words in it ("something", "happen") that are rare in the project, so that they
seem to tell much, but are common everywhere. Both lists are in `lexicon.toml`, in English.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from quire.store.index import analyzer

COMMON, RELATED = 40, 60
"""What a common word of a query counts, and a word that is used in place of another; in percent, as
the recipes have it for searches."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What is known of words beside what a store holds of them."""

    common: frozenset[str]
    """The stems of words that say little about what a question is about."""
    related: Mapping[str, tuple[str, ...]]
    """For a stem the stems of the words that are used in its place."""


EMPTY = Lexicon(frozenset(), {})


@cache
def load() -> Lexicon:
    """Load the lexicon."""
    data = resources.files("quire.store.index").joinpath("lexicon.toml").read_text("utf-8")
    lists = tomllib.loads(data)
    related: dict[str, set[str]] = {}
    for line in lists["related"].strip().split("\n"):
        group = set(analyzer.tokenize(line))
        for word in group:
            related.setdefault(word, set()).update(group - {word})
    return Lexicon(
        frozenset(analyzer.tokenize(lists["common"])),
        {word: tuple(sorted(related[word])) for word in sorted(related)},
    )
