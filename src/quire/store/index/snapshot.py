"""The contract between the search algorithms and an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from quire.core.types import Filter
from quire.store.index.access_mask import AccessMask
from quire.store.index.columns import Columns
from quire.store.index.postings import Posting
from quire.store.index.vectors import Codes, Matrix

Mask = npt.NDArray[np.bool_]
RowNumbers = npt.NDArray[np.int64]


class IndexSnapshot(Protocol):
    """One state of a space with the access classes of one viewer, as a search reads it.

    Several threads may search one snapshot at once. Row numbers depend on the history of a store;
    nothing that a search returns does.
    """

    filter_masks: dict[Filter, Mask | None]
    """The rows that pass a filter, for each filter used so far; None: all rows pass."""

    @property
    def columns(self) -> Columns:
        """The columns of every row."""

    @property
    def access(self) -> AccessMask:
        """The rows that the viewer may read."""

    @property
    def dims(self) -> int:
        """The number of dimensions of the vectors."""

    def posting(self, word: str) -> Posting:
        """Return all rows that contain a word, readable or not, in ascending order."""

    def vectors(self) -> tuple[Matrix, Codes]:
        """Return all vectors with their sign codes, by slot."""

    def kind_numbers(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of those kinds of chunks that exist, in any order."""

    def record_paths(self, numbers: npt.NDArray[np.int32]) -> list[tuple[int, str, int | None]]:
        """Return number, path and modification time of these records, in any order."""

    def records_by_prefix(self, prefix: str, limit: int) -> list[tuple[int, str, int | None]]:
        """Return number, path and None of records whose path begins so, `limit` at most."""

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
