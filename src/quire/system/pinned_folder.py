"""A folder inside a project that no symbolic link leads out of.

A project is somebody else's as soon as it was cloned, and may hold a link in the place of any
folder. What Quire writes into a project on its own goes through here: each step from the root to
the folder is opened without following links, and files are opened relative to the open folder.
Systems that cannot do that look for links first; one that is put in place between the check and
the opening is followed there.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from quire.system import platform

_BINARY = getattr(os, "O_BINARY", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_PINNED = bool(_NO_FOLLOW) and {os.open, os.mkdir, os.stat, os.unlink} <= os.supports_dir_fd


class PinnedFolder:
    """An open folder; files in it are named without a path, and links are refused."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def create(self, name: str) -> bool:
        """Create an empty file; return False if there is one already."""
        try:
            os.close(self._open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def append(self, name: str, data: bytes, *, start: bytes = b"") -> None:
        """Append to a file that has no other name; see `platform.append`."""
        handle = self._open(name, platform.APPEND)
        if os.fstat(handle).st_nlink > 1:
            os.close(handle)
            raise OSError(errno.EMLINK, "a file with another name", str(self.path / name))
        platform.append_to(handle, data, start, str(self.path / name))

    def rename_large(self, name: str, old: str, limit: int) -> bool:
        """Rename a file of at least so many bytes; see `platform.rename_large`."""
        if self._descriptor is None:
            _refuse_link(self.path / name)
        return platform.rename_large(self.path / name, old, limit, self._descriptor)

    def head(self, name: str, size: int) -> bytes | None:
        """Return the first bytes of a regular file; None if there is no such file."""
        try:
            handle = self._open(name, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            return os.read(handle, size) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
        finally:
            os.close(handle)

    def dated(self) -> list[tuple[int, str]]:
        """List the regular files, each after the time of its last change."""
        entries = []
        folder = self.path if self._descriptor is None else self._descriptor
        for name in os.listdir(folder):  # noqa: PTH208 - by its descriptor
            with suppress(FileNotFoundError):  # another process may be faster
                status = self._status(name)
                if stat.S_ISREG(status.st_mode):
                    entries.append((status.st_mtime_ns, name))
        return entries

    def remove(self, name: str) -> None:
        """Delete a file, if it exists."""
        with suppress(FileNotFoundError):
            if self._descriptor is None:
                (self.path / name).unlink()
            else:
                os.unlink(name, dir_fd=self._descriptor)

    def _open(self, name: str, flags: int) -> int:
        flags |= _BINARY | _NO_FOLLOW | _NO_WAIT
        if self._descriptor is not None:
            return os.open(name, flags, platform.OWNER_ONLY, dir_fd=self._descriptor)
        _refuse_link(self.path / name)
        return os.open(self.path / name, flags, platform.OWNER_ONLY)

    def _status(self, name: str) -> os.stat_result:
        if self._descriptor is None:
            return (self.path / name).lstat()
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)


@contextmanager
def pinned(root: Path, parts: Sequence[str]) -> Iterator[PinnedFolder]:
    """Open a folder below a root, and create it if need be; raise `OSError` at a link on the way.

    The root itself may be reached by links.
    """
    assert ".." not in parts, "a resolved path"
    path = root.joinpath(*parts)
    if not _PINNED:
        for depth in range(1, len(parts) + 1):
            _refuse_link(root.joinpath(*parts[:depth]))
        platform.make_private_folder(path)
        yield PinnedFolder(path, None)
        return
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for depth, part in enumerate(parts, start=1):
            inner = _step(descriptor, part, root.joinpath(*parts[:depth]))
            os.close(descriptor)
            descriptor = inner
        yield PinnedFolder(path, descriptor)
    finally:
        os.close(descriptor)


def _step(descriptor: int, name: str, path: Path) -> int:
    with suppress(FileExistsError):
        os.mkdir(name, platform.FOLDER_OWNER_ONLY, dir_fd=descriptor)
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW, dir_fd=descriptor)
    except OSError:
        _refuse_link(path)  # "not a directory" would be true and of no help
        raise


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise OSError(errno.ELOOP, "a symbolic link", str(path))
