"""The tables `segment` and `posting`: the posting lists of all words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from quire.store.damage import damaged
from quire.store.index import segments
from quire.store.index.columns import ACCESS, DEAD, ColumnsDraft
from quire.store.index.postings import PostingBuilder
from quire.store.sql.connection import Connection

_DAMAGED = "the posting lists are damaged"


def add_segment(connection: Connection, space: int, builder: PostingBuilder) -> None:
    """Write the words of new chunks as a segment."""
    if builder.rows:
        rows = np.sort(np.array(builder.rows, np.int32))
        _write(connection, space, rows, builder.lists())


def merge_full_levels(connection: Connection, space: int, draft: ColumnsDraft) -> None:
    """Merge the segments of each level that has enough of them."""
    level = 0
    while True:
        merged = _read_segments(connection, space, level)
        if len(merged) >= segments.FANOUT:
            _merge(connection, space, draft, merged)
        elif not connection.row(
            "SELECT 1 FROM segment WHERE space = ? AND level > ?", (space, level)
        ):
            return
        level += 1


def merge_all(connection: Connection, space: int, draft: ColumnsDraft) -> None:
    """Merge everything into one segment."""
    merged = _read_segments(connection, space)
    if merged:
        _merge(connection, space, draft, merged)


def segment_numbers(connection: Connection, space: int) -> list[int]:
    """Return the numbers of all segments, in ascending order."""
    numbers = connection.rows("SELECT id FROM segment WHERE space = ? ORDER BY id", (space,))
    return [number for (number,) in numbers]


def segment_rows(connection: Connection, space: int) -> npt.NDArray[np.int32]:
    """Return the rows that all segments claim to contain, in ascending order."""
    parts = [rows for _, rows in _read_segments(connection, space)]
    return np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int32)


def read_list(connection: Connection, space: int, segment: int, word: str) -> list[bytes]:
    """Return the encoded list of a word in a segment, if it has one."""
    lists = connection.rows(
        "SELECT rows FROM posting WHERE space = ? AND segment = ? AND word = ?",
        (space, segment, word),
    )
    return [data for (data,) in lists]


def read_lists(
    connection: Connection, space: int, segments: Sequence[int], words: Sequence[str]
) -> dict[tuple[int, str], list[bytes]]:
    """Return the encoded lists of words in segments: for each pair one, or none."""
    numbers = ",".join(map(str, segments))
    lists: dict[tuple[int, str], list[bytes]] = {
        (segment, word): [] for segment in segments for word in words
    }
    for segment, word, data in connection.rows(
        "SELECT p.segment, p.word, p.rows FROM carray(?) v "
        f"CROSS JOIN posting p ON p.space = ? AND p.segment IN ({numbers}) AND p.word = v.value",
        (connection.array(words), space),
    ):
        lists[segment, word].append(data)
    return lists


def living_lists(
    connection: Connection, space: int, dead: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, bytes]]:
    """Yield every word with its whole list, in order, without dead rows."""
    return _merge_lists(connection, space, segment_numbers(connection, space), dead)


def delete_all(connection: Connection, space: int) -> None:
    """Delete all posting lists, before they are rebuilt."""
    connection.execute("DELETE FROM posting WHERE space = ?", (space,))
    connection.execute("DELETE FROM segment WHERE space = ?", (space,))


def _read_segments(
    connection: Connection, space: int, level: int | None = None
) -> list[tuple[int, npt.NDArray[np.int32]]]:
    of_level = "" if level is None else "AND level = ? "
    stored = connection.rows(
        f"SELECT id, rows FROM segment WHERE space = ? {of_level}ORDER BY id",
        (space,) if level is None else (space, level),
    )
    try:
        return [(number, np.frombuffer(rows, "<i4")) for number, rows in stored]
    except ValueError as error:
        raise damaged(_DAMAGED) from error


def _merge(
    connection: Connection,
    space: int,
    draft: ColumnsDraft,
    merged: list[tuple[int, npt.NDArray[np.int32]]],
) -> None:
    rows = np.sort(np.concatenate([part for _, part in merged]))
    dead = draft.table[ACCESS, : draft.rows] == DEAD
    if rows.size and rows[-1] >= dead.size:
        raise damaged(_DAMAGED)
    living = rows[~dead[rows]]
    numbers = [number for number, _ in merged]
    _write(connection, space, living, _merge_lists(connection, space, numbers, dead))
    marks = ",".join("?" * len(numbers))
    for table, column in (("posting", "segment"), ("segment", "id")):
        connection.execute(
            f"DELETE FROM {table} WHERE space = ? AND {column} IN ({marks})",
            (space, *numbers),
        )
    draft.release(rows[dead[rows]])


def _merge_lists(
    connection: Connection, space: int, numbers: list[int], dead: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, bytes]]:
    streams = (
        connection.stream(
            "SELECT word, rows FROM posting WHERE space = ? AND segment = ? ORDER BY word",
            (space, number),
        )
        for number in numbers
    )
    return segments.merge_streams(streams, dead)


def _write(
    connection: Connection,
    space: int,
    rows: npt.NDArray[np.int32],
    lists: Iterable[tuple[str, bytes]],
) -> None:
    if not rows.size:
        for _ in lists:
            raise damaged(_DAMAGED)  # a posting list without a living row
        return
    ((number,),) = connection.rows(
        "INSERT INTO segment (space, level, rows) VALUES (?, ?, ?) RETURNING id",
        (space, segments.level_of(rows.size), rows.astype("<i4").tobytes()),
    )
    connection.executemany(
        "INSERT INTO posting (space, segment, word, rows) VALUES (?, ?, ?, ?)",
        ((space, number, word, data) for word, data in lists),
    )
