"""The operating system: what differs between POSIX and Windows, gathered in one place.

Each function uses what the system offers and else the nearest portable form. No other module
asks for a flag, a signal or a call that some systems lack.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

_BINARY = getattr(os, "O_BINARY", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_EFFECTIVE_IDS = os.access in os.supports_effective_ids
_OWNER_ONLY = 0o600


def open_without_following(path: str) -> int:
    """Open a file for reading; refuse a symbolic link, and do not wait for a pipe.

    Without `O_NOFOLLOW` the link is looked for first: one that is put in place between the check
    and the opening is followed.
    """
    if not _NO_FOLLOW and os.path.islink(path):  # noqa: PTH114 - as cheap as it gets, per file
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return os.open(path, os.O_RDONLY | _BINARY | _NO_FOLLOW | _NO_WAIT)


def is_readable(path: str) -> bool:
    """Return whether this process may read a file, by its effective user where there is one."""
    return os.access(path, os.R_OK, effective_ids=_EFFECTIVE_IDS)


def append(path: Path, data: bytes) -> None:
    """Append to a file in one write; a new file is readable by its owner only.

    POSIX keeps the appends of several processes whole. Windows promises that for no file.
    """
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _BINARY, _OWNER_ONLY)
    try:
        if os.write(handle, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    finally:
        os.close(handle)


def is_reader_gone(descriptor: int) -> bool:
    """Return whether nobody reads a pipe any more; without `poll` only the next write tells."""
    if not hasattr(select, "poll"):
        return False
    polled = select.poll()
    polled.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in polled.poll(0))


def forward_signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a process; where the system knows no such signal, terminate it."""
    try:
        process.send_signal(number)
    except ValueError:
        process.send_signal(signal.SIGTERM)


def user_config_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of a user's settings: XDG's, `~/.config`, or `%APPDATA%` on Windows."""
    if environment.get("XDG_CONFIG_HOME"):
        return Path(environment["XDG_CONFIG_HOME"])
    if environment.get("HOME"):
        return Path(environment["HOME"], ".config")
    return Path(environment["APPDATA"]) if environment.get("APPDATA") else None
