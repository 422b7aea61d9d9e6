"""Keep a deadline that nothing in this process can hold off.

A thread that watches the time cannot run while another one is inside a call of C code that holds
the interpreter's lock, such as the search of a regular expression. So the work is done by a child
process, a copy of this one, while this one waits for its answer: it waits outside the interpreter,
and ends the child when the time is over. Copying a process takes about a millisecond.

Systems without `fork` have the thread alone.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

GRACE = 1.0
"""Seconds after the deadline in which the child ends itself, should this process be gone."""
_BLOCK = 1 << 16
_END = b"\n"

CAN_FORK = hasattr(os, "fork") and hasattr(signal, "setitimer")


def run_in_child(work: Callable[[], str], seconds: float) -> str | None:
    """Run a function in a child process; return its answer, one line, or None if it died.

    Raises:
        TimeoutError: There was no answer in time; the child has been ended.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _work(work, seconds, writing)
    os.close(writing)
    try:
        answer = _read_line(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return answer


def _work(work: Callable[[], str], seconds: float, writing: int) -> NoReturn:
    try:
        # The system itself ends the child: the default action of this signal needs no interpreter.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)
        data = work().encode() + _END
        sys.stderr.flush()
        while data:
            data = data[os.write(writing, data) :]
    finally:
        os._exit(0)


def _read_line(reading: int, deadline: float) -> str | None:
    data = b""
    while not data.endswith(_END):
        left = max(0.0, deadline - time.monotonic())
        if not select.select([reading], [], [], left)[0]:
            raise TimeoutError
        block = os.read(reading, _BLOCK)
        if not block:  # the child has ended without an answer
            return None
        data += block
    return data.removesuffix(_END).decode()


def run_with_timer(work: Callable[[], str], seconds: float, give_up: Callable[[], None]) -> str:
    """Run a function in this process; when the time is over, a thread gives up and ends it."""
    lock = threading.Lock()

    def expire() -> None:
        if lock.acquire(blocking=False):
            give_up()
            # At once: what the work waits for may never come.
            os._exit(0)

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        answer = work()
    finally:
        timer.cancel()
    lock.acquire()  # never given back: the answer is decided
    return answer
