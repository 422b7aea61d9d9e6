"""End processes that a test has started, whoever their parents are by now."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from tests.conftest import TIME_LIMIT


def end_all(folder: Path) -> None:
    """Kill all processes whose folder for running processes is this one, until there are none.

    One that is being started has the variable from its first moment, so that none is missed.
    """
    mark = f"XDG_RUNTIME_DIR={folder}".encode()
    until = time.monotonic() + TIME_LIMIT
    while found := _marked(mark):
        assert time.monotonic() < until, "they do not end"
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)


def _marked(mark: bytes) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            variables = (entry / "environ").read_bytes().split(b"\0")
            if mark in variables and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found
