"""Which chunks answer a question, by its words and by its meaning?

The two searches are sources like any other: one that cannot answer is a failure that is shown,
and the other one answers all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from quire.contracts import View
from quire.errors import InputError, QuireError
from quire.values import Failure, Filter, Hits

LEXICAL = "lexical"
SEMANTIC = "semantic"


@dataclass(frozen=True, slots=True)
class Collected:
    """What the sources found, by the name of the source, and which of them failed."""

    found: Mapping[str, Hits]
    failed: tuple[Failure, ...]
    vector: bytes | None = None
    """The question's vector, where one was used."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a source is asked."""

    query: str
    vector: bytes | None
    where: Filter
    exact: bool = False
    reach: int = 0
    """How far around a chunk words count for it."""


def lexical(view: View, asked: Question, depth: int) -> Hits:
    """Ask by words."""
    return view.lexical(asked.query, depth, asked.where, reach=asked.reach)


def semantic(view: View, asked: Question, depth: int) -> Hits:
    """Ask by meaning; without a vector there is nothing to compare."""
    if asked.vector is None:
        return Hits(())
    return view.semantic(asked.vector, depth, asked.where, exact=asked.exact)


SOURCES: dict[str, Callable[[View, Question, int], Hits]] = {
    LEXICAL: lexical,
    SEMANTIC: semantic,
}
"""A source of candidates is one function and one row; a recipe names it, its depth and weight."""


def search(
    view: View,
    query: str,
    vector: Callable[[], bytes] | None,
    depths: Mapping[str, int],
    where: Filter,
    *,
    exact: bool = False,
    reach: int = 0,
) -> Collected:
    """Ask each source for as many as its depth says; one that fails is told, the rest answers."""
    found: dict[str, Hits] = {}
    failed: list[Failure] = []
    asked = Question(query, None, where, exact, reach)
    # The words first: meanwhile the model is at work.
    for name in sorted(depths):
        try:
            if name == SEMANTIC:
                if vector is None:
                    continue
                asked = replace(asked, vector=vector())
            found[name] = SOURCES[name](view, asked, depths[name])
        except InputError:
            raise
        except QuireError as error:
            failed.append(Failure(name, str(error)))
    return Collected(found, tuple(failed), asked.vector)
