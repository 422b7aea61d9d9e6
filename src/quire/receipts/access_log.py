"""The access log: which texts were handed out, when, and to whom.

If `[audit] file` names a file, everything that leaves the engine with text of the store adds one
line to it: when, who asked, and the chunks or the records; for a context also its receipt. What
cannot be recorded is not handed out. The log is not part of the store's state.

At half of `[audit] max_bytes` the log is renamed to `NAME.old`, in the place of the one before, and
a new one begins: so both together keep the limit, and hold at least the newest half of it.

A log inside the project is written without following symbolic links, and a file that is not a log
is never appended to: the setting may be that of a project somebody else wrote.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quire.core.types import ALL, Context, Viewer
from quire.errors import InputError, StoreError
from quire.system import platform
from quire.system.pinned_folder import PinnedFolder, pinned

OWNER = "(owner)"
_START = b'{"at":'
"""How each line begins."""
_FIELDS = {"at": int, "viewer": str, "what": str, "pieces": list, "records": list}
"""What each line has that is shown."""
_CONTEXT_FIELDS = {"recipe": str, "receipt": str}
"""What the line of a context has besides."""
OLD = ".old"
"""The ending of the name of the older log."""
CONTEXT = "context"
"""What was handed out, if it was a context; lines of earlier versions are all of contexts."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """Where a log is."""

    root: Path
    """The project."""
    name: str
    """The path relative to the project, or absolute."""
    outside: bool = False
    """Whether the log may lie outside the project."""
    max_bytes: int = ALL
    """How large it may become together with the older one."""

    @property
    def old(self) -> str:
        """The name of the older log, in the same folder."""
        return f"{self.path.name}{OLD}"

    @property
    def path(self) -> Path:
        """The path as it is named in the settings."""
        return self.root / self.name

    def inside(self) -> tuple[Path, Path] | None:
        """Return the project and the log's path in it, all links resolved; None: it is outside."""
        root, real = Path(os.path.realpath(self.root)), Path(os.path.realpath(self.path))
        if real.is_relative_to(root):
            return root, real.relative_to(root)
        if not self.outside:
            raise OSError(f"it leads to {real}, outside the project")
        return None


def write_context(log: LogFile, context: Context, viewer: Viewer, recipe: str, at: int) -> None:
    """Add a line for a context that a viewer received; `at` is the time, in seconds since 1970."""
    _write(
        log,
        viewer,
        CONTEXT,
        at,
        {
            "recipe": recipe,
            "receipt": context.receipt["hash"],
            "view_root": context.receipt["view_root"],
            "tokens": context.tokens,
            "pieces": [source.chunk_id for source in context.sources],
            "records": sorted({source.record_id for source in context.sources}),
        },
    )


def write_disclosure(
    log: LogFile,
    viewer: Viewer,
    what: str,
    at: int,
    *,
    pieces: Iterable[str] = (),
    records: Iterable[str] = (),
) -> None:
    """Add a line for chunks, or whole records, that a viewer received outside a context."""
    _write(log, viewer, what, at, {"pieces": [*pieces], "records": sorted(records)})


def _write(log: LogFile, viewer: Viewer, what: str, at: int, fields: Mapping[str, Any]) -> None:
    name = OWNER if viewer.owner else viewer.name
    line = {"at": at, "viewer": name, "what": what, **fields}
    data = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    assert data.startswith(_START)
    try:
        _append(log, data)  # in one write: lines of several processes stay whole
    except (OSError, ValueError) as error:
        shown = "the context is" if what == CONTEXT else f"the answer ({what}) is"
        raise StoreError(
            f"{shown} withheld, because the audit log cannot be written ({error})",
            place=str(log.path),
            hint="make room, or change [audit] file",
        ) from error


def _append(log: LogFile, data: bytes) -> None:
    place = log.inside()
    if place is None:
        platform.make_private_folder(log.path.parent)
        _begin_anew(log, PinnedFolder(log.path.parent, None), log.path.name)
        platform.append(log.path, data, start=_START)
        return
    root, path = place
    with pinned(root, path.parent.parts) as folder:
        _begin_anew(log, folder, path.name)
        folder.append(path.name, data, start=_START)


def _begin_anew(log: LogFile, folder: PinnedFolder, name: str) -> None:
    """Rename a log that has half of its size; a file that is not a log is never replaced."""
    if log.max_bytes == ALL:
        return
    with suppress(OSError):  # then the log goes on: what is handed out must be recorded
        old = f"{name}{OLD}"
        if folder.head(name, len(_START)) == _START and folder.head(old, len(_START)) in {
            None,
            _START,
        }:
            folder.rename_large(name, old, max(1, log.max_bytes // 2))


def read(log: LogFile, viewer: str | None = None) -> Iterator[Mapping[str, Any]]:
    """Yield the lines, oldest first: those of one viewer, or all."""
    for path in (log.path.with_name(log.old), log.path):
        try:
            log.inside()
            data, _ = platform.read_regular(path)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise StoreError(f"cannot be read: {error}", place=str(path)) from error
        if path != log.path and not data.startswith(_START):
            continue  # it has the name of an older log, but is not one
        for number, line in enumerate(data.splitlines(), start=1):
            entry = _parse(line, f"{path}, line {number}")
            if viewer is None or entry["viewer"] == viewer:
                yield entry


def count_bytes(log: LogFile) -> int:
    """Return the size of a log together with the older one."""
    size = 0
    for path in (log.path, log.path.with_name(log.old)):
        with suppress(OSError):
            size += path.stat().st_size
    return size


def _parse(line: bytes, place: str) -> Mapping[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not an entry: {error}", place=place) from error
    if not isinstance(entry, dict):
        raise InputError("not an entry", place=place)
    entry = {"what": CONTEXT, "records": [], **entry}
    fields = _FIELDS | (_CONTEXT_FIELDS if entry["what"] == CONTEXT else {})
    if not all(isinstance(entry.get(name), kind) for name, kind in fields.items()):
        raise InputError("not an entry", place=place)
    return entry
