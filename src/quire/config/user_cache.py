"""Files that a user keeps between processes and can do without: the user's cache folder.

Each store has a folder there, readable by the user alone, with files of JSON lines to which any
number of processes append. Whatever cannot be read or written is passed over: nothing depends on
these files but how fast an answer is, and what `quire status` can tell of that.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from quire.core import hashing
from quire.system import platform

FOLDER = "stores"
NAME_FILE = "store"
"""The file that names the store that a folder belongs to."""
START = b'{"'
"""How each line begins."""


def folder_of(store: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the folder of a store; None: the user has no cache folder."""
    above = platform.user_cache_folder(environment)
    if above is None:
        return None
    return above / "quire" / FOLDER / hashing.identifier("store", str(store.absolute()))


class CacheFile:
    """A file of JSON lines in the cache folder of a store."""

    def __init__(self, folder: Path | None, store: Path, name: str, max_bytes: int) -> None:
        self._folder = folder
        self._store = store
        self._name = name
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._place: tuple[int, int] | None = None
        self._offset = 0

    def read_new(self) -> list[dict[str, Any]]:
        """Return the lines that were added since the last call, or all if the file is another."""
        with self._lock, suppress(OSError):
            return self._read()
        return []

    def append(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add lines; of a file that has become too large, the newer half is kept."""
        data = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
        if self._folder is None or not data:
            return
        path = self._folder / self._name
        with self._lock, suppress(OSError):
            self._prepare(self._folder)
            platform.append(path, data, start=START)
            if path.stat().st_size > self._max_bytes:
                content, _ = platform.read_regular(path)
                half = content[-(self._max_bytes // 2) :]
                platform.replace_file(path, half[half.find(b"\n") + 1 :])

    def replace(self, line: Mapping[str, Any]) -> None:
        """Put one line in the place of all; what another process adds just now is lost."""
        if self._folder is None:
            return
        with self._lock, suppress(OSError):
            data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
            platform.replace_file(self._folder / self._name, data)

    def count_bytes(self) -> int:
        """Return the size of the file, 0 if there is none."""
        if self._folder is None:
            return 0
        try:
            return (self._folder / self._name).stat().st_size
        except OSError:
            return 0

    def clear(self) -> None:
        """Delete the file."""
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / self._name).unlink(missing_ok=True)

    def _read(self) -> list[dict[str, Any]]:
        if self._folder is None:
            return []
        path = self._folder / self._name
        found = path.stat()
        place = (found.st_dev, found.st_ino)
        if place == self._place and found.st_size == self._offset:
            return []
        content, status = platform.read_regular(path, 2 * self._max_bytes)
        if platform.is_foreign(status) or platform.is_open_to_others(status):
            return []
        if place != self._place or len(content) < self._offset:
            self._place, self._offset = place, 0
        new = content[self._offset : content.rfind(b"\n") + 1]
        self._offset += len(new)
        return [line for line in map(_parse, new.splitlines()) if line is not None]

    def _prepare(self, folder: Path) -> None:
        """Create the folder of the store, and delete those of stores that are gone."""
        if folder.is_dir():
            return
        platform.make_private_folder(folder)
        platform.create_new(folder / NAME_FILE, str(self._store.absolute()).encode())
        for other in folder.parent.iterdir():
            named = other / NAME_FILE
            if other != folder and named.is_file() and not Path(named.read_text()).exists():
                shutil.rmtree(other, ignore_errors=True)


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line; None: a process was killed while it wrote it."""
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
