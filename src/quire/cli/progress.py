"""Progress bars on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from quire.core.types import Progress


@contextmanager
def show_progress() -> Iterator[Callable[[Progress], None]]:
    """Show progress while the block runs; the value is called with each step."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    with Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bars:
        tasks = {
            "history": bars.add_task("reading history", total=None, visible=False),
            "read": bars.add_task("reading files", total=None),
            "embed": bars.add_task("computing vectors", total=None, visible=False),
            "ask": bars.add_task("answering questions", total=None, visible=False),
        }

        def report(progress: Progress) -> None:
            task = tasks[progress.stage]
            bars.update(task, completed=progress.done, total=progress.total, visible=True)

        yield report
