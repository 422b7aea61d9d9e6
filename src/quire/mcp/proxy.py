"""A proxy between a client and another MCP server.

Lines pass unchanged, both ways, in their order; the other server's standard error is the client's
own. Only the result of a tool call gets one more item. The other server is stopped when the client
goes away, and its exit code becomes the exit code of the proxy.
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
from quire.mcp.jsonrpc import add_items, find_calls, find_cancelled
from quire.mcp.proxy_lookup import ContextLookup
from quire.system import platform

GRACE = 5.0
"""Seconds for the other server to exit by itself once its client is gone."""
POLL_INTERVAL = 0.1
READ_SIZE = 1 << 16
MAX_LINE = 16 * 1024 * 1024
"""Bytes of a line that is looked into; longer ones pass in parts, as they come."""
SIGNAL_EXIT_CODE = 128
"""A shell adds this to the number of the signal that ended a process."""

Child = subprocess.Popen[bytes]


def run(command: Sequence[str], lookup: ContextLookup, *, first: bool = False) -> int:
    """Run another server behind the proxy; return its exit code."""
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # nosec B603  # noqa: S603 - the user typed it
    except (OSError, ValueError) as error:
        raise InputError(
            f"{command[0]} cannot be run: {error}", value=command[0], hint="put `--` before it"
        ) from error
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _forward_signals(child))
    lookup.warm_up()
    threading.Thread(target=_forward_requests, args=(child, lookup), daemon=True).start()
    try:
        _forward_responses(child, lookup, first=first)
        code = child.wait()
    finally:
        lookup.close()
    return code if code >= 0 else SIGNAL_EXIT_CODE - code


def _forward_requests(child: Child, lookup: ContextLookup) -> None:
    """Pass on the client's lines, and start to assemble contexts for the calls in them."""
    assert child.stdin is not None
    try:
        for line, whole in _read_lines(0):
            if whole:
                for key in find_cancelled(line):
                    lookup.forget(key)
                for call in find_calls(line):
                    lookup.start(call)
            _write(child.stdin, line)
        child.stdin.close()
    except OSError:  # the other server no longer reads, and is about to exit
        pass
    _wait_for_exit(child, lambda: lookup.has_open_calls)


def _forward_responses(child: Child, lookup: ContextLookup, *, first: bool) -> None:
    """Pass on the other server's lines, with contexts added to the results of calls."""
    assert child.stdout is not None
    out = FileIO(1, "wb", closefd=False)
    for line, whole in _read_lines(child.stdout.fileno()):
        try:
            output = line
            if whole and lookup.has_open_calls:
                output = add_items(line, lookup.item, lookup.forget, first=first)
        except (ValueError, RecursionError) as error:
            log.note(f"quire mcp-proxy: a line passes as it is: {error}")
            output = line
        try:
            _write(out, output)
        except OSError:  # the client is gone
            _terminate(child)
            return


def _read_lines(handle: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a stream as they come, without the lock of a buffered stream.

    A line is whole, or a part of one that is too long to be kept and looked into.
    """
    buffer = bytearray()
    whole = True
    while block := os.read(handle, READ_SIZE):
        start = len(buffer)
        buffer += block
        while (end := buffer.find(b"\n", start)) >= 0:
            yield bytes(buffer[: end + 1]), whole
            del buffer[: end + 1]
            start, whole = 0, True
        if len(buffer) > MAX_LINE or not whole:
            if whole:
                log.note(f"quire mcp-proxy: a line passes as it is: over {MAX_LINE} bytes")
            yield bytes(buffer), False
            buffer.clear()
            whole = False
    if buffer:
        yield bytes(buffer), whole


def _write(stream: IO[bytes] | FileIO, line: bytes) -> None:
    """Write a whole line and flush it."""
    rest = memoryview(line)
    while rest:
        rest = rest[stream.write(rest) or 0 :]
    stream.flush()


def _wait_for_exit(child: Child, is_busy: Callable[[], bool]) -> None:
    """Wait for a server without a client to exit; terminate it after a grace period."""
    deadline = time.monotonic() + GRACE
    while child.poll() is None:
        if platform.is_reader_gone(1) or (time.monotonic() > deadline and not is_busy()):
            _terminate(child)
        time.sleep(POLL_INTERVAL)


def _terminate(child: Child) -> None:
    child.terminate()
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        child.kill()


def _forward_signals(child: Child) -> Callable[[int, FrameType | None], None]:
    def handle(number: int, _: FrameType | None) -> None:
        if child.poll() is None:
            platform.forward_signal(child, number)
            threading.Thread(
                target=_wait_for_exit, args=(child, lambda: False), daemon=True
            ).start()

    return handle
