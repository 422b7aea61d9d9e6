"""Run a command on a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Tree


def on_a_terminal(tree: Tree, *arguments: str, stdout: bool = False) -> tuple[int, str]:
    """Run a command whose standard error, or every stream, is a terminal; return code and output."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [tree.command, *arguments],
        cwd=tree.root,
        stdin=slave,
        stdout=slave if stdout else subprocess.DEVNULL,
        stderr=slave,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(slave)
    sent = bytearray()
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # on Linux: the other end was closed
            break
        if not part:
            break
        sent += part
    os.close(master)
    return process.wait(60), sent.decode()
