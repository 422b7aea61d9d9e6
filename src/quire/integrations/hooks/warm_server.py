"""The process that hooks ask: `python -m quire.integrations.hooks.warm_server`.

It loads Quire once and answers each hook by a copy of itself, which opens the store, answers and
ends. So it keeps nothing of a project, and a hook that stalls or dies harms no other. It ends after
some minutes without a hook, when Quire's own files change, or when its socket is gone; there is one
for each installation of Quire.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from quire.integrations.hooks import warm
from quire.system import runtime

IDLE_SECONDS = 600.0
"""Without a hook for so long, it ends."""
MAX_COPIES = 16
"""Hooks that are answered at the same time; more answer by themselves."""
MAX_HEAD_BYTES = 1 << 20
GRACE = 1.0
"""Seconds after the deadline of a hook in which its copy is ended by the system."""
LOADED = (
    "quire.engine",
    "quire.integrations.hooks.command",
    "quire.integrations.hooks.pages",
    "quire.pipeline.recipe",
    "quire.core.graphemes",
    "quire.core.serialize",
    "importlib.readers",
    # What others import late: here it is loaded once, and not by every copy.
    "importlib.metadata",
    "quire.ingest.json",
    "quire.ingest.code",
    "quire.ingest.grammar.reader",
    "quire.ingest.secrets",
    "quire.rules.yaml_nodes",
    "quire.workspace.importers.discover",
)


def main() -> None:
    """Answer hooks until none comes."""
    runtime.detach()
    place = warm.meeting_place()
    if place is None:
        return
    lock = runtime.Lock(place.with_suffix(warm.LOCK))
    if not lock.acquire():
        return
    for module in LOADED:
        import_module(module)
    sources = _source_states()
    gc.collect()
    gc.freeze()
    os.umask(0o077)
    place.unlink(missing_ok=True)  # of a process that was killed
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen(MAX_COPIES)
        own = place.lstat().st_ino
        try:
            _serve(listener, place, own, sources)
        finally:
            with suppress(OSError):
                if place.lstat().st_ino == own:
                    place.unlink()
    lock.release()


def _serve(
    listener: socket.socket, place: Path, own: int, sources: dict[str, tuple[int, int]]
) -> None:
    copies: set[int] = set()
    while select.select([listener], [], [], IDLE_SECONDS)[0]:
        connection, _ = listener.accept()
        with connection:
            _collect(copies)
            try:
                is_there = place.lstat().st_ino == own
            except OSError:
                is_there = False
            if not is_there or _source_states() != sources:
                return  # the hook answers by itself, and starts another process
            if len(copies) >= MAX_COPIES or not warm.is_same_user(connection):
                continue
            copy = os.fork()
            if copy == 0:
                listener.close()
                _answer(connection)
            copies.add(copy)


def _collect(copies: set[int]) -> None:
    """Forget the copies that have ended."""
    for copy in list(copies):
        if os.waitpid(copy, os.WNOHANG)[0]:
            copies.discard(copy)


def _source_states() -> dict[str, tuple[int, int]]:
    """Return the times and sizes of the files of Quire that are loaded."""
    states = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] == "quire" and file:
            try:
                status = os.stat(file)  # noqa: PTH116 - as cheap as it gets, per file
            except OSError:
                states[file] = (0, 0)
            else:
                states[file] = (status.st_mtime_ns, status.st_size)
    return states


def _answer(connection: socket.socket) -> NoReturn:
    """Answer one hook, and end."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, warm.TIMEOUT + GRACE)
        head, data = _receive(connection)
        signal.setitimer(signal.ITIMER_REAL, head["timeout"] + GRACE)
        os.environ.clear()
        os.environ.update(head.pop("variables"))
        time.tzset()
        os.chdir(head.pop("folder"))
        from quire.integrations.hooks.command import answer_event

        event, client = head.pop("event"), head.pop("client")
        for name in ("timeout", "size"):
            head.pop(name)
        answer, note = answer_event(event, client, head, lambda: data)
        connection.sendall(json.dumps([answer, note]).encode() + b"\n")
    finally:
        os._exit(0)


def _receive(connection: socket.socket) -> tuple[dict[str, Any], bytes]:
    connection.settimeout(None)
    with connection.makefile("rb") as stream:
        head: dict[str, Any] = json.loads(stream.readline(MAX_HEAD_BYTES))
        return head, stream.read(min(head["size"], warm.MAX_INPUT_BYTES + 1))


if __name__ == "__main__":
    main()
