"""What stands around a record?

Blocks stand in pages and in each other. What a viewer may not read is not there: a chain of
parents ends where they may not look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from quire.core.globs import Globs
from quire.core.protocols import View
from quire.core.types import Filter, Hit, Hits, Record

HIGHEST = 64
"""No chain of parents is followed further."""


def chains(
    view: View, records: Iterable[Record], most: int = HIGHEST
) -> dict[str, tuple[Record, ...]]:
    """Give for each record what it stands in, the innermost first, so many levels at most."""
    found = {record.id: record for record in records}
    wanted = [*found]
    known = dict(found)
    for _ in range(most):
        missing = {
            parent
            for record in found.values()
            if (parent := record.parent) is not None and parent not in known
        }
        found = {record.id: record for record in view.records(sorted(missing))}
        known |= found
        if not found:
            break
    return {name: tuple(_above(known, name, most)) for name in wanted}


def _above(known: dict[str, Record], name: str, most: int) -> Iterator[Record]:
    met = {name}
    while most and (parent := known[name].parent) in known and parent not in met:
        yield known[parent]
        met.add(parent)
        name, most = parent, most - 1


def below(view: View, name: str, most: int, deep: int = HIGHEST) -> list[Record]:
    """Give what stands below a record, in reading order, so many at most."""
    found: list[Record] = []
    open_ = [iter(view.children([name]))]
    while open_ and len(found) < most:
        record = next(open_[-1], None)
        if record is None:
            open_.pop()
            continue
        found.append(record)
        if len(open_) < deep:
            open_.append(iter(view.children([record.id])))
    return found


def _is_timely(view: View, name: str, where: Filter) -> bool:
    """Tell whether a record was modified within a filter's time; one without a date was not."""
    if where.since is None and where.until is None:
        return True
    times = [record.modified for record in view.records([name]) if record.modified is not None]
    return any(
        (where.since is None or at >= where.since) and (where.until is None or at <= where.until)
        for at in times
    )


def distance(chain: Sequence[str], other: Sequence[str]) -> int | None:
    """Count the steps between two records, each with its id and those above it; None: no way."""
    places = {name: steps for steps, name in enumerate(chain)}
    for steps, name in enumerate(other):
        if name in places:
            return places[name] + steps
    return None


def hits(view: View, worth: Iterable[tuple[str, int]], depth: int, where: Filter) -> Hits:
    """Give the chunks of records that pass a filter, each with what it is worth, the first time."""
    found: dict[str, Hit] = {}
    paths = Globs(where.paths)
    for name, score in worth:
        if not _is_timely(view, name, where):
            continue
        for chunk in view.chunks_of(name):
            meant = not where.kinds or chunk.kind in where.kinds
            if chunk.id not in found and meant and (not where.paths or paths.match(chunk.path)):
                found[chunk.id] = Hit(chunk.id, score, chunk.path, chunk.sequence, chunk.start)
        if len(found) >= depth:
            break
    return Hits(tuple(sorted(found.values(), key=lambda hit: hit.order)[:depth]))
