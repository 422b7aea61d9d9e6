"""The process that indexes does the work itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from quire.core.protocols import Embedder
from quire.core.types import FileEntry, IngestSettings
from quire.indexing.workers.contract import Content, Task
from quire.ingest import close_readers, parse


class InlineWorkers:
    """One worker, in this process, with the embedder that is open in it."""

    count = 1

    def __init__(self, embedder: Callable[[], Embedder | None]) -> None:
        self._embedder = embedder

    def read(
        self, tasks: Iterable[Task], settings: IngestSettings
    ) -> Iterator[tuple[FileEntry, Content]]:
        """Read files; yield them in their order."""
        for task in tasks:
            yield task.file, parse(task.file.path, task.data, settings)

    def embed(self, batches: Iterable[Sequence[str]], model: str) -> Iterator[list[bytes]]:
        """Embed batches of texts; yield their vectors in order."""
        embedder = self._embedder()
        assert embedder is not None, f"who wants vectors of {model} has opened it"
        for texts in batches:
            yield embedder.embed(texts)

    def close(self) -> None:
        """End what reads PDFs and the like."""
        close_readers()
