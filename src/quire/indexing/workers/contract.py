"""What workers do, and what crosses from the process that indexes to a worker and back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from quire.core.protocols import Embedder
from quire.core.types import Document, EmbedSettings, FileEntry, IngestSettings, Skipped
from quire.embed import open_embedder
from quire.errors import EmbedError
from quire.ingest import parse

Content = tuple[Document, str] | Skipped
"""What a file holds, and the digest of its bytes; or why it is skipped."""
LOST = "its reader ended without an answer, {} times"
"""Why a file is skipped that no worker survives."""
TRIES = 3
"""So often a task is given to a worker whose process ends."""
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
PendingT = TypeVar("PendingT")


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker elsewhere needs to know."""

    embed: EmbedSettings
    disabled: tuple[str, ...] = ()
    """The plug-ins that are not used."""


@dataclass(frozen=True, slots=True)
class Task:
    """A file to read: where it was found, and its bytes."""

    file: FileEntry
    data: bytes


class Workers(Protocol):
    """Reads files and embeds texts, here or elsewhere."""

    @property
    def count(self) -> int:
        """The number of workers."""

    def read(
        self, tasks: Iterable[Task], settings: IngestSettings
    ) -> Iterator[tuple[FileEntry, Content]]:
        """Read files; yield them in their order.

        A file that ends its worker is tried again, then skipped with a reason.
        """

    def embed(self, batches: Iterable[Sequence[str]], model: str) -> Iterator[list[bytes]]:
        """Embed batches of texts; yield their vectors in order.

        Raises:
            EmbedError: A worker has another model than `model`, or has none.
        """

    def close(self) -> None:
        """End the workers."""


class Worker:
    """One worker elsewhere: the work itself, in whatever process it is done."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._embedder: Embedder | None = None

    def read(self, path: str, data: bytes, settings: IngestSettings) -> Content:
        """Read a file from its bytes."""
        return parse(path, data, settings)

    def embed(self, texts: Sequence[str], model: str) -> list[bytes]:
        """Embed texts; the model is loaded for the first of them."""
        if self._embedder is None:
            self._embedder = open_embedder(self._settings.embed, self._settings.disabled)
        found = None if self._embedder is None else self._embedder.model
        if self._embedder is None or found != model:
            raise EmbedError(
                f"a worker has the model {found}, but the store wants {model}",
                hint="install the same version of Quire and its model wherever workers run",
            )
        return self._embedder.embed(texts)


def in_order(
    items: Iterable[ItemT],
    submit: Callable[[ItemT], PendingT],
    wait: Callable[[ItemT, PendingT], ResultT],
    limit: int,
) -> Iterator[tuple[ItemT, ResultT]]:
    """Keep up to `limit` tasks under way; yield the results in the order of the items.

    No more items are taken than are under way, so that neither bytes nor results pile up.
    """
    pending: deque[tuple[ItemT, PendingT]] = deque()
    for item in items:
        pending.append((item, submit(item)))
        if len(pending) >= limit:
            first, task = pending.popleft()
            yield first, wait(first, task)
    while pending:
        first, task = pending.popleft()
        yield first, wait(first, task)
