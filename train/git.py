"""Read public repositories from bare git directories, without a work tree."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

VENDORED = re.compile(
    r"(^|/)(_?vendor(ed)?|third_party|node_modules|dist|build|externals?|extern|deps|generated|gen"
    r"|locales?|migrations|testdata|fixtures|minified)(/|$)|\.min\.|_pb2|\.pb\.|bundle|\.d\.ts$",
    re.IGNORECASE,
)
TESTS = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing|benchmarks?)(/|$)"
    r"|(^|/)(test_|conftest)|_test\.|_spec\.|\.spec\.|\.test\.|Tests?\.(java|kt|cs|scala|swift)$"
)
MAX_FILE = 300_000
MAX_COMMIT = 200_000


def git_directory(mirror: Path, repository: str) -> Path | None:
    """Return where a mirrored repository's objects are, or None if it is not there."""
    home = mirror / repository.replace("/", "+") / "repo"
    for folder in (home / ".git", home):
        if (folder / "HEAD").exists():
            return folder
    return None


WINDOW = 64
PIPE = 1 << 20


def _widen(process: subprocess.Popen[bytes]) -> None:
    """Make a process's output pipe larger, where the system can."""
    if process.stdout is not None and hasattr(fcntl, "F_SETPIPE_SZ"):
        fcntl.fcntl(process.stdout.fileno(), fcntl.F_SETPIPE_SZ, PIPE)


def _decode(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


class Blobs:
    """A running `git cat-file` that answers for one object after the other."""

    def __init__(self, directory: Path) -> None:
        self._process = subprocess.Popen(
            ["git", "--git-dir", str(directory), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "GIT_NO_LAZY_FETCH": "1"},
        )
        _widen(self._process)

    def read_many(self, shas: Sequence[str]) -> Iterator[str | None]:
        """Yield the text of each blob; None if it is missing, too long or not UTF-8.

        Blobs are asked for ahead of reading them, so that neither process waits for the other.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        for start in range(0, len(shas), WINDOW):
            part = shas[start : start + WINDOW]
            stdin.write("".join(f"{sha}\n" for sha in part).encode())
            stdin.flush()
            for _ in part:
                header = stdout.readline().split()
                if len(header) < 3 or header[1] == b"missing":
                    yield None
                    continue
                data = stdout.read(int(header[2]))
                stdout.read(1)
                yield _decode(data) if len(data) <= MAX_FILE else None

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process.wait()


def list_tree(directory: Path) -> list[tuple[str, str]]:
    """Return hash and path of every file of the newest commit, in order of their paths."""
    listing = subprocess.run(
        ["git", "--git-dir", str(directory), "ls-tree", "-r", "-z", "HEAD"],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "replace")
    rows = []
    for line in listing.split("\0"):
        if line:
            meta, path = line.split("\t", 1)
            rows.append((meta.split()[2], path))
    return sorted(rows, key=lambda row: row[1])


def list_messages(directory: Path, limit: int) -> list[str]:
    """Return the messages of the newest commits, without merges."""
    log = subprocess.run(
        [
            *("git", "--git-dir", str(directory), "log", "-n", str(limit), "--no-merges"),
            *("--no-color", "--format=%B%x01"),
        ],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "replace")
    return [message.strip() for message in log.split("\x01") if message.strip()]


@dataclass(slots=True)
class Commit:
    """A commit's message, and of each file it changed: the old blob and the old lines."""

    sha: str
    message: str
    blobs: dict[str, str] = field(default_factory=dict)
    hunks: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """By path: half-open ranges of changed lines of the old text; empty where lines were added."""


HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? ")


def parse_commit(text: str) -> Commit | None:
    """Parse one entry of `git log --raw -p -U0` in the format of `iter_commits`."""
    head, separator, rest = text.partition("\x03")
    sha, _, message = head.partition("\x02")
    if not separator:
        return None
    commit = Commit(sha.strip(), message)
    path: str | None = None
    for line in rest.split("\n"):
        if line.startswith(":") and "\t" in line and not commit.hunks:
            meta, name = line.split("\t", 1)
            commit.blobs[name] = meta.split()[2]
        elif line.startswith("--- a/"):
            path = line[6:]
        elif line.startswith("--- "):
            path = None
        elif path is not None and (found := HUNK.match(line)):
            count = 1 if found[2] is None else int(found[2])
            # A hunk without old lines stands behind its line; both are counted from 1.
            first = int(found[1]) - (1 if count else 0)
            commit.hunks.setdefault(path, []).append((first, first + count))
    return commit


def iter_commits(directory: Path, extensions: tuple[str, ...], limit: int) -> Iterator[Commit]:
    """Yield the newest commits that only modify files with these extensions, without merges."""
    process = subprocess.Popen(
        [
            *("git", "--git-dir", str(directory), "log", "-n", str(limit), "--no-merges"),
            *("--diff-filter=M", "--raw", "-p", "-U0", "--no-abbrev", "--no-renames"),
            *("--no-color", "--no-ext-diff", "--format=%x01%H%x02%B%x03", "--"),
            *(f"*{extension}" for extension in extensions),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "GIT_NO_LAZY_FETCH": "1"},
    )
    _widen(process)
    stdout = process.stdout
    assert stdout is not None
    pending = b""
    try:
        while chunk := stdout.read(1 << 20):
            *entries, pending = (pending + chunk).split(b"\x01")
            if len(pending) > 20_000_000:
                pending = b""
            for entry in entries:
                if 0 < len(entry) < MAX_COMMIT and (
                    commit := parse_commit(entry.decode("utf-8", "replace"))
                ):
                    yield commit
    finally:
        stdout.close()
        process.kill()
        process.wait()
