"""How do tests start other processes?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parent.parent
PATIENCE = 120


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(changes or {})}


class Worker:
    """A process that does one of the jobs in worker.py."""

    def __init__(self, job: str, path: Path, *given: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "store.worker", job, str(path), *map(str, given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )

    def line(self) -> str:
        """Wait for the next line that it says."""
        assert self.process.stdout is not None
        said = self.process.stdout.readline().strip()
        if not said and self.process.poll() not in (None, 0):
            assert self.process.stderr is not None
            raise AssertionError(self.process.stderr.read())
        return said

    def tell(self) -> None:
        """Let it go on."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def ask(self) -> str:
        self.tell()
        return self.line()

    def end(self) -> list[str]:
        """Wait until it ends well; gives the lines that were left."""
        said, errors = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, errors
        return said.splitlines()

    def kill(self) -> list[str]:
        """End it at once, as by kill -9; gives what it said before."""
        self.process.kill()
        said, _ = self.process.communicate(timeout=PATIENCE)
        return said.splitlines()


@contextmanager
def working(job: str, path: Path, *given: object) -> Iterator[Worker]:
    """Start a job; whatever happens, it does not outlive the block."""
    worker = Worker(job, path, *given)
    try:
        yield worker
    finally:
        if worker.process.poll() is None:
            worker.kill()
        for stream in (worker.process.stdin, worker.process.stdout, worker.process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    """Mount a small file system of its own, if that is permitted here."""
    import pytest

    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def remount(folder: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(folder)], check=True)
