"""Where does the time go?

Functions are wrapped while a stopwatch runs; each second is charged to the innermost one, so the
stages add up to the whole. A wrapped call costs about a microsecond. What other threads do is
not charged.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from quire.core import merkle
from quire.embed.local import LocalEmbedder
from quire.indexing import files
from quire.indexing.workers import inline
from quire.store.index import analyzer
from quire.store.index.columns import ColumnsDraft
from quire.store.index.postings import PostingBuilder
from quire.store.index.trees import Trees
from quire.store.sql import posting_lists, records, row_blocks, vector_blocks
from quire.store.sqlite.database import Connection

OTHER = "other"
EMBED = "embed"
COMMIT = "commit"

Stages = tuple[tuple[str, Any, str], ...]
"""Which functions belong to which stage: its name, their owner, their name there."""

_INDEXING: Stages = (
    ("walk", files, "walk"),
    ("read and chunk", files, "load"),
    ("read and chunk", inline, "parse"),
    ("words", analyzer, "count_chunk_words"),
    ("words", PostingBuilder, "add"),
    ("postings", posting_lists, "add_segment"),
    ("postings, merging", posting_lists, "merge_full_levels"),
    ("merkle", Trees, "flush"),
    ("merkle", merkle, "chunk_leaf"),
    ("merkle", merkle, "record_leaf"),
    ("merkle", merkle, "link_leaf"),
    ("rows", records, "put"),
    ("rows", ColumnsDraft, "__init__"),
    ("rows", row_blocks, "save"),
    ("vector rows", vector_blocks, "put"),
    (EMBED, LocalEmbedder, "embed"),
)


class Stopwatch:
    """Seconds by stage, and how many of them this thread was at work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self._stack = [OTHER]
        self._thread = threading.get_ident()
        self._since, self._worked = time.perf_counter(), time.thread_time()

    def is_mine(self) -> bool:
        """Tell whether the calling thread is the one that is charged."""
        return threading.get_ident() == self._thread

    def enter(self, stage: str) -> None:
        self._charge()
        self._stack.append(stage)

    def leave(self) -> None:
        self._charge()
        self._stack.pop()

    def _charge(self) -> None:
        now, worked = time.perf_counter(), time.thread_time()
        stage = self._stack[-1]
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self.cpu[stage] = self.cpu.get(stage, 0.0) + worked - self._worked
        self._since, self._worked = now, worked


@contextmanager
def charged(stages: Stages) -> Iterator[Stopwatch]:
    """Charge what happens inside to these stages; read the stopwatch when it has ended."""
    watch = Stopwatch()
    with _wrapped(watch, stages):
        yield watch


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Charge what happens inside to the stages of indexing."""
    watch = Stopwatch()
    execute = Connection.execute
    with _wrapped(watch, _INDEXING):
        setattr(Connection, "execute", _commit_timed(watch, execute))  # noqa: B010 - a slot of apsw
        try:
            yield watch.seconds
        finally:
            del Connection.execute


@contextmanager
def _wrapped(watch: Stopwatch, stages: Stages) -> Iterator[None]:
    kept = [(owner, name, getattr(owner, name)) for _, owner, name in stages]
    for stage, owner, name in stages:
        setattr(owner, name, _timed(watch, stage, getattr(owner, name)))
    try:
        yield
    finally:
        watch.enter(OTHER)
        watch.leave()
        for owner, name, plain in kept:
            setattr(owner, name, plain)


def _timed(watch: Stopwatch, stage: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(plain)
    def timed(*args: Any, **kwargs: Any) -> Any:
        if not watch.is_mine():
            return plain(*args, **kwargs)
        watch.enter(stage)
        try:
            found = plain(*args, **kwargs)
        finally:
            watch.leave()
        return _each(watch, stage, found) if isinstance(found, Iterator) else found

    return timed


def _each(watch: Stopwatch, stage: str, items: Iterator[Any]) -> Iterator[Any]:
    """Charge each step of an iterator, not what its user does in between."""
    while True:
        watch.enter(stage)
        try:
            item = next(items)
        except StopIteration:
            return
        finally:
            watch.leave()
        yield item


def _commit_timed(watch: Stopwatch, plain: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(plain)
    def execute(self: Connection, sql: str, *args: Any, **kwargs: Any) -> Any:
        if sql != "COMMIT":
            return plain(self, sql, *args, **kwargs)
        watch.enter(COMMIT)
        try:
            return plain(self, sql, *args, **kwargs)
        finally:
            watch.leave()

    return execute
