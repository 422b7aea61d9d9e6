"""Ask a process that is ready to answer: most of the time of a hook goes into loading Quire.

The process (`warm_server`) has loaded everything and holds no store; it answers by a copy of
itself, with the variables and in the folder of the hook. It is found by a socket in the user's own
folder for running processes, which no project chooses, and is named by this very installation of
Quire. Both sides check that the other one is the same user. Whatever goes wrong, the hook answers
by itself.

This module is loaded by every hook, so it imports little.
"""

from __future__ import annotations

import io
import json
import os
import select
import socket
import struct
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import quire
from quire.system import runtime

SWITCH = "QUIRE_BACKGROUND"
SERVER = "quire.integrations.hooks.warm_server"
EVENTS = ("session-start", "prompt", "post-tool")
FLAGS = {"--embed": "embed", "--all-viewers": "all_viewers"}
VALUES = {"--client": "client", "--timeout": "timeout", "--viewer": "viewer", "--space": "space",
          "--store": "store"}  # fmt: skip
TIMEOUT = 2.0
MAX_TIMEOUT = 600
SLOW = 0.15
"""Seconds after which a hook would have been better off with a process that is ready."""
MAX_INPUT_BYTES = 16 * 1024 * 1024
MAX_ANSWER_BYTES = 1 << 20
NOTHING = "{}"
LOCK = ".lock"
_BLOCK = 1 << 16
_CREDENTIALS = struct.Struct("3i")
_TOO_LATE = "quire hook: no answer within {:g} seconds"


def name_of_installation() -> str:
    """Return what is the same for all processes that run this Quire in the same way."""
    variables = sorted((key, value) for key, value in os.environ.items() if key[:6] == "PYTHON")
    text = repr((sys.executable, quire.__file__, variables)).encode()
    return f"hook-{quire.__version__}-{zlib.crc32(text):08x}{zlib.adler32(text):08x}"


def meeting_place() -> Path | None:
    """Return the socket of the ready process; None: no folder is safe, or its path is too long."""
    folder = runtime.folder(os.environ)
    place = None if folder is None else folder / f"{name_of_installation()}.sock"
    if place is None or len(os.fsencode(place)) > runtime.MAX_SOCKET_PATH:
        return None
    return place


def is_same_user(connection: socket.socket) -> bool:
    """Tell whether the other side is run by the same user; where the system cannot say, it is.

    The folder of the socket can be entered by that user alone in any case.
    """
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    data = connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(data)[1] == os.geteuid())


def try_answer(arguments: Sequence[str]) -> bool:
    """Let the ready process answer a hook; return whether that is done."""
    parsed = _parse(arguments)
    if parsed is None or os.environ.get(SWITCH) == "0" or not hasattr(socket, "AF_UNIX"):
        return False
    seconds = parsed["timeout"]
    until = time.monotonic() + seconds
    connection = _connect(until)
    if connection is None:
        return False
    data = b""
    with connection:
        try:
            data = _read_input(until)
            folder = os.getcwd()  # noqa: PTH109 - a text is wanted
            head = {**parsed, "folder": folder, "variables": {**os.environ}, "size": len(data)}
            connection.settimeout(max(0.01, until - time.monotonic()))
            connection.sendall(json.dumps(head).encode() + b"\n" + data)
            answer = _read_answer(connection)
        except TimeoutError:
            _write(NOTHING, _TOO_LATE.format(seconds))
            return True
        except (OSError, ValueError):
            answer = None
    if answer is None:
        # What was read is read again by whoever answers now.
        sys.stdin = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
        return False
    _write(*answer)
    return True


def start_server() -> None:
    """Start the process for the next hooks, unless there is one; this process need not wait."""
    if os.environ.get(SWITCH) == "0" or not runtime.can_lock() or not hasattr(os, "fork"):
        return
    place = meeting_place()
    if place is None or runtime.Lock(place.with_suffix(LOCK)).holder():
        return
    if os.fork():
        return
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):  # whoever runs the hook waits until these are closed
            os.dup2(quiet, descriptor)
        runtime.start(SERVER, [], place.parent)
    finally:
        os._exit(0)


def _parse(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Read the arguments of a hook; None: they are for somebody who can explain what is wrong."""
    values: dict[str, Any] = {"client": "claude-code", "timeout": TIMEOUT, "event": ""}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if word in EVENTS and not values["event"]:
            values["event"] = word
        elif word in FLAGS:
            values[FLAGS[word]] = True
        elif name in VALUES:
            values[VALUES[name]] = value if equals else next(words, None)
        else:
            return None
    try:
        values["timeout"] = float(values["timeout"])
    except (TypeError, ValueError):
        return None
    in_range = 0 <= values["timeout"] <= MAX_TIMEOUT
    return values if values["event"] and in_range and None not in values.values() else None


def _connect(until: float) -> socket.socket | None:
    place = meeting_place()
    if place is None:
        return None
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(max(0.01, until - time.monotonic()))
        connection.connect(str(place))
        if is_same_user(connection):
            return connection
    except OSError:
        pass
    connection.close()
    return None


def _read_input(until: float) -> bytes:
    blocks = []
    size = 0
    while size <= MAX_INPUT_BYTES:
        if not select.select([0], [], [], max(0.0, until - time.monotonic()))[0]:
            raise TimeoutError
        block = os.read(0, _BLOCK)
        if not block:
            break
        blocks.append(block)
        size += len(block)
    return b"".join(blocks)


def _read_answer(connection: socket.socket) -> tuple[str, str] | None:
    data = b""
    while not data.endswith(b"\n") and len(data) <= MAX_ANSWER_BYTES:
        block = connection.recv(_BLOCK)
        if not block:
            return None
        data += block
    answer, note = json.loads(data)
    return (answer, note) if isinstance(answer, str) and isinstance(note, str) else None


def _write(answer: str, note: str) -> None:
    sys.stdout.write(answer + "\n")
    sys.stdout.flush()
    if note:
        sys.stderr.write(note + "\n")
        sys.stderr.flush()
