"""The contract between the search algorithms and an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from quire.core.conditions import Comparison
from quire.core.types import Filter
from quire.store.index.access_mask import AccessMask
from quire.store.index.columns import Columns
from quire.store.index.postings import Posting
from quire.store.index.vectors import Codes, Matrix

if TYPE_CHECKING:
    from quire.store.index.search_cache import SearchCache
    from quire.store.index.vector_index import VectorIndex, VectorState

Mask = npt.NDArray[np.bool_]
RowNumbers = npt.NDArray[np.int64]


class IndexSnapshot(Protocol):
    """One state of a space with the access classes of one viewer, as a search reads it.

    Several threads may search one snapshot at once. Row numbers depend on the history of a store;
    nothing that a search returns does.
    """

    filter_masks: dict[Filter, Mask | None]
    """The rows that pass a filter, for each filter used so far; None: all rows pass."""

    searches: SearchCache
    """The results of earlier semantic searches, of all viewers."""
    classes: frozenset[int]
    """The access classes that the viewer may read."""
    vector_index: VectorIndex | None
    """An index of vectors outside the store; None: the store's vectors are scanned."""

    @property
    def vector_state(self) -> VectorState:
        """What an index of vectors must be an index of, to answer for this snapshot."""

    @property
    def space_id(self) -> int:
        """The number of the space."""

    @property
    def epoch(self) -> int:
        """How often the slots of the vectors were numbered anew."""

    @property
    def columns(self) -> Columns:
        """The columns of every row."""

    @property
    def access(self) -> AccessMask:
        """The rows that the viewer may read."""

    def norms_for(self, chunks: int, words: int) -> npt.NDArray[np.int32]:
        """Return the norms of all rows for an average of words / chunks."""

    @property
    def dims(self) -> int:
        """The number of dimensions of the vectors."""

    def prefetch(self, words: Sequence[str]) -> None:
        """Read the lists of these words at once, if that is cheaper than one by one."""

    def posting(self, word: str) -> Posting:
        """Return all rows that contain a word, readable or not, in ascending order."""

    def vectors(self) -> tuple[Matrix, Codes]:
        """Return all vectors with their sign codes, by slot."""

    def vectors_at(self, slots: npt.NDArray[np.int64]) -> Matrix:
        """Return the vectors in some slots, in ascending order, without reading all others."""

    def kind_numbers(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of those kinds of chunks that exist, in any order."""

    def record_paths(self, numbers: npt.NDArray[np.int32]) -> list[tuple[int, str, int | None]]:
        """Return number, path and modification time of these records, in any order."""

    def records_by_prefix(self, prefix: str, limit: int) -> list[tuple[int, str, int | None]]:
        """Return number, path and None of records whose path begins so, `limit` at most."""

    def records_where(self, comparison: Comparison) -> npt.NDArray[np.int64]:
        """Return the numbers of all records with metadata that compare so, readable or not."""

    def records_having(self, key: str) -> npt.NDArray[np.int64]:
        """Return the numbers of all records with metadata under a key, readable or not."""

    def passing_records(self, where: str) -> Mask:
        """Return for each number of a record whether it passes a condition on metadata."""

    def expired_records(self, at: int) -> npt.NDArray[np.int32]:
        """Return the numbers of the records that have expired at a moment, readable or not."""

    def unshared_records(self) -> npt.NDArray[np.int32]:
        """Return the numbers of the records that a filter with `shared_only` leaves out."""

    def neighbors(self, rows: RowNumbers, distance: int) -> npt.NDArray[np.int64]:
        """Return the rows at most `distance` positions away from these in the same record.

        The result has two columns, row and position (`Chunk.sequence`), includes the given rows,
        and may contain repetitions.
        """

    def positions(self, rows: RowNumbers) -> list[tuple[int, str, int, int, bytes]]:
        """Return row, path, sequence, start and chunk id of each of these rows, in any order."""

    def first_rows(self, rows: RowNumbers, limit: int) -> list[int]:
        """Return the first of these rows by path, sequence, start and id, `limit` at most."""
