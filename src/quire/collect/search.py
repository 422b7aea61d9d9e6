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


def search(
    view: View,
    query: str,
    vector: Callable[[], bytes] | None,
    depth: int,
    where: Filter,
    *,
    exact: bool = False,
) -> Collected:
    """Ask both searches for their best; without a vector, only the words are asked for."""
    found: dict[str, Hits] = {}
    failed: list[Failure] = []
    try:
        found[LEXICAL] = view.lexical(query, depth, where)
    except StoreError as error:
        failed.append(Failure(LEXICAL, str(error)))
    if vector is not None:
        try:
            meaning = vector()
        except QuireError as error:
            failed.append(Failure(SEMANTIC, str(error)))
        else:
            found[SEMANTIC] = view.semantic(meaning, depth, where, exact=exact)
    return Collected(found, tuple(failed))
