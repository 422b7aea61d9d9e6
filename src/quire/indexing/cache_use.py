"""How often answers were in a cache, summed up over all processes that used a store."""

from __future__ import annotations

import threading
from dataclasses import fields
from typing import Any

from quire.config.user_cache import CacheFile
from quire.core.types import CacheUse, HitCount

MAX_BYTES = 1 << 20
MAX_LINES = 256
"""So many lines are summed up in one."""
SAVE_EVERY = 64
"""Requests after which a process that goes on saves its counts."""


class CacheUseLog:
    """Adds what a process counts to what others have counted."""

    def __init__(self, file: CacheFile) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._saved = CacheUse()
        self._others = CacheUse()
        self._lines = 0
        self._requests = 0

    def note(self, use: CacheUse) -> None:
        """Take notice of a request; save the counts of this process now and then."""
        with self._lock:
            self._requests += 1
            if self._requests % SAVE_EVERY:
                return
        self.save(use)

    def save(self, use: CacheUse) -> None:
        """Save what was counted since the last time."""
        with self._lock:
            new = _combine(use, self._saved, -1)
            self._saved = use
        if new != CacheUse():
            self._file.append([_line(new)])

    def total(self, use: CacheUse) -> CacheUse:
        """Return the sum over all processes; `use` is what this one has counted so far."""
        self.save(use)
        with self._lock:
            for line in self._file.read_new():
                self._others = _combine(self._others, _use(line), 1)
                self._lines += 1
            if self._lines > MAX_LINES:
                self._file.replace(_line(self._others))
                self._others, self._lines = CacheUse(), 0
                for line in self._file.read_new():
                    self._others = _combine(self._others, _use(line), 1)
            return self._others if self._others != CacheUse() else use


def _combine(one: CacheUse, other: CacheUse, sign: int) -> CacheUse:
    sums = {}
    for field in fields(CacheUse):
        left, right = getattr(one, field.name), getattr(other, field.name)
        sums[field.name] = left.plus(sign * right.hits, sign * right.total)
    return CacheUse(**sums)


def _line(use: CacheUse) -> dict[str, list[int]]:
    counts = {field.name: getattr(use, field.name) for field in fields(CacheUse)}
    return {name: [count.hits, count.total] for name, count in counts.items() if count.total}


def _use(line: dict[str, Any]) -> CacheUse:
    """Return the counts in a line; what is no count is passed over."""
    counts = {}
    for field in fields(CacheUse):
        match line.get(field.name):
            case [int(hits), int(total)] if 0 <= hits <= total:
                counts[field.name] = HitCount(hits, total)
    return CacheUse(**counts)
