"""Other processes and file systems for tests."""

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

    def __init__(self, job: str, path: Path, *args: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "store.worker", job, str(path), *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )

    def line(self) -> str:
        """Wait for the next line of its output."""
        assert self.process.stdout is not None
        output = self.process.stdout.readline().strip()
        if not output and self.process.poll() not in (None, 0):
            assert self.process.stderr is not None
            raise AssertionError(self.process.stderr.read())
        return output

    def tell(self) -> None:
        """Let it continue."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def ask(self) -> str:
        self.tell()
        return self.line()

    def end(self) -> list[str]:
        """Wait until it succeeds; return the remaining lines."""
        output, errors = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, errors
        return output.splitlines()

    def kill(self) -> list[str]:
        """Kill it (SIGKILL); return the lines that it printed before."""
        self.process.kill()
        output, _ = self.process.communicate(timeout=PATIENCE)
        return output.splitlines()


@contextmanager
def working(job: str, path: Path, *args: object) -> Iterator[Worker]:
    """Start a job, which ends with the block at the latest."""
    worker = Worker(job, path, *args)
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
    """Mount a small file system, if that is permitted here."""
    import pytest

    result = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        pytest.skip(f"no file system may be mounted here: {result.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def remount(folder: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(folder)], check=True)
