"""Conditions on metadata as flags over the numbers of records.

The flags of a condition depend on the state of the store alone, not on the viewer: they are kept
between searches, and joined with what the viewer may read.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from quire.core import conditions
from quire.core.conditions import Comparison, Condition, Has, Junction, Not
from quire.store.index.snapshot import IndexSnapshot

Flags = npt.NDArray[np.bool_]


def flag_records(snapshot: IndexSnapshot, where: str, size: int) -> Flags:
    """Return for each number of a record below `size` whether it passes a condition."""
    return _flag(snapshot, conditions.parse(where), size)


def _flag(snapshot: IndexSnapshot, condition: Condition, size: int) -> Flags:
    match condition:
        case Comparison():
            return _set(snapshot.records_where(condition), size)
        case Has():
            return _set(snapshot.records_having(condition.key), size)
        case Not():
            return ~_flag(snapshot, condition.operand, size)
        case Junction():
            first, *others = condition.operands
            flags = _flag(snapshot, first, size)
            for other in others:
                join = np.logical_and if condition.every else np.logical_or
                join(flags, _flag(snapshot, other, size), out=flags)
            return flags


def _set(numbers: npt.NDArray[np.int64], size: int) -> Flags:
    flags = np.zeros(size, np.bool_)
    flags[numbers[numbers < size]] = True  # a record without chunks may have a higher number
    return flags
