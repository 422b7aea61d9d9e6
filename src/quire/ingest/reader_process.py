"""Extract the text of binary documents in a child process with limits of memory and time.

One child serves many documents, one at a time. It is started for the first one, and again after
one that it did not survive. `close` stops it; it also ends when this process does.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from quire.ingest import reader_worker
from quire.ingest.types import UnreadableFile

MAX_MEMORY = 1 << 30
MAX_SECONDS = 30.0
CLOSE_SECONDS = 2.0
ROOT = Path(__file__).parents[2]
"""Where the child finds this package."""

Frame = tuple[bytes, str]


class ReaderProcess:
    """A child process that extracts text, started when it is needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0
        """The process that started the child; after a fork it is another one's."""

    @contextmanager
    def extract(self, name: str, data: bytes) -> Iterator[Iterator[Frame]]:
        """Send a document of a format to the child, and give the frames of its answer as they come.

        Raises:
            UnreadableFile: The child did not answer within its limits; raised by the iterator.
        """
        with self._lock:
            child = self._start()
            expired = threading.Event()
            timer = threading.Timer(MAX_SECONDS, _expire, (child, expired))
            timer.daemon = True
            timer.start()
            whole = False
            try:
                frames = _converse(child, name, data)
                yield _explain(name, frames, expired)
                whole = next(frames, None) is None and child.poll() is None
            finally:
                timer.cancel()
                if not whole or expired.is_set():
                    self._stop(kill=True)

    def close(self) -> None:
        """Stop the child, if there is one; the next document starts another."""
        with self._lock:
            self._stop(kill=False)

    def _start(self) -> subprocess.Popen[bytes]:
        if self._child is not None and (
            self._owner != os.getpid() or self._child.poll() is not None
        ):
            self._stop(kill=True)
        if self._child is None:
            command = [sys.executable, "-P", reader_worker.__file__, str(ROOT)]
            try:
                self._child = subprocess.Popen(  # nosec B603  # noqa: S603  # our own program
                    [*command, str(MAX_MEMORY), str(MAX_SECONDS)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            except OSError as error:
                raise UnreadableFile(
                    f"the reader of documents cannot be started: {error}"
                ) from error
            self._owner = os.getpid()
        return self._child

    def _stop(self, *, kill: bool) -> None:
        child, self._child = self._child, None
        if child is None or self._owner != os.getpid():
            return
        if kill:
            child.kill()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            child.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


PROCESS = ReaderProcess()
atexit.register(PROCESS.close)


def close_readers() -> None:
    """Stop the processes in which files are read; the next file starts them again."""
    PROCESS.close()


def _expire(child: subprocess.Popen[bytes], expired: threading.Event) -> None:
    expired.set()
    child.kill()


def _converse(child: subprocess.Popen[bytes], name: str, data: bytes) -> Iterator[Frame]:
    """Send a document, and yield the frames of the answer; EOFError: the child has ended."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(reader_worker.LENGTHS.pack(len(name), len(data)))
        child.stdin.write(name.encode())
        child.stdin.write(data)
        child.stdin.flush()
        while True:
            kind, length = reader_worker.FRAME.unpack(_read(child.stdout, reader_worker.FRAME.size))
            text = _read(child.stdout, length).decode("utf-8", "surrogatepass")
            if kind == reader_worker.END:
                return
            yield kind, text
    except OSError as error:
        raise EOFError from error


def _read(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data


def _explain(name: str, frames: Iterator[Frame], expired: threading.Event) -> Iterator[Frame]:
    try:
        yield from frames
    except EOFError as error:
        if expired.is_set():
            reason = f"{name} that cannot be read within {MAX_SECONDS:g} seconds"
        else:
            reason = f"{name} that cannot be read within {MAX_MEMORY >> 20} MiB of memory"
        raise UnreadableFile(reason) from error
