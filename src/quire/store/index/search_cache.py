"""Results of semantic searches, kept between searches and brought up to date by what changed.

What is kept belongs to a question (its vector), a filter and a *cell*: an access class, or a set of
small ones. It holds every row of the cell that scores at least a threshold, in one generation of
the store. When the store has moved on, the rows that changed since are scored again, and no
others; then the same holds for the new generation. As long as k rows reach all thresholds, the best
k are among them. They are what a full scan finds: scores are exact integers, and the order of equal
scores is looked up in the snapshot each time.

A search puts together the cells that the viewer may read. People with different rights share what
is kept of the classes that both may read, and nothing else.

The score of a row, and whether it passes, follow from four of its columns (access class, record,
vector slot, kind), the epoch of the slots, and the key. What depends on more (a filter on paths,
times or metadata) is not kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from quire.core import hashing
from quire.core.frozen import dataclass
from quire.core.types import Filter, HitCount
from quire.store.index import topk, vectors
from quire.store.index.columns import ACCESS, KIND, RECORD, SLOT, Columns
from quire.store.index.scoring import Scored
from quire.store.index.snapshot import IndexSnapshot, RowNumbers

MAX_ENTRIES = 16_384
MAX_BYTES = 32 << 20
ENTRY_BYTES = 1024
"""What an entry takes besides its rows, about."""
MIN_CELL = 1024
"""A class with fewer vectors has no cell: to score them costs less than to keep results."""
MAX_CELLS = 15
"""The largest classes of a viewer have cells of their own, at most so many."""
MAX_UNKEPT = 4096
"""Vectors of all other classes together that are scored each time; more of them are a cell."""
MARGIN = 32
"""Rows kept beyond twice as many as are wanted, so that removals do not exhaust an entry."""

Cell = frozenset[int]
Counts = npt.NDArray[np.int64]
Slots = npt.NDArray[np.int32]
_DECIDING = (ACCESS, RECORD, SLOT, KIND)


@dataclass(frozen=True, slots=True)
class State:
    """The latest known generation of a space, and when each row was last found changed."""

    lineage: int
    """Results of different lineages are not comparable: slots or rows were numbered anew."""
    epoch: int
    columns: Columns
    stamps: Counts
    """For each row the generation in which a change of it was noticed."""
    sizes: Counts
    """The number of vectors of each access class."""
    embedded: dict[Cell, tuple[RowNumbers, Slots]] = field(default_factory=dict, compare=False)
    """The rows of cells that have a vector, with its slot, of those that were scored."""


@dataclass(frozen=True, slots=True)
class Entry:
    """All rows of a cell that score at least `threshold` (None: all rows), in one generation."""

    generation: int
    wanted: int
    threshold: int | None
    rows: npt.NDArray[np.int32]
    scores: npt.NDArray[np.int32]

    @property
    def bytes(self) -> int:
        """The memory that it takes, about."""
        return ENTRY_BYTES + self.rows.nbytes + self.scores.nbytes


Key = tuple[int, Cell, tuple[int, ...] | None, bytes, bytes]
"""Lineage, cell, kinds, hash of what is left out, vector."""


class SearchCache:
    """Keeps the results of semantic searches of a store; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: dict[int, State] = {}
        self._lineages = 0
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._bytes = 0
        self._count = HitCount()

    @property
    def count(self) -> HitCount:
        """How many semantic searches there were, and how many of them scanned nothing again."""
        return self._count

    def clear(self) -> None:
        """Forget all results."""
        with self._lock:
            self._states.clear()
            self._entries.clear()
            self._bytes = 0

    def nearest(
        self, snapshot: IndexSnapshot, vector: bytes, k: int, where: Filter
    ) -> Scored | None:
        """Return rows with exact scores, the best k and all their ties among them.

        None: results of this search are not kept, and all rows must be compared.
        """
        dated = where.since is not None or where.until is not None
        kept = not (where.paths or dated or where.where)
        state = self._advance(snapshot) if kept else None
        cells, unkept = split_classes(snapshot.classes, state.sizes) if state else ([], frozenset())
        if state is None or not cells:
            self.count_search(hit=False)
            return None
        search = _Search(snapshot, state, vector, where)
        found = {cell: self._find(search, cell) for cell in cells}
        missing = [cell for cell in cells if found[cell] is None]
        scanned, loose = self._scan(search, missing, unkept, k)
        entries = {cell: entry for cell, entry in found.items() if entry is not None} | scanned
        joined = _join(loose, entries.values())
        shallow = find_shallow(entries, joined[1], k)
        if shallow:  # too many of the rows that they hold were removed, or more are wanted
            entries |= self._scan(search, shallow, frozenset(), k)[0]
            joined = _join(loose, entries.values())
        self.count_search(hit=not (missing or shallow))
        return joined

    def count_search(self, *, hit: bool) -> None:
        """Count a search."""
        with self._lock:
            self._count = self._count.plus(hit)

    def _advance(self, snapshot: IndexSnapshot) -> State | None:
        """Return the state of a snapshot; None: a newer one is known already."""
        columns = snapshot.columns
        with self._lock:
            known = self._states.get(snapshot.space_id)
            if known is not None and columns.generation <= known.columns.generation:
                return known if columns.generation == known.columns.generation else None
            if known is None or known.epoch != snapshot.epoch or columns.rows < known.columns.rows:
                self._drop(known)
                self._lineages += 1
                stamps = np.full(columns.rows, columns.generation, np.int64)
                state = State(
                    self._lineages, snapshot.epoch, columns, stamps, count_vectors(columns)
                )
            else:
                state = replace(
                    known,
                    columns=columns,
                    stamps=update_stamps(known, columns),
                    sizes=count_vectors(columns),
                    embedded={},
                )
            self._states[snapshot.space_id] = state
            return state

    def _drop(self, state: State | None) -> None:
        """Forget the entries of a lineage."""
        if state is not None:
            for key in [key for key in self._entries if key[0] == state.lineage]:
                self._bytes -= self._entries.pop(key).bytes

    def _find(self, search: _Search, cell: Cell) -> Entry | None:
        """Return the entry of a cell as of the search's generation, if there is one."""
        key = search.key(cell)
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
        updated = search.update(entry, cell)
        if updated is not None and updated is not entry:
            self._put(key, updated)
        return updated

    def _scan(
        self, search: _Search, cells: Collection[Cell], unkept: Cell, k: int
    ) -> tuple[dict[Cell, Entry], Scored]:
        """Score all rows of some cells, and of classes of which nothing is kept."""
        rows, slots = search.rows_of(frozenset(unkept).union(*cells))
        scores = search.score(slots)
        if not cells:
            return {}, (rows, scores)
        if len(cells) == 1 and not unkept:  # all rows are of that cell
            (cell,) = cells
            entry = make_entry(search.state, rows, scores, 2 * k + MARGIN)
            self._put(search.key(cell), entry)
            return {cell: entry}, (rows[:0], scores[:0])
        entries = {}
        access = search.state.columns.table[ACCESS, rows]
        for cell in cells:
            own = np.flatnonzero(search.are_in(access, cell))
            entry = make_entry(search.state, rows[own], scores[own], 2 * k + MARGIN)
            entries[cell] = entry
            self._put(search.key(cell), entry)
        own = np.flatnonzero(search.are_in(access, unkept))
        return entries, (rows[own], scores[own])

    def _put(self, key: Key, entry: Entry) -> None:
        with self._lock:
            old = self._entries.get(key)
            if entry.bytes * 8 > MAX_BYTES or (old and old.generation > entry.generation):
                return
            self._bytes += entry.bytes - (old.bytes if old else 0)
            self._entries[key] = entry
            self._entries.move_to_end(key)
            while len(self._entries) > MAX_ENTRIES or self._bytes > MAX_BYTES:
                self._bytes -= self._entries.popitem(last=False)[1].bytes


class _Search:
    """One search of one state."""

    def __init__(self, snapshot: IndexSnapshot, state: State, vector: bytes, where: Filter) -> None:
        self.state = state
        self._snapshot = snapshot
        self._vector = vector
        self._kinds = tuple(sorted(snapshot.kind_numbers(where.kinds))) if where.kinds else None
        self._left_out = snapshot.unshared_records() if where.shared_only else _NO_RECORDS
        if where.alive_at is not None:
            expired = snapshot.expired_records(where.alive_at)
            self._left_out = np.concatenate([self._left_out, expired])
        self._changed: dict[int, RowNumbers] = {}

    def key(self, cell: Cell) -> Key:
        return self.state.lineage, cell, self._kinds, self._left_out_hash, self._vector

    @cached_property
    def _left_out_hash(self) -> bytes:
        return (
            hashing.digest_bytes(np.sort(self._left_out).tobytes()) if self._left_out.size else b""
        )

    def update(self, entry: Entry, cell: Cell) -> Entry | None:
        """Return an entry as of this state; None: it is newer, or too much has changed."""
        state, since = self.state, entry.generation
        if since >= state.columns.generation:
            return entry if since == state.columns.generation else None
        if since not in self._changed:
            self._changed[since] = np.flatnonzero(state.stamps > since)
        changed = self._changed[since]
        changed = changed[self.are_in(state.columns.table[ACCESS, changed], cell)]
        if changed.size > max(MARGIN, _total(cell, state.sizes) // 4):
            return None
        same = state.stamps[entry.rows] <= since
        rows = changed[self._passes(changed)]
        scores = self.score(state.columns.table[SLOT, rows])
        if entry.threshold is not None:
            rows, scores = rows[scores >= entry.threshold], scores[scores >= entry.threshold]
        entry = replace(
            entry,
            generation=state.columns.generation,
            rows=np.concatenate([entry.rows[same], rows.astype(np.int32)]),
            scores=np.concatenate([entry.scores[same], scores]),
        )
        return _trim(entry) if entry.rows.size > 2 * entry.wanted else entry

    def rows_of(self, classes: Cell) -> tuple[RowNumbers, Slots]:
        """Return all rows of some access classes that pass and have a vector, with its slot."""
        if not classes:
            return np.zeros(0, np.int64), np.zeros(0, np.int32)
        known = self.state.embedded.get(classes)
        if known is not None and self._kinds is None and not self._left_out.size:
            return known
        table = self.state.columns.table
        rows = np.flatnonzero(self._passes(slice(None)) & self.are_in(table[ACCESS], classes))
        found = rows, np.take(table[SLOT], rows)
        if self._kinds is None and not self._left_out.size and len(self.state.embedded) < MAX_CELLS:
            self.state.embedded[classes] = found
        return found

    def are_in(self, access: npt.NDArray[np.int32], classes: Cell) -> npt.NDArray[np.bool_]:
        """Return which rows, given by their access classes, are of some classes."""
        # Rows of no class have a negative one: the last two places are theirs.
        wanted = np.zeros(self.state.sizes.size + 2, np.bool_)
        wanted[list(classes)] = True
        return np.take(wanted, access, mode="wrap")

    def score(self, slots: Slots) -> npt.NDArray[np.int32]:
        """Return the scores of the vectors in some slots."""
        if not slots.size:
            return np.zeros(0, np.int32)
        matrix, _ = self._snapshot.vectors()
        return vectors.score_slots(matrix, self._vector, slots)

    def _passes(self, rows: RowNumbers | slice) -> npt.NDArray[np.bool_]:
        table = self.state.columns.table
        passed: npt.NDArray[np.bool_] = table[SLOT, rows] >= 0
        if self._kinds is not None:
            passed &= np.isin(table[KIND, rows], np.array(self._kinds, np.int32))
        if self._left_out.size:
            passed &= np.isin(table[RECORD, rows], self._left_out, invert=True)
        return passed


_NO_RECORDS = np.zeros(0, np.int32)


def split_classes(classes: Iterable[int], sizes: Counts) -> tuple[list[Cell], Cell]:
    """Return the cells of some access classes, and those classes of which nothing is kept."""
    numbers = np.fromiter(classes, np.int64)
    numbers = numbers[numbers < sizes.size]  # many are of events, and have no vectors
    present: list[int] = numbers[sizes[numbers] > 0].tolist()
    large = [number for number in present if sizes[number] >= MIN_CELL]
    large = sorted(large, key=lambda number: (-sizes[number], number))[:MAX_CELLS]
    cells = [frozenset((number,)) for number in large]
    others = frozenset(present).difference(large)
    if _total(others, sizes) > MAX_UNKEPT:
        return [*cells, others], frozenset()
    return cells, others


def make_entry(state: State, rows: RowNumbers, scores: npt.NDArray[np.int32], wanted: int) -> Entry:
    """Return an entry with the best of all rows of a cell: as many as wanted, and ties."""
    entry = Entry(state.columns.generation, wanted, None, rows.astype(np.int32), scores)
    return _trim(entry) if rows.size > wanted else entry


def _trim(entry: Entry) -> Entry:
    threshold = topk.kth_best(entry.scores, entry.wanted)
    best = entry.scores >= threshold
    return replace(entry, threshold=threshold, rows=entry.rows[best], scores=entry.scores[best])


def find_shallow(entries: dict[Cell, Entry], scores: npt.NDArray[np.int32], k: int) -> list[Cell]:
    """Return the cells of which rows that are not held could belong to the best k."""
    lowest = topk.kth_best(scores, k) if scores.size >= k else None
    return [
        cell
        for cell, entry in entries.items()
        if entry.threshold is not None and (lowest is None or lowest < entry.threshold)
    ]


def _join(loose: Scored, entries: Iterable[Entry]) -> Scored:
    rows, scores = loose
    held = list(entries)
    return (
        np.concatenate([rows, *(entry.rows for entry in held)]).astype(np.int64),
        np.concatenate([scores, *(entry.scores for entry in held)]),
    )


def update_stamps(known: State, columns: Columns) -> Counts:
    """Return for each row when it was last found changed, in a later generation."""
    stamps = np.full(columns.rows, columns.generation, np.int64)
    before = known.columns
    same = np.ones(before.rows, np.bool_)
    for column in _DECIDING:
        same &= before.table[column] == columns.table[column, : before.rows]
    stamps[: before.rows][same] = known.stamps[same]
    return stamps


def count_vectors(columns: Columns) -> Counts:
    """Return the number of vectors of each access class."""
    access = columns.table[ACCESS]
    embedded = access[(access >= 0) & (columns.table[SLOT] >= 0)]
    return np.bincount(embedded, minlength=int(access.max(initial=-1)) + 1)


def _total(classes: Iterable[int], sizes: Counts) -> int:
    return sum(int(sizes[number]) for number in classes)
