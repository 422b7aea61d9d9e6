"""Workers: where files are read and texts are embedded.

The process that indexes walks the folder, sends the bytes of files and batches of texts to workers,
and writes what comes back, in the order in which it was sent: one writer, whatever the number of
workers, and the same state root. `inline` works in the process itself, `processes` on this machine,
`ray` on a Ray cluster.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from quire.core.protocols import Embedder
from quire.errors import InputError, MissingExtraError
from quire.indexing.workers.contract import Content, Task, Workers, WorkerSettings
from quire.indexing.workers.inline import InlineWorkers

__all__ = [
    "INLINE",
    "Content",
    "InlineWorkers",
    "Task",
    "WorkerSettings",
    "Workers",
    "open_workers",
]

INLINE, PROCESSES, RAY = "inline", "processes", "ray"
MAX_PROCESSES = 256
FORMS = (INLINE, f"{PROCESSES}:N", RAY, f"{RAY}://HOST:PORT")


def open_workers(
    place: str, settings: WorkerSettings, embedder: Callable[[], Embedder | None]
) -> Workers:
    """Start the workers of a place: `inline`, `processes:N`, `ray` or `ray://HOST:PORT`.

    Args:
        place: Where they are.
        settings: What workers outside this process need to know.
        embedder: Returns the embedder of this process, for `inline`.
    """
    kind, _, rest = place.partition(":")
    if place == INLINE:
        return InlineWorkers(embedder)
    if kind == PROCESSES:
        from quire.indexing.workers.processes import ProcessWorkers

        return ProcessWorkers(settings, _count(place, rest))
    if kind == RAY and (not rest or re.match("//[^/:]", rest)):
        try:
            from quire.indexing.workers.on_ray import RayWorkers
        except ImportError as error:
            raise MissingExtraError(
                f"Ray is not installed ({error})", hint="pip install 'quire-context[ray]'"
            ) from error
        return RayWorkers(settings, place if rest else "")
    raise _unknown(place)


def _count(place: str, number: str) -> int:
    if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= MAX_PROCESSES:
        raise _unknown(place)
    return int(number)


def _unknown(place: str) -> InputError:
    return InputError(
        f"{place!r} is not a place for workers",
        field="on",
        value=place,
        allowed=FORMS,
        hint=f"N is a number from 1 to {MAX_PROCESSES}",
    )
