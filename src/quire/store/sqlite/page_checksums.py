"""Page checksums: bytes of the file that changed by themselves are noticed when they are read.

SQLite trusts its file. A bit that flips on the disk would be given out as text, or change which
rows a search finds. So each page of the database ends in a checksum of its content and its number,
in bytes that SQLite sets aside for this purpose. It is written with the page and checked whenever
the page is read into SQLite's cache. The log beside the file has checksums of its own.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import apsw
from blake3 import blake3

RESERVED = 8
"""Bytes at the end of each page."""
FIRST_FORMAT = 4
"""The first format of a store (`user_version`) with checksums."""
_HEADER = 100
_MIN_PAGE = 512


def checksum(page: bytes, number: int) -> bytes:
    """Return the checksum of a page, of its content and its number: no two can be swapped."""
    return blake3(page[:-RESERVED] + number.to_bytes(8, "big")).digest(RESERVED)


def has_checksums(header: bytes) -> bool:
    """Return whether the pages of a file with these first bytes end in checksums.

    Two fields say so: if one of them is damaged, the other still does.
    """
    return _reserved(header) or int.from_bytes(header[60:64], "big") >= FIRST_FORMAT


def damaged_pages(path: Path) -> list[int]:
    """Return the numbers of the pages whose checksum is wrong; the file must not be in use."""
    damaged = []
    with path.open("rb") as file:
        header = file.read(_HEADER)
        size = page_size(header)
        if not has_checksums(header) or not size:
            return []
        file.seek(0)
        number = 1
        while page := file.read(size):
            if len(page) < size or checksum(page, number) != page[-RESERVED:]:
                damaged.append(number)
            number += 1
    return damaged


def page_size(header: bytes) -> int:
    """Return the size of the pages of a file with these first bytes; 0 if it has none."""
    size = int.from_bytes(header[16:18], "big")
    return 65536 if size == 1 else size


class _File(apsw.VFSFile):
    """A database file whose pages are stamped when they are written, and checked when read."""

    def __init__(
        self, name: apsw.URIFilename | str | None, flags: list[int], *, check: bool
    ) -> None:
        super().__init__("", name, flags)
        self._check = check
        self._stamped = self._checked = False
        self._page_size = 0
        self._read = super().xRead
        self._learn(super().xRead(_HEADER, 0))

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's name
        """Read bytes; a whole page, or a part of one, is checked."""
        data = self._read(amount, offset)
        if self._checked and amount >= _MIN_PAGE:
            number = offset // amount + 1
            if amount != self._page_size or data[-RESERVED:] != checksum(data, number):
                self._refuse_damaged(data, amount, offset)
        return data

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Write bytes; a page gets its checksum. The first page is always written first."""
        size = len(data)
        if not offset or not self._stamped:
            self._learn(data if not offset else super().xRead(_HEADER, 0))
        if self._stamped and size == self._page_size:
            data = data[:-RESERVED] + checksum(data, offset // size + 1)
        super().xWrite(data, offset)

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        """Say that only whole pages are read, so that they can be checked."""
        return super().xDeviceCharacteristics() & ~_SUBPAGE_READ

    def _learn(self, header: bytes) -> None:
        if len(header) < _HEADER:
            return
        self._stamped = _reserved(header)
        self._checked = self._check and has_checksums(header)
        self._page_size = page_size(header)

    def _refuse_damaged(self, data: bytes, amount: int, offset: int) -> None:
        size = self._page_size
        if amount != size and amount & (amount - 1):
            # A part of a page: SQLite before 3.48 reads long values so.
            offset -= offset % size
            data, amount = super().xRead(size, offset), size
        number = offset // amount + 1
        if len(data) != amount or checksum(data, number) != data[-RESERVED:]:
            raise apsw.CorruptError(f"page {number} is not as it was written")


class _Files(apsw.VFS):
    """SQLite's access to files, with checksums in the pages of the database itself."""

    def __init__(self, name: str, *, check: bool) -> None:
        super().__init__(name, "", maxpathname=_MAX_PATH)
        self._check = check

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        """Follow links, so that the log lies beside the file itself, as SQLite has it."""
        return os.path.realpath(name)

    def xSleep(self, microseconds: int) -> int:  # noqa: N802
        """Wait for a lock so that other threads go on; apsw's own method stops them all."""
        time.sleep(microseconds / 1_000_000)
        return microseconds

    def xOpen(  # noqa: N802
        self, name: apsw.URIFilename | str | None, flags: list[int]
    ) -> apsw.VFSFile:
        """Open a file; only the database itself has pages."""
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            return _File(name, flags, check=self._check)
        return apsw.VFSFile("", name, flags)


_SUBPAGE_READ = 0x8000
"""`SQLITE_IOCAP_SUBPAGE_READ`: a part of a page may be read alone."""
_MAX_PATH = 4096

CHECKED = "quire"
"""The name to open a store with."""
UNCHECKED = "quire-unchecked"
"""The name to open a damaged store with, to take from it what is left."""
_REGISTERED = (_Files(CHECKED, check=True), _Files(UNCHECKED, check=False))
"""SQLite knows them as long as they exist."""


def _reserved(header: bytes) -> bool:
    return len(header) >= _HEADER and header[20] == RESERVED
