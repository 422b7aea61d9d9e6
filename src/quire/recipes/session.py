"""Sessions: contexts of a conversation whose beginning stays the same, for prompt caches.

A provider caches the beginning of a prompt as long as not one byte of it changes. A session keeps
what earlier turns showed, byte for byte, and adds what is new for each question behind it. What was
shown holds as long as the viewer may read it, it is as it was, it has not expired and it passes the
session's filters; from the first part that does not hold, the text is made anew. When the budget is
full, the session starts again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quire.core.aio import make_async
from quire.core.protocols import Counter, View
from quire.core.types import Context, Filter, Message, Options, Source, Viewer
from quire.core.types.messages import Role, Style, make_messages
from quire.errors import InputError, unknown
from quire.indexing.freshness import Freshness, Stale
from quire.indexing.project import Project
from quire.pipeline.notes import stale_notes
from quire.pipeline.request import open_counter
from quire.pipeline.validate import check_tokens
from quire.store.index.filters import matches_record

SESSION_TOKENS = 8000
FORMATS = ("markers", "markdown", "plain")
"""Formats whose texts can follow one another."""
FIRST_SHARE = 2
"""The first turn may fill the budget divided by this."""
FRESH_SHARE = 8
"""A later turn adds at most the budget divided by this."""
LEAST_SHARE = 4
"""With less room than this part of what a turn may add, the session starts again."""
DECIDED = ("reserve", "seen", "order", "previous", "hard", "allow_empty")
"""Options that a session decides on itself."""
GAP = "\n"
"""Stands between two parts."""
FULL = "the budget of {budget} tokens is full"
CHANGED = "{path} changed, or may no longer be read"
EXPIRED = "{path} has expired"
FILTERED = "{path} no longer passes the session's filters"

AssembleTurn = Callable[[str, Options, Stale], Context]
FilterNow = Callable[[View], Filter]
"""Returns the filter of a turn that is asked now: what has expired by then is left out."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The context of one question in a session."""

    number: int
    query: str
    text: str
    """All that the session shows now; it begins with what the provider has cached."""
    tokens: int
    cached_tokens: int
    """The tokens at the beginning of the text that are those of the turn before, to the byte."""
    parts: tuple[Context, ...]
    """What the text consists of, the oldest first; each has a receipt of its own."""
    restarted: str = ""
    """Why less than the whole text of the turn before was kept; empty: all of it was."""
    notes: tuple[str, ...] = ()

    @property
    def context(self) -> Context:
        """The part that this turn added."""
        return self.parts[-1]

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources of all parts, in the order of the text."""
        return tuple(source for part in self.parts for source in part.sources)

    def as_messages(
        self, style: Style = "openai", *, question: str | None = None, role: Role | None = None
    ) -> list[Message]:
        """Return the text and the question as messages, with marks for Anthropic's prompt cache."""
        return make_messages(
            self.text,
            self.query if question is None else question,
            style=style,
            role=role,
            segments=[len(part) for part in _texts(self.parts)],
        )


class Session:
    """The contexts of a conversation, made by `Quire.session`; several threads may use it."""

    def __init__(
        self,
        project: Project,
        freshness: Freshness,
        assemble: AssembleTurn,
        options: Options,
        *,
        filter_now: FilterNow,
        fresh: int | None = None,
    ) -> None:
        budget, most = check_session(options, fresh)
        self._project = project
        self._freshness = freshness
        self._assemble = assemble
        self._filter_now = filter_now
        self._options = options
        self._budget = budget
        self._fresh = most
        self._counter: Counter = open_counter(options.get("model"), project.own.counter)
        self._lock = threading.Lock()
        self._last: Turn | None = None

    @property
    def last(self) -> Turn | None:
        """The last turn; None before the first."""
        return self._last

    def resume(self, number: int, parts: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> None:
        """Go on after a turn that somebody else has kept.

        Args:
            number: The number of the turn.
            parts: The text of each part, the oldest first, with the ids and paths of its chunks.
        """
        ids = [chunk_id for _, sources in parts for chunk_id, _ in sources]
        with self._project.view(self._options.get("viewer")) as view:
            # Files are compared at the paths that the store knows, not at those that were told.
            paths = {chunk.id: chunk.path for chunk in view.chunks(ids)}
        kept = tuple(_as_context(text, sources, paths) for text, sources in parts)
        text = join_parts(kept)
        self._last = Turn(number, "", text, self._counter.count(text), 0, kept)

    def ask(self, query: str) -> Turn:
        """Add what a question needs to what the session shows, and return the turn."""
        viewer: Viewer | str | None = self._options.get("viewer")
        may_write = (
            self._options.get("refresh", True) and self._project.resolve_viewer(viewer).owner
        )
        with self._lock:
            self._last = self._freshness.answer(
                lambda stale: self._turn(query, stale),
                lambda turn: [source.path for source in turn.sources],
                may_write=may_write,
            )
            return self._last

    ask_async = make_async(ask)

    def _turn(self, query: str, stale: Stale) -> Turn:
        last = self._last
        parts, restarted = self._holding(() if last is None else last.parts)
        turn = self._extended(query, parts, stale)
        if turn is None:
            parts, restarted = (), FULL.format(budget=self._budget)
            turn = self._extended(query, parts, stale)
        assert turn is not None, "the first part may use half of the budget"
        text, added = turn
        kept = "".join(_texts(parts))
        stale_old = tuple(pair for pair in stale if pair[0] in _paths(parts))
        return Turn(
            number=1 if last is None else last.number + 1,
            query=added.receipt["request"]["query"],  # type: ignore[index]  # as it was read
            text=text,
            tokens=self._counter.count(text),
            cached_tokens=self._counter.count(kept),
            parts=(*parts, added),
            restarted=restarted,
            notes=(*added.notes, *stale_notes(stale_old, _documents(parts))),
        )

    def _holding(self, parts: tuple[Context, ...]) -> tuple[tuple[Context, ...], str]:
        """Return the parts before the first that no longer holds, and which one that is."""
        with self._project.view(self._options.get("viewer")) as view:
            where = self._filter_now(view)
            for place, part in enumerate(parts):
                if reason := _why_not_shown(view, part, where):
                    return parts[:place], reason
        return parts, ""

    def _extended(
        self, query: str, parts: tuple[Context, ...], stale: Stale
    ) -> tuple[str, Context] | None:
        """Return the text with what a question adds, and the part; None if there is no room."""
        kept = _texts(parts)
        used = self._counter.count("".join(kept))
        room = self._budget // FIRST_SHARE if not parts else min(self._fresh, self._budget - used)
        least = max(1, self._fresh // LEAST_SHARE)
        while room >= least or not parts:
            options: Options = {
                **self._options,
                "budget": max(1, room),
                "reserve": {},
                "seen": [source.chunk_id for part in parts for source in part.sources],
                "allow_empty": True,
            }
            added = self._assemble(query, options, stale)
            text = "".join(_texts((*parts, added)))
            over = self._counter.count(text) - self._budget
            if over <= 0:
                return text, added
            room -= max(over, 1)  # the join of two parts may cost a token more than they do
        return None


def check_session(options: Options, fresh: int | None) -> tuple[int, int]:
    """Return the budget of a session, and the most tokens that a turn adds."""
    budget = options.get("budget", SESSION_TOKENS)
    check_tokens("budget", budget)
    most = budget // FRESH_SHARE if fresh is None else fresh
    if type(most) is not int or not 0 < most <= budget:
        raise InputError(
            f"must be a whole number from 1 to {budget}, not {most!r}", field="fresh", value=fresh
        )
    for name in DECIDED:
        if name in options:
            raise InputError("a session decides on this itself", field=name)
    return budget, most


def join_parts(parts: Sequence[Context]) -> str:
    """Return the text of parts that follow one another."""
    return "".join(_texts(parts))


def check_format(name: str) -> None:
    """Refuse a format whose texts cannot follow one another."""
    if name not in FORMATS:
        raise unknown("format of a session", name, FORMATS, field="format")


def _why_not_shown(view: View, part: Context, where: Filter) -> str:
    """Return why a part of an earlier turn must not be shown again; empty: it may be."""
    chunks = {chunk.id: chunk for chunk in view.chunks([each.chunk_id for each in part.sources])}
    view.damaged()
    ids = dict.fromkeys(chunk.record_id for chunk in chunks.values())
    records = {record.id: record for record in view.records([*ids])}
    unshared = view.unshared([*records]) if where.shared_only else ()
    lasting = replace(where, paths=(), alive_at=None)  # the path of a chunk never changes
    for source in part.sources:
        chunk = chunks.get(source.chunk_id)
        record = None if chunk is None else records.get(chunk.record_id)
        if record is None:
            return CHANGED.format(path=source.path)
        if not matches_record(Filter(alive_at=where.alive_at), record):
            return EXPIRED.format(path=source.path)
        if record.id in unshared or not matches_record(lasting, record):
            return FILTERED.format(path=source.path)
    return ""


def _as_context(text: str, shown: Sequence[tuple[str, str]], paths: Mapping[str, str]) -> Context:
    sources = tuple(
        Source(
            chunk_id=chunk_id,
            record_id="",
            path=paths.get(chunk_id, path),
            lines=(0, 0),
            title="",
            score=0,
            tokens=0,
        )
        for chunk_id, path in shown
    )
    return Context(
        text=text,
        sources=sources,
        tokens=0,
        content_tokens=0,
        available=0,
        truncated=False,
        omitted=0,
        limit_exceeded=0,
        decisions=(),
        failed=(),
        notes=(),
    )


def _texts(parts: Sequence[Context]) -> list[str]:
    """Return the texts of parts as they follow one another."""
    shown = [part.text for part in parts]
    return [f"{GAP}{text}" if place and text else text for place, text in enumerate(shown)]


def _documents(parts: Sequence[Context]) -> dict[str, str]:
    """Return the names of imported files, by the paths of their blocks."""
    chunks = (chunk for part in parts for chunk in part.chunks)
    return {chunk.document_path: chunk.document_name for chunk in chunks}


def _paths(parts: Sequence[Context]) -> set[Any]:
    return {source.path for part in parts for source in part.sources}
