"""Progress on a terminal, as one line that is written again and again; nothing in a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from quire.cli import output
from quire.system.clock import seconds_passed

if TYPE_CHECKING:
    from quire.core.types import Progress

_STAGES = {
    "history": "reading history",
    "read": "reading files",
    "put": "writing documents",
    "embed": "computing vectors",
    "ask": "answering questions",
    "backup": "writing pages",
    "check": "checking the backup",
    "copy": "copying chunks",
}
BAR_WIDTH = 12
REDRAW_SECONDS = 0.1


def format_count(done: int, total: int | None) -> str:
    """Write how much of a task is done, and of how much if that is known."""
    return f"{done}" if total is None else f"{done}/{total}"


def format_rate(chunks: int, seconds: float | None, workers: int) -> str:
    """Write how many chunks were done each second, and by each worker if there are several."""
    if not chunks or not seconds:
        return ""
    rate = chunks / seconds
    share = f" ({rate / workers:.0f}/s a worker)" if workers > 1 else ""
    return f"{chunks} chunks, {rate:.0f}/s{share}"


def format_left(done: int, total: int | None, seconds: float) -> str:
    """Write how long the rest takes at the speed so far; nothing where that cannot be told."""
    if not done or not seconds or total is None or done >= total:
        return ""
    minutes, rest = divmod(round(seconds * (total - done) / done), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left"


def format_bar(done: int, total: int | None) -> str:
    """Draw which part of a task is done, if that is known."""
    if not total:
        return ""
    filled = BAR_WIDTH * min(done, total) // total
    return f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}]"


@dataclass(slots=True)
class _Stage:
    words: str
    began: float
    latest: Progress | None = None

    def text(self, now: float) -> str:
        latest, seconds = self.latest, now - self.began
        if latest is None:
            return f"{self.words} ..."
        parts = (
            self.words,
            format_bar(latest.done, latest.total),
            format_count(latest.done, latest.total),
            format_rate(latest.chunks, seconds, latest.workers),
            format_left(latest.done, latest.total, seconds),
        )
        return "  ".join(part for part in parts if part)


class _Line:
    """The line on the terminal. What others write to the terminal meanwhile comes above it."""

    def __init__(self, terminal: TextIO) -> None:
        self.terminal = terminal
        self._width = 0

    def show(self, text: str) -> None:
        """Write a text over the one before, as much of it as the terminal is wide."""
        text = text[: shutil.get_terminal_size().columns - 1]
        self._width = max(self._width, len(text))  # first: writing may be interrupted
        self.terminal.write(f"\r{text.ljust(self._width)}")
        self.terminal.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Take the text away."""
        if self._width:
            self.show("")
            self.terminal.write("\r")

    def write(self, text: str) -> int:
        """Write somebody else's text."""
        self.clear()
        return self.terminal.write(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self.terminal, name)


class _Display:
    """Shows progress on a terminal while a block runs.

    No generator: an interrupt that comes while `contextmanager` enters the block leaves the
    generator suspended, and the line on the terminal.
    """

    def __init__(self, first: str) -> None:
        self._line = _Line(sys.stderr)
        self._first = first
        self._stages: dict[str, _Stage] = {}
        self._drawn = 0.0

    def __enter__(self) -> Callable[[Progress], None]:
        try:
            now = seconds_passed()
            stage = self._stages[self._first] = _Stage(_STAGES[self._first], now)
            self._line.show(stage.text(now))
            sys.stderr = self._line
            return self._report  # noqa: TRY300  # an interrupt here takes the line away as well
        except BaseException:  # the block is not entered, so nothing else takes the line away
            self._end()
            raise

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        sys.stderr = self._line.terminal
        self._line.clear()

    def _report(self, progress: Progress) -> None:
        now = seconds_passed()
        stage = self._stages.setdefault(progress.stage, _Stage(_STAGES[progress.stage], now))
        ends = stage.latest is None or progress.done == progress.total  # always seen
        stage.latest = progress
        if ends or now - self._drawn >= REDRAW_SECONDS:
            self._line.show(stage.text(now))
            self._drawn = now


def show_progress(first: str = "read") -> AbstractContextManager[Callable[[Progress], None]]:
    """Show progress while the block runs; the value is called with each step.

    The stage `first` is there from the beginning.
    """
    if not sys.stderr.isatty() or output.is_quiet():
        return nullcontext(lambda _: None)
    return _Display(first)
