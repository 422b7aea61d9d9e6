"""The operating system: what differs between POSIX and Windows, gathered in one place.

Each function uses what the system offers and else the nearest portable form. No other module
asks for a flag, a signal or a call that some systems lack.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

_BINARY = getattr(os, "O_BINARY", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_EFFECTIVE_IDS = os.access in os.supports_effective_ids
_HAS_OWNERS = hasattr(os, "geteuid")
_SUPERUSER = 0
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT
OWNER_ONLY = 0o600
FOLDER_OWNER_ONLY = 0o700
SHARED = 0o644
"""Of a file that others may read: whatever the umask, only its owner may write it."""


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


def is_writable(path: Path) -> bool:
    """Return whether this process may write a file, and others beside it."""
    return all(
        os.access(place, os.W_OK, effective_ids=_EFFECTIVE_IDS) for place in (path, path.parent)
    )


def read_regular(path: Path, limit: int | None = None) -> tuple[bytes, os.stat_result]:
    """Read a regular file, and its status at that moment; never wait for a pipe or a device.

    A file of more bytes than the limit is refused.
    """
    handle = os.open(path, os.O_RDONLY | _BINARY | _NO_WAIT)
    with open(handle, "rb") as file:  # noqa: PTH123 - by its descriptor
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if limit is not None and status.st_size > limit:
            raise OSError(errno.EFBIG, f"larger than {limit} bytes", str(path))
        return file.read(), status


# --- owners and permissions ----------------------------------------------------------------------


def is_foreign(status: os.stat_result) -> bool:
    """Return whether a file belongs to another user, who is not the superuser either.

    On systems without owners every file is one's own.
    """
    return _HAS_OWNERS and status.st_uid not in {os.geteuid(), _SUPERUSER}


def is_writable_by_others(status: os.stat_result) -> bool:
    """Return whether users other than the owner may write a file.

    A group that has the name of the owner and no other member counts as the owner: many systems
    give each user such a group, and let it write.
    """
    if not _HAS_OWNERS:
        return False
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_private_group(status)


def is_open_to_others(status: os.stat_result) -> bool:
    """Return whether users other than the owner may read or write a file at all."""
    return _HAS_OWNERS and bool(status.st_mode & _OTHERS)


def _is_private_group(status: os.stat_result) -> bool:
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(status.st_uid).pw_name, grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}


def owner_name(owner: int) -> str:
    """Return the name of a user by number, or the number."""
    with contextlib.suppress(ImportError, KeyError):
        import pwd

        return pwd.getpwuid(owner).pw_name
    return f"number {owner}"


def restrict(path: Path) -> bool:
    """Take all permissions on one's own file or folder from others; return whether any were."""
    if not _HAS_OWNERS:
        return False
    try:
        status = path.stat()
        if status.st_uid != os.geteuid() or not status.st_mode & _OTHERS:
            return False
        path.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)
    except OSError:  # it does not exist, or its file system has no permissions
        return False
    return True


def make_private_folder(folder: Path) -> None:
    """Create a folder, if need be, that only its owner can enter; parents are as usual."""
    folder.mkdir(mode=FOLDER_OWNER_ONLY, parents=True, exist_ok=True)


def create_private(path: Path) -> None:
    """Create an empty file that only its owner can read, unless it exists."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | _BINARY, OWNER_ONLY))


def create_new(path: Path, data: bytes, mode: int = OWNER_ONLY) -> None:
    """Write a file that must not exist; a link in its place is not followed."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY, mode)
    with open(handle, "wb") as file:  # noqa: PTH123 - by its descriptor
        file.write(data)


def replace_file(path: Path, data: bytes, mode: int = OWNER_ONLY) -> None:
    """Write a file whole or not at all; an old one keeps its mode, a new one gets at most this."""
    temporary = path.with_name(f".{path.name}.quire-new")
    temporary.unlink(missing_ok=True)  # of a process that was killed
    try:
        create_new(temporary, data, mode)
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def write_private(path: Path, data: bytes, mode: int = OWNER_ONLY) -> None:
    """Write a file; a new one gets at most this mode, an old one keeps its own."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, mode)
    with open(handle, "wb") as file:  # noqa: PTH123 - by its descriptor
        file.write(data)


def append(path: Path, data: bytes, *, start: bytes = b"") -> None:
    """Append to a file in one write; a new file is readable by its owner only.

    POSIX keeps the appends of several processes whole. Windows promises that for no file.

    Args:
        path: The file.
        data: What to append.
        start: How a file that is not empty must begin; any other is left alone.
    """
    handle = os.open(path, APPEND | _BINARY | _NO_WAIT, OWNER_ONLY)
    append_to(handle, data, start, str(path))


def append_to(handle: int, data: bytes, start: bytes, name: str) -> None:
    """Append to a descriptor opened with `APPEND` in one write, and close it."""
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", name)
        if os.read(handle, len(start)) not in {b"", start}:
            raise OSError(errno.EINVAL, "a file that holds something else", name)
        if os.write(handle, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
    finally:
        os.close(handle)


def rename_large(path: Path, old: str, limit: int, folder: int | None = None) -> bool:
    """Rename a file of at least so many bytes, in the place of an older one; tell whether.

    Of several processes that append to it, only one renames it: each holds the file itself and
    looks whether the name still stands for it. What another one appends meanwhile is not lost.

    Args:
        path: The file.
        old: Its new name in the same folder.
        limit: The number of bytes.
        folder: The open folder; None: it is found by the path.
    """
    name: str | Path = path if folder is None else path.name
    handle = os.open(name, os.O_RDWR | _BINARY | _NO_FOLLOW | _NO_WAIT, dir_fd=folder)
    try:
        if os.fstat(handle).st_size < limit:
            return False
        if os.name == "posix":
            fcntl = import_module("fcntl")
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.stat(name, dir_fd=folder).st_ino != os.fstat(handle).st_ino:
                return False
        target = path.with_name(old) if folder is None else old
        os.replace(name, target, src_dir_fd=folder, dst_dir_fd=folder)
        return True
    finally:
        os.close(handle)


def is_reader_gone(descriptor: int) -> bool:
    """Return whether nobody reads a pipe any more; without `poll` only the next write tells."""
    if not hasattr(select, "poll"):
        return False
    polled = select.poll()
    polled.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in polled.poll(0))


def find_program(name: str) -> str | None:
    """Return the path of a program; None: there is none.

    Only absolute folders of PATH are looked into: another one may be a project that somebody else
    wrote, and Windows would look into the current folder first.
    """
    endings = [""]
    if os.name == "nt":
        known = os.environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(os.pathsep)
        endings = [""] if os.path.splitext(name)[1].upper() in known else known  # noqa: PTH122
    for folder in filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep)):
        for ending in endings:
            place = Path(folder, name + ending)
            if os.path.isfile(place) and os.access(place, os.X_OK):  # noqa: PTH113 - never raises
                return str(place)
    return None


def is_running(pid: int) -> bool:
    """Return whether a process of this machine runs; where the system cannot tell, it is.

    A process that ended and was not waited for keeps its number, and runs no more.
    """
    if not _HAS_OWNERS:  # there, signal 0 is no question
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:  # no such folder, or it ended meanwhile
        return True
    return state[:1] not in ([b"Z"], [b"X"])


def forward_signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a process; where the system knows no such signal, terminate it."""
    try:
        process.send_signal(number)
    except ValueError:
        process.send_signal(signal.SIGTERM)


def user_config_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of a user's settings: XDG's, `~/.config`, or `%APPDATA%` on Windows."""
    return _user_folder(environment, "XDG_CONFIG_HOME", ".config", "APPDATA")


def user_cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of what a user can do without: XDG's, `~/.cache`, or `%LOCALAPPDATA%`."""
    return _user_folder(environment, "XDG_CACHE_HOME", ".cache", "LOCALAPPDATA")


def user_state_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of what programs keep: XDG's, `~/.local/state`, or `%LOCALAPPDATA%`."""
    return _user_folder(environment, "XDG_STATE_HOME", ".local/state", "LOCALAPPDATA")


def _user_folder(
    environment: Mapping[str, str], variable: str, below_home: str, on_windows: str
) -> Path | None:
    """Return a folder of the user; a relative one is none: it would be in the current project."""
    for name, below in ((variable, ""), ("HOME", below_home), (on_windows, "")):
        place = Path(environment.get(name, ""))
        if place.is_absolute():
            return place / below
    return None


def limit_memory(size: int) -> None:
    """Let this process have at most so many bytes, and write no core file, where that is possible.

    What asks for more is refused or ends the process. Windows has no such limit, and macOS does not
    keep it: there `peak_memory` has to be watched.
    """
    resource = _resource()
    if resource is None:
        return
    for name, value in (("RLIMIT_AS", size), ("RLIMIT_CORE", 0)):
        kind = getattr(resource, name, None)
        if kind is not None:
            _, hard = resource.getrlimit(kind)
            limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
            with suppress(ValueError, OSError):
                resource.setrlimit(kind, (limit, hard))


def peak_memory() -> int:
    """Return the most bytes that this process has had in memory; 0 where that is not known."""
    resource = _resource()
    if resource is None:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def _resource() -> Any:
    """Return the module of limits and usage; None on Windows."""
    try:
        return import_module("resource")
    except ImportError:
        return None


ARENAS = 2
"""How many arenas the threads of a service share. Nearly all that they allocate is allocated by one
thread at a time, the one that runs Python."""
M_ARENA_MAX = -8
"""What glibc calls their number (malloc.h)."""


def return_free_memory() -> bool:
    """Give memory that was freed back to the system; return whether the allocator can be told to.

    The allocator of glibc keeps what lies between other blocks, in an arena for each thread: of a
    process that answers requests of all sizes for hours, that is as much as it uses.
    """
    trim = _allocator("malloc_trim")
    if trim is None:
        return False
    trim(0)
    return True


def share_arenas(environment: Mapping[str, str]) -> bool:
    """Let all threads allocate from a few arenas; return whether the allocator can be told to.

    To be called before threads begin. glibc gives each thread one, up to eight for each core, and
    what is free in one is of no use to another thread. Whoever set their number keeps it.
    """
    limit = _allocator("mallopt")
    if limit is None or "MALLOC_ARENA_MAX" in environment:
        return False
    return bool(limit(M_ARENA_MAX, ARENAS))


@cache
def _allocator(name: str) -> Any:
    """Return a function of glibc's allocator; None with another one."""
    import ctypes  # late: only services ask for it

    try:
        library = ctypes.CDLL(None)
        library.malloc_trim  # noqa: B018 - others have a `mallopt` that takes other numbers
        return library[name]
    except (OSError, TypeError, AttributeError):  # another system, another C library
        return None
