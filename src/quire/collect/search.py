"""Which chunks answer a question, by its words and by its meaning?

The two searches are sources like any other: one that cannot answer is a failure that is shown,
and the other one answers all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from quire.contracts import View
from quire.errors import QuireError, StoreError
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


def search(
    view: View,
    query: str,
    vector: Callable[[], bytes] | None,
    depths: Mapping[str, int],
    where: Filter,
    *,
    exact: bool = False,
) -> Collected:
    """Ask each search for as many as its depth says; without a vector, only the words."""
    found: dict[str, Hits] = {}
    failed: list[Failure] = []
    meaning: bytes | None = None
    if LEXICAL in depths:
        try:
            found[LEXICAL] = view.lexical(query, depths[LEXICAL], where)
        except StoreError as error:
            failed.append(Failure(LEXICAL, str(error)))
    if SEMANTIC in depths and vector is not None:
        try:
            meaning = vector()
        except QuireError as error:
            failed.append(Failure(SEMANTIC, str(error)))
        else:
            found[SEMANTIC] = view.semantic(meaning, depths[SEMANTIC], where, exact=exact)
    return Collected(found, tuple(failed), meaning)
