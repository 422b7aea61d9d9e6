"""Which files are there?"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from quire import platform
from quire.core import globs
from quire.core.types import FoundFile, IngestSettings, Skipped
from quire.errors import InputError
from quire.ingest import secrets

NEVER_ENTERED = frozenset({".git", ".hg", ".quire", ".svn"})
IGNORE_FILES = (".gitignore", ".quireignore")
DEFAULTS = IngestSettings()

Chain: TypeAlias = "tuple[tuple[int, globs.Rules], ...]"
"""Ignore rules, the ones with the last word first, each with the length of its folder's path."""


def walk(
    root: Path, under: Sequence[str] = ("",), settings: IngestSettings = DEFAULTS
) -> Iterator[FoundFile | Skipped]:
    """Find the files below a folder, in the order of their paths' bytes.

    `under` restricts the walk to these files and folders, given relative to the root; what
    does not exist or is ignored is not yielded. Names are kept as they stand on disk: two
    names that differ in their Unicode normalisation are two files.
    """
    if not root.is_dir():
        raise InputError(f"{root} is not a folder: name the folder whose files are to be read")
    return _walk(os.fspath(root), _scope(under), settings)


@dataclass(frozen=True, slots=True)
class _Scope:
    wanted: frozenset[str]
    above: frozenset[str]
    """The folders that lead to what is wanted."""


def _scope(under: Sequence[str]) -> _Scope:
    wanted = set()
    for path in under:
        normal = posixpath.normpath(path) if path else ""
        if normal.startswith(("/", "../")) or normal == "..":
            raise InputError(f"{path!r} leads out of the folder: give a path relative to it")
        wanted.add("" if normal == "." else normal)
    above = {""}
    for path in wanted:
        parent = posixpath.dirname(path)
        while parent:
            above.add(parent)
            parent = posixpath.dirname(parent)
    return _Scope(frozenset(wanted), frozenset(above))


@dataclass(frozen=True, slots=True)
class _Folder:
    path: str
    raw: bytes
    """The path as bytes with a slash behind it; empty for the root."""
    location: str
    inside: bool
    """All of it is wanted; else it only leads to what is."""
    chain: Chain


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    raw: bytes
    entry: os.DirEntry[str]
    folder: bool
    inside: bool


def _walk(root: str, scope: _Scope, settings: IngestSettings) -> Iterator[FoundFile | Skipped]:
    configured = globs.compile_rules(
        pattern.encode("utf-8", "surrogateescape") for pattern in settings.ignore
    )
    last_word: Chain = ((0, configured),) if configured else ()
    excluded, _ = _rules(f"{root}/.git/info/exclude")
    start = _Folder("", b"", root, "" in scope.wanted, ((0, excluded),) if excluded else ())
    # A stack of its own: a tree may be deeper than Python's.
    open_folders: list[Iterator[FoundFile | Skipped | _Folder]] = [
        _listing(start, scope, last_word, settings)
    ]
    while open_folders:
        found = next(open_folders[-1], None)
        if found is None:
            open_folders.pop()
        elif isinstance(found, _Folder):
            open_folders.append(_listing(found, scope, last_word, settings))
        else:
            yield found


def _listing(
    folder: _Folder, scope: _Scope, last_word: Chain, settings: IngestSettings
) -> Iterator[FoundFile | Skipped | _Folder]:
    try:
        with os.scandir(folder.location) as listed:
            entries = [entry for entry in listed if entry.name not in NEVER_ENTERED]
    except OSError as error:
        if not folder.path:
            raise InputError(f"{folder.location} cannot be read: {error.strerror}") from error
        yield Skipped(folder.path, f"folder cannot be read: {error.strerror}")
        return
    names = {entry.name for entry in entries}
    chain = folder.chain
    failed = {}
    for name in IGNORE_FILES:
        if name in names:
            rules, failure = _rules(f"{folder.location}/{name}")
            if failure:
                failed[name] = failure
            if rules:
                chain = ((len(folder.raw), rules), *chain)
    kept = _kept(folder, entries, scope, last_word + chain)
    for _, item in sorted(kept, key=lambda pair: (pair[0], pair[1].raw)):
        if item.entry.name in failed:
            reason = f"cannot be read, so its patterns do not apply: {failed[item.entry.name]}"
            yield Skipped(item.path, reason)
        else:
            yield _judge(item, chain, settings)


def _kept(
    folder: _Folder, entries: list[os.DirEntry[str]], scope: _Scope, chain: Chain
) -> Iterator[tuple[bytes, _Entry]]:
    """Leave out what is not asked for or ignored; give each entry with its place in the order."""
    for entry in entries:
        name = os.fsencode(entry.name)
        # Names are UTF-8 whatever the locale says; other bytes are spelled out (`\xff`).
        spelled = name.decode("utf-8", "backslashreplace")
        path = f"{folder.path}/{spelled}" if folder.path else spelled
        inside = folder.inside or path in scope.wanted
        if not inside and path not in scope.above:
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        raw = folder.raw + name
        if _ignored(chain, name, raw, folder=is_folder):
            continue
        if not inside and not is_folder:
            continue
        order = spelled.encode() + (b"/" if is_folder else b"")
        yield order, _Entry(path, raw, entry, is_folder, inside)


def _ignored(chain: Chain, name: bytes, raw: bytes, *, folder: bool) -> bool:
    for base, rules in chain:
        verdict = rules.verdict(name, raw[base:], folder=folder)
        if verdict is not None:
            return verdict
    return False


def _judge(item: _Entry, chain: Chain, settings: IngestSettings) -> FoundFile | Skipped | _Folder:
    entry, path = item.entry, item.path
    if path.encode() != item.raw:
        return Skipped(path, "its name is not UTF-8; rename it to have it read")
    if entry.is_symlink():
        return Skipped(path, "symbolic link, not followed")
    if item.folder:
        return _Folder(path, item.raw + b"/", entry.path, item.inside, chain)
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Skipped(path, f"cannot be read: {error.strerror}")
    refusal = _refusal(entry, status, settings)
    if refusal:
        return Skipped(path, refusal)
    return FoundFile(path, entry.path, status.st_size, status.st_mtime_ns)


def _refusal(
    entry: os.DirEntry[str], status: os.stat_result, settings: IngestSettings
) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file (a socket, pipe or device)"
    if not settings.secrets and (reason := secrets.in_name(entry.name)):
        return reason
    if status.st_size > settings.max_bytes:
        return too_large(status.st_size, settings.max_bytes)
    if not platform.is_readable(entry.path):
        return "cannot be read: permission denied"
    return None


def too_large(size: int, limit: int) -> str:
    """Say that a file is over the limit, and where the limit stands."""
    return f"{size} bytes, over the limit of {limit} ([ingest] max_bytes)"


def _rules(location: str) -> tuple[globs.Rules | None, str]:
    """Read an ignore file; like git, never through a symbolic link."""
    try:
        if not stat.S_ISREG(os.lstat(location).st_mode):
            return None, ""
        return globs.parse(Path(location).read_bytes()), ""
    except FileNotFoundError:
        return None, ""
    except NotADirectoryError:  # `.git` may be a file
        return None, ""
    except OSError as error:
        return None, error.strerror or type(error).__name__
