"""Processes that run in the background: where they meet, one at a time, and how they are started.

Locks, sockets and logs of such processes lie in a folder that only the user can enter: a folder of
the session (`XDG_RUNTIME_DIR`), else one in the user's cache. A project never chooses it. A lock is
held by the system for a process and is free as soon as that process ends, however it ends.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from quire.system import platform

FOLDER = "quire"
BELOW_CACHE = "run"
MAX_SOCKET_PATH = 100
"""Bytes of a socket's path; systems allow a few more."""
START_SECONDS = 20
"""How long an interpreter may take to start."""
_MAX_PID_DIGITS = 10


def folder(environment: Mapping[str, str]) -> Path | None:
    """Return the user's folder for running processes, made if need be; None: there is no safe one.

    It is one's own, entered by oneself alone, and no link.
    """
    session = environment.get("XDG_RUNTIME_DIR", "")
    cache = platform.user_cache_folder(environment)
    places = [Path(session, FOLDER)] if session else []
    places += [cache / "quire" / BELOW_CACHE] if cache is not None else []
    return next((place for place in places if place.is_absolute() and _prepare(place)), None)


def _prepare(place: Path) -> bool:
    try:
        above = place.parent
        if above.exists() and platform.is_foreign(above.stat()):
            return False
        platform.make_private_folder(place)
        platform.restrict(place)
        status = place.lstat()
    except OSError:
        return False
    is_own = not platform.is_foreign(status) and not platform.is_open_to_others(status)
    return stat.S_ISDIR(status.st_mode) and is_own


def can_lock() -> bool:
    """Tell whether this system has locks that end with their process."""
    return _fcntl() is not None


class Lock:
    """A lock that one process has at a time; its file names that process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def acquire(self, *, wait: bool = False) -> bool:
        """Take the lock; return whether this process has it."""
        fcntl = _fcntl()
        if fcntl is None:
            return False
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, platform.OWNER_ONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            os.close(handle)
            return False
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
        self._handle = handle
        return True

    def release(self) -> None:
        """Give the lock back."""
        if self._handle is not None:
            with suppress(OSError):
                os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None

    def holder(self) -> int | None:
        """Return the process that has the lock; None: nobody has it."""
        fcntl = _fcntl()
        if fcntl is None:
            return None
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            content = os.read(handle, _MAX_PID_DIGITS + 1)
            is_pid = content.isdigit() and len(content) <= _MAX_PID_DIGITS
            return int(content) if is_pid else None
        else:
            return None
        finally:
            os.close(handle)

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Try to take the lock for a block; it gets whether that worked."""
        try:
            yield self.acquire()
        finally:
            self.release()


def start(module: str, arguments: Sequence[str], place: Path, output: int | None = None) -> None:
    """Start a module of Quire as a process that outlives this one.

    The module must call `detach` first. It runs in the given folder, which is the user's own, so
    that nothing in a project can take the place of a module. It has no terminal and no input; its
    output goes to a descriptor, or nowhere.
    """
    import subprocess  # nosec B404  # late: a hook that has nothing to start does not need it

    target = subprocess.DEVNULL if output is None else output
    subprocess.run(  # nosec B603  # noqa: S603 - this Python, and a module of ours
        [sys.executable, "-P", "-m", module, *arguments],
        cwd=place,
        stdin=subprocess.DEVNULL,
        stdout=target,
        stderr=target,
        start_new_session=True,
        check=False,
        timeout=START_SECONDS,
    )


def detach() -> None:
    """Go on in a child process, so that whoever started this one need not wait for its end."""
    if os.fork():
        os._exit(0)


def _fcntl() -> Any:
    try:
        return import_module("fcntl")
    except ImportError:  # on Windows
        return None
