"""How does Quire stand between a client and another server?

Lines pass as they are, both ways, in their order; the other server's standard error is the client's
own. Only the result of a call of a tool gets one item more. The other server is stopped when the
client goes away, and how it ends is how this ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from io import FileIO
from types import FrameType
from typing import IO

from quire.errors import InputError
from quire.mcp import log
from quire.mcp.jsonrpc import calls, cancelled, with_items
from quire.mcp.proxy_lookup import ContextLookup
from quire.system import platform

GRACE = 5.0
"""Seconds that the other server has to end by itself, once its client is gone."""
LOOK = 0.1
BLOCK = 1 << 16
SIGNALLED = 128
"""A shell adds this to the number of the signal that ended a process."""

Child = subprocess.Popen[bytes]


def run(command: Sequence[str], knowing: ContextLookup, *, first: bool = False) -> int:
    """Run another server behind this one; gives the code that it ends with."""
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - it is what the user typed
    except (OSError, ValueError) as error:
        raise InputError(f"{command[0]} cannot be run: {error}") from error
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, _passing_on(child))
    knowing.warm_up()
    threading.Thread(target=_upwards, args=(child, knowing), daemon=True).start()
    try:
        _downwards(child, knowing, first=first)
        code = child.wait()
    finally:
        knowing.close()
    return code if code >= 0 else SIGNALLED - code


def _upwards(child: Child, knowing: ContextLookup) -> None:
    """Pass on what the client says, and look up what helps with the calls in it."""
    assert child.stdin is not None
    try:
        for line in _lines(0):
            for key in cancelled(line):
                knowing.forget(key)
            for call in calls(line):
                knowing.ask(call)
            _write(child.stdin, line)
        child.stdin.close()
    except OSError:  # the other server has closed its ears, and is about to end
        pass
    _stop(child, lambda: knowing.waiting)


def _downwards(child: Child, knowing: ContextLookup, *, first: bool) -> None:
    """Pass on what the other server says, with what is known added to the results of calls."""
    assert child.stdout is not None
    out = FileIO(1, "wb", closefd=False)
    for line in child.stdout:
        try:
            told = line
            if knowing.waiting:
                told = with_items(line, knowing.item, knowing.forget, first=first)
        except (ValueError, RecursionError) as error:
            log.note(f"quire mcp-proxy: a line passes as it is: {error}")
            told = line
        try:
            _write(out, told)
        except OSError:  # the client is gone
            _end(child)
            return


def _lines(handle: int) -> Iterator[bytes]:
    """Give the lines of a stream as they come; without the lock that a buffered one would hold."""
    held = bytearray()
    while block := os.read(handle, BLOCK):
        start = len(held)
        held += block
        while (end := held.find(b"\n", start)) >= 0:
            yield bytes(held[: end + 1])
            del held[: end + 1]
            start = 0
    if held:
        yield bytes(held)


def _write(stream: IO[bytes] | FileIO, line: bytes) -> None:
    """Write all of a line at once: half of it helps nobody."""
    left = memoryview(line)
    while left:
        left = left[stream.write(left) or 0 :]
    stream.flush()


def _stop(child: Child, busy: Callable[[], bool]) -> None:
    """Wait for a server without a client to end; see to it where it does not."""
    until = time.monotonic() + GRACE
    while child.poll() is None:
        if platform.is_reader_gone(1) or (time.monotonic() > until and not busy()):
            _end(child)
        time.sleep(LOOK)


def _end(child: Child) -> None:
    child.terminate()
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        child.kill()


def _passing_on(child: Child) -> Callable[[int, FrameType | None], None]:
    def handle(number: int, _: FrameType | None) -> None:
        if child.poll() is None:
            platform.forward_signal(child, number)
            threading.Thread(target=_stop, args=(child, lambda: False), daemon=True).start()

    return handle
