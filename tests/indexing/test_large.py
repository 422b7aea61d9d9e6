"""A long history stays cheap."""

from __future__ import annotations

import resource
import sys
import time
from typing import TYPE_CHECKING

from quire.core.types import ALL

from .conftest import LONG_AGO

if TYPE_CHECKING:
    from .conftest import Repository

MANY = 20_000
FILES = 400


def history_of(count: int) -> bytes:
    """Write a history for `git fast-import`: each commit changes one file, some rename one."""
    lines: list[str] = []
    for n in range(count):
        who = f"Ada Writer <ada@example.org> {LONG_AGO + n * 60} +0000"
        message = f"Commit {n}\n\nIt concerns ropes, sails and number {n * 7919 % count}.\n"
        path = f"folder{n % 20}/file{n % FILES}.md"
        text = f"State {n} of {path}\n"
        lines += [
            "commit refs/heads/main",
            f"committer {who}",
            f"data {len(message)}",
            message,
            f"M 100644 inline {path}",
            f"data {len(text)}",
            text,
        ]
        if n % 1000 == 999:
            lines.append(f"R {path} {path}.moved{n}.md")
    return "\n".join([*lines, "done", ""]).encode()


def most_memory() -> int:
    """Tell how many bytes this process has held at most so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def test_twenty_thousand_commits(repository: Repository) -> None:
    repository.git("fast-import", "--quiet", "--done", stdin=history_of(MANY))
    repository.git("reset", "--quiet", "--hard")
    before = most_memory()
    begun = time.process_time()
    assert repository.index(history=ALL).commits == MANY
    assert time.process_time() - begun < 60
    assert most_memory() - before < 300 * 2**20, "commits are streamed"

    sha = repository.commit("One more about ropes", {"folder0/file0.md": "Last\n"})
    begun = time.process_time()
    assert repository.index(history=ALL).commits == 1
    assert time.process_time() - begun < 15
    with repository.tree.open() as opened:
        assert opened.documents.history() == (sha, MANY + 1)
        assert opened.index(embed=False, history=ALL).commits == 0
        found = opened.search("number 12345 commit 12345", k=5).results
    assert all(one.chunk.kind == "commit" for one in found)
