"""A process that lives to be killed.

Started once, it loads everything, then forks a worker for each job that it is given: a JSON object
on a line of standard input. The worker tells on standard output what it is about to do and what is
done; when it is dead, its parent tells how it died. So each kill hits a process of its own, and
none has to start Python anew.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import quire
from quire.core.protocols import Store, Writer
from quire.core.types import Chunk, Link, Outline, Progress, Record
from quire.indexing import files

DIMS = 32


def tell(*words: str) -> None:
    """Write one line; so short a line arrives whole or not at all."""
    os.write(1, ("\t".join(words) + "\n").encode())


class Cheap:
    """An embedder that takes no time: each text has a vector of its own."""

    model = f"cheap/{DIMS}"
    dims = DIMS

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> bytes:
        return hashlib.shake_128(text.encode()).digest(DIMS)

    def close(self) -> None:
        pass


class Telling:
    """A writer that tells of each record; the rest it leaves to the real one."""

    def __init__(self, inner: Writer) -> None:
        self._inner = inner

    def put(
        self,
        record: Record,
        chunks: Sequence[Chunk],
        links: Sequence[Link] = (),
        outline: Outline | None = None,
    ) -> bool:
        changed: bool = self._inner.put(record, chunks, links, outline)
        tell("put", record.path)
        return changed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def tell_transactions(store: Store) -> None:
    """Let a store tell when a write transaction begins and when it is kept."""
    real = store.write

    @contextmanager
    def write(space: str = "main") -> Iterator[Telling]:
        with real(space) as writer:
            tell("enter")
            yield Telling(writer)
            tell("commit")
        tell("leave")

    store.write = write  # type: ignore[method-assign]  # for this one process only


def told(progress: Progress) -> None:
    """Acknowledge files that were written for good."""
    if progress.paths:
        tell("kept", *progress.paths)


def run_command(job: dict[str, Any]) -> None:
    """Run a command as it was typed; standard output stays with those who tell."""
    from quire.cli.main import main as command
    from quire.store.sql.store import SqlStore

    real = SqlStore.write

    @contextmanager
    def write(self: SqlStore, space: str = "main") -> Iterator[Any]:
        with real(self, space) as writer:
            tell("enter")
            yield writer
            tell("commit")
        tell("leave")

    SqlStore.write = write  # type: ignore[method-assign]  # for this one process only
    os.chdir(job["root"])
    os.environ.update(job.get("environment", {}))
    sys.stdout = sys.stderr = io.StringIO()
    tell("begin")
    try:
        command(args=job["arguments"], prog_name="quire")
    except SystemExit as end:
        if end.code:
            raise RuntimeError(sys.stderr.getvalue()) from end
    finally:
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    tell("end")


def work(job: dict[str, Any]) -> None:
    """Do one job."""
    if job["do"] == "command":
        run_command(job)
        return
    files.BATCH_FILES = job.get("batch", 2)
    files.VECTORS_PER_COMMIT = job.get("batch", 2)
    files.COMMIT_SECONDS = 0.0
    with quire.open(job["root"]) as opened:
        opened._project._embedder = Cheap()
        tell_transactions(opened.store)
        tell("begin")
        if job["do"] == "index":
            opened.index(embed=job.get("embed", False), report=told)
        elif job["do"] == "import":
            opened.blocks.import_pages(Path(job["root"], "notes"), "vault", at=job["at"])
        elif job["do"] == "merge":
            opened.store.merge()
        elif job["do"] == "purge":
            opened.purge([Path(job["root"], path) for path in job["paths"]])
        tell("end")


def load() -> None:
    """Load all that a job needs, by doing one: what is imported late is imported now."""
    import quire.cli.main

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, ".quire").mkdir()
        Path(folder, "note.md").write_text("# One\n\nA note.\n")
        with quire.open(folder) as opened:
            opened._project._embedder = Cheap()
            opened.index()
            opened.blocks.import_pages(folder, "vault", at=1)
            opened.purge([Path(folder, "note.md")])


def main() -> None:
    """Fork a worker for each line, and tell how it ended."""
    load()
    for line in sys.stdin:
        worker = os.fork()
        if not worker:
            code = 1
            try:
                work(json.loads(line))
                code = 0
            finally:
                os._exit(code)
        tell("pid", str(worker))
        _, status = os.waitpid(worker, 0)
        tell("dead", str(os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    main()
