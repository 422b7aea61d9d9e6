"""Reports of progress: whom long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

from quire.core.types import Progress

Report = Callable[[Progress], None]
"""Is told how far the work is."""


def ignore_progress(_: Progress) -> None:
    """Ignore progress reports."""
