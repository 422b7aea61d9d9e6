"""The hierarchy of records: ancestors, descendants and distances.

Pages contain blocks, which contain others. A record that the viewer may not read does not exist
for them: a chain of parents ends there.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from quire.core import conditions
from quire.core.globs import Globs
from quire.core.protocols import View
from quire.core.types import BLOCK_PREFIX, Chunk, Filter, Hit, Hits, Record

MAX_LEVELS = 64
"""No chain of parents is followed further."""
HEADING = f"{BLOCK_PREFIX}heading"
MAX_TITLE = 300
"""A longer heading is shown in full, below its title."""
MAX_UNDER_HEADING = 3
"""How many blocks a heading leads to."""
LEADS_IN = re.compile(r":[*_\s]*+\Z")
"""The end of a block that announces the next one."""


def ancestors(
    view: View, records: Iterable[Record], limit: int = MAX_LEVELS
) -> dict[str, tuple[Record, ...]]:
    """Return the ancestors of each record, the parent first, at most so many of each."""
    level = {record.id: record for record in records}
    wanted = [*level]
    known = dict(level)
    for _ in range(limit):
        missing = {
            parent
            for record in level.values()
            if (parent := record.parent) is not None and parent not in known
        }
        level = {record.id: record for record in view.records(sorted(missing))}
        known |= level
        if not level:
            break
    return {record_id: tuple(_chain(known, record_id, limit)) for record_id in wanted}


def _chain(known: dict[str, Record], record_id: str, limit: int) -> Iterator[Record]:
    seen = {record_id}
    while limit and (parent := known[record_id].parent) in known and parent not in seen:
        yield known[parent]
        seen.add(parent)
        record_id, limit = parent, limit - 1


def descendants(view: View, record_id: str, limit: int, levels: int = MAX_LEVELS) -> list[Record]:
    """Return the descendants of a record in reading order, at most so many."""
    records: list[Record] = []
    open_ = [iter(view.children([record_id]))]
    while open_ and len(records) < limit:
        record = next(open_[-1], None)
        if record is None:
            open_.pop()
            continue
        records.append(record)
        if len(open_) < levels:
            open_.append(iter(view.children([record.id])))
    return records


def distance(chain: Sequence[str], other: Sequence[str]) -> int | None:
    """Count the steps between two records, each given by its id and its ancestors' ids.

    None: they have no ancestor in common.
    """
    places = {record_id: steps for steps, record_id in enumerate(chain)}
    for steps, record_id in enumerate(other):
        if record_id in places:
            return places[record_id] + steps
    return None


def hits_of_records(
    view: View, scored: Iterable[tuple[str, int]], depth: int, where: Filter
) -> Hits:
    """Return the chunks of scored records that pass a filter; the first score of a chunk counts."""
    hits: dict[str, Hit] = {}
    paths = Globs(where.paths)
    for record_id, score in scored:
        for chunk in _passing_chunks(view, record_id, where, paths):
            if chunk.id not in hits:
                hits[chunk.id] = Hit(chunk.id, score, chunk.path, chunk.sequence, chunk.start)
        if len(hits) >= depth:
            break
    return Hits(tuple(sorted(hits.values(), key=lambda hit: hit.order)[:depth]))


def _passing_chunks(view: View, record_id: str, where: Filter, paths: Globs) -> Iterator[Chunk]:
    """Yield the chunks of a record that pass a filter, whose paths are given compiled."""
    if where.shared_only and view.unshared([record_id]):
        return
    if not passes_record(view, record_id, where):
        return
    for chunk in view.chunks_of(record_id):
        of_kind = not where.kinds or chunk.kind in where.kinds
        if of_kind and (not where.paths or paths.match(chunk.path)):
            yield chunk


def passes_record(view: View, record_id: str, where: Filter) -> bool:
    """Tell whether a record passes a filter on times, metadata and expiry.

    One without a date was modified in no period.
    """
    period = where.since is not None or where.until is not None
    if not (period or where.where or where.alive_at is not None):
        return True
    return any(
        (where.since is None or (record.modified is not None and record.modified >= where.since))
        and (
            where.until is None or (record.modified is not None and record.modified <= where.until)
        )
        and (where.alive_at is None or record.expires is None or record.expires > where.alive_at)
        and (not where.where or conditions.holds(conditions.parse(where.where), record.metadata))
        for record in view.records([record_id])
    )


def drop_headings(
    view: View,
    hits: Hits,
    chunks: Mapping[str, Chunk],
    keep: Container[str | None],
    *,
    shared_only: bool = False,
) -> Hits:
    """Drop headings with something under them: they are the title of that."""
    headings = {
        hit.id: chunk.record_id
        for hit in hits.hits
        if (chunk := chunks.get(hit.id)) is not None
        and chunk.kind == HEADING
        and len(chunk.text) <= MAX_TITLE
        and chunk.record_id not in keep
    }
    children = view.children(sorted(set(headings.values())))
    hidden = view.unshared([child.id for child in children]) if shared_only else frozenset()
    parents = {child.parent for child in children if child.id not in hidden}
    return replace(
        hits, hits=tuple(hit for hit in hits.hits if headings.get(hit.id) not in parents)
    )


def follow_headings(
    view: View, hits: Hits, chunks: Mapping[str, Chunk], where: Filter
) -> tuple[Hits, dict[str, str]]:
    """Replace headings by the first blocks under them: a heading alone answers nothing.

    Returns the headings as well, by the chunks that they led to. A heading with nothing under it
    that passes the filter stays.
    """
    found = {hit.id: hit for hit in hits.hits}
    led: dict[str, str] = {}
    paths = Globs(where.paths)
    for hit in hits.hits:
        heading = chunks.get(hit.id)
        if heading is None or heading.kind != HEADING:
            continue
        passing = (
            chunk
            for child in view.children([heading.record_id])
            if child.kind != HEADING
            for chunk in _passing_chunks(view, child.id, where, paths)
        )
        below = [*islice(passing, MAX_UNDER_HEADING)]
        if below:
            del found[hit.id]
        for chunk in below:
            led.setdefault(chunk.id, hit.id)
            known = found.get(chunk.id)
            if known is None or known.score < hit.score:
                found[chunk.id] = Hit(chunk.id, hit.score, chunk.path, chunk.sequence, chunk.start)
    return Hits(tuple(sorted(found.values(), key=lambda hit: hit.order)), hits.exact), led


def follow_lead_ins(
    view: View, hits: Hits, chunks: Mapping[str, Chunk], where: Filter
) -> tuple[Hits, dict[str, str]]:
    """Add the blocks that others announce: "She is responsible for:" says nothing without its list.

    Returns the blocks that announce them as well, by the chunks that they led to.
    """
    leads = {
        chunk.record_id: hit
        for hit in hits.hits
        if (chunk := chunks.get(hit.id)) is not None
        and chunk.kind.startswith(BLOCK_PREFIX)
        and chunk.kind != HEADING
        and LEADS_IN.search(chunk.text)
    }
    found = {hit.id: hit for hit in hits.hits}
    led: dict[str, str] = {}
    for record in view.records(sorted(leads)):
        lead, following = leads[record.id], _next_block(view, record)
        scored = [] if following is None else [(following.id, lead.score)]
        for hit in hits_of_records(view, scored, 1, where).hits:
            if hit.id not in found:
                led[hit.id] = lead.id
                found[hit.id] = hit
    return Hits(tuple(sorted(found.values(), key=lambda hit: hit.order)), hits.exact), led


def _next_block(view: View, record: Record) -> Record | None:
    """Return the block that is read after another one: its first child, or its next sibling."""
    below = view.children([record.id])
    siblings = view.children([record.parent]) if record.parent is not None and not below else []
    names = [sibling.id for sibling in siblings]
    after = siblings[names.index(record.id) + 1 :] if record.id in names else []
    following = next(iter((*below, *after)), None)
    return None if following is None or following.kind == HEADING else following
