"""Lines of standard input, limited in length and depth.

A line that is too long is not kept, and one that is nested too deep is not parsed: both are
answered with an error in words, as far as the id of their request can be found.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import BinaryIO

RequestId = int | str
Refuse = Callable[[RequestId | None, str], None]
"""Answers a request with an error; None: its id is not known."""

MAX_LINE = 4 * 1024 * 1024
"""Bytes of a line."""
MAX_DEPTH = 100
"""Levels of nested lists and objects in a message."""
READ_SIZE = 1 << 16
_EXCERPT = 1024
"""Bytes at the start and at the end of a long line in which its id is looked for."""
_ID = rb'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\]|\\[^u]){0,200}")'
_FIELD = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,200}"'
_AT_START = re.compile(rb"\s*\{\s*(?:" + _FIELD + rb"\s*,\s*){0,2}" + _ID)
_AT_END = re.compile(_ID + rb"(?:\s*,\s*" + _FIELD + rb"){0,2}\s*\}\s*\Z")
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|([\[{])|([\]}])', re.DOTALL)


class Lines:
    """A stream of text whose lines are limited; what it refuses is answered and left out."""

    def __init__(self, stream: BinaryIO, refuse: Refuse) -> None:
        self._stream = stream
        self._refuse = refuse

    def readline(self) -> str:
        """Return the next line that is accepted; empty at the end of the stream."""
        while line := self._stream.readline(MAX_LINE + 1):
            problem = ""
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                line = self._skip(line)
                problem = f"the message has more than {MAX_LINE} bytes, which is the most allowed"
            elif is_deep(line):
                problem = f"the message is nested deeper than {MAX_DEPTH} levels"
            if not problem:
                return line.decode("utf-8", "replace")
            self._refuse(find_id(line), problem)
        return ""

    def _skip(self, start: bytes) -> bytes:
        """Read a line to its end; return how it begins and how it ends."""
        end = start
        while not end.endswith(b"\n") and (more := self._stream.readline(READ_SIZE)):
            end = end[-_EXCERPT:] + more
        return start[:_EXCERPT] + b"\n" + end[-_EXCERPT:]


def is_deep(line: bytes) -> bool:
    """Tell whether a line is nested deeper than messages are."""
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0
    for match in _TOKENS.finditer(line):
        kind = match.lastindex
        if kind == 1:
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif kind is not None:
            depth -= 1
    return False


def find_id(line: bytes) -> RequestId | None:
    """Return the id of a request, where clients write it: at the start or at the end."""
    match = _AT_START.match(line[:_EXCERPT]) or _AT_END.search(line[-_EXCERPT:])
    if match is None:
        return None
    try:
        value = json.loads(match[1].decode("utf-8", "replace"))
    except ValueError:
        return None
    return value if isinstance(value, int | str) else None


def take_standard_input() -> BinaryIO:
    """Return standard input; whatever else reads descriptor 0 from now on finds it empty."""
    private = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    # Left open at the end: a thread may still wait for a line.
    return os.fdopen(private, "rb", closefd=False)
