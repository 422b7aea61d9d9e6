"""Find the files of a folder, in a fixed order, without those that are ignored.

Ignore files (`.gitignore`, `.quireignore`) mean what git says they mean.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from quire.core import globs
from quire.core.frozen import dataclass
from quire.core.types import FileEntry, IngestSettings, Skipped
from quire.errors import InputError
from quire.ingest.redact import is_allowed, redact_path
from quire.system import platform

EXCLUDED_FOLDERS = frozenset({".git", ".hg", ".quire", ".svn"})
IGNORE_FILES = (".gitignore", ".quireignore")
MAX_IGNORE_BYTES = 256 << 10
"""The size of one ignore file."""
MAX_PATTERNS = 50_000
"""Patterns of the ignore files that count in one folder: each of its files is compared with all."""
DEFAULTS = IngestSettings()

RuleChain: TypeAlias = "tuple[tuple[int, globs.Rules], ...]"
"""Ignore rules in order of precedence, each with the length of its folder's path."""


def walk(
    root: Path, under: Sequence[str] = ("",), settings: IngestSettings = DEFAULTS
) -> Iterator[FileEntry | Skipped]:
    """Yield the files below a folder, in the order of their paths' bytes.

    `under` limits the walk to these files and folders, given relative to the root. Paths that do
    not exist or are ignored are not yielded. Names stay as they are on disk: two names that differ
    in their Unicode normalization are two files.
    """
    if not root.is_dir():
        raise InputError(
            f"{root} is not a folder",
            value=str(root),
            hint="name the folder whose files are to be read",
        )
    return _walk(os.fspath(root), _parse_scope(under), settings)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The files and folders that a walk is limited to."""

    paths: frozenset[str]
    parents: frozenset[str]
    """The folders that lead to them."""


def _parse_scope(under: Sequence[str]) -> _Scope:
    paths = set()
    for path in under:
        normal = posixpath.normpath(path) if path else ""
        if normal.startswith(("/", "../")) or normal == "..":
            raise InputError(
                f"{path!r} is outside of the folder",
                value=path,
                hint="give a path relative to the folder",
            )
        paths.add("" if normal == "." else normal)
    parents = {""}
    for path in paths:
        parent = posixpath.dirname(path)
        while parent:
            parents.add(parent)
            parent = posixpath.dirname(parent)
    return _Scope(frozenset(paths), frozenset(parents))


@dataclass(frozen=True, slots=True)
class _Folder:
    path: str
    raw: bytes
    """The path as bytes with a slash at its end; empty for the root."""
    location: str
    in_scope: bool
    """Whether all of it is in scope; if not, it only leads to what is."""
    chain: RuleChain


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    raw: bytes
    entry: os.DirEntry[str]
    is_folder: bool
    in_scope: bool


def is_walked(root: Path, folder: str, settings: IngestSettings = DEFAULTS) -> bool:
    """Return whether a walk from a root enters a folder: it is there, not ignored, and no link."""
    scope = _parse_scope((folder,))
    current, overrides = _start(os.fspath(root), scope, settings)
    while not current.in_scope:
        entered = _list_folder(current, scope, overrides, settings)
        below = next((item for item in entered if isinstance(item, _Folder)), None)
        if below is None:
            return False
        current = below
    return True


def _walk(root: str, scope: _Scope, settings: IngestSettings) -> Iterator[FileEntry | Skipped]:
    start, overrides = _start(root, scope, settings)
    # An explicit stack: a tree may be deeper than Python's recursion limit.
    stack: list[Iterator[FileEntry | Skipped | _Folder]] = [
        _list_folder(start, scope, overrides, settings)
    ]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, _Folder):
            stack.append(_list_folder(item, scope, overrides, settings))
        else:
            yield item


def _start(root: str, scope: _Scope, settings: IngestSettings) -> tuple[_Folder, RuleChain]:
    """Return the root of a walk, and the rules that count before those of ignore files."""
    configured = globs.compile_rules(
        pattern.encode("utf-8", "surrogateescape") for pattern in settings.ignore
    )
    excluded, _ = _read_ignore_file(f"{root}/.git/info/exclude")
    start = _Folder("", b"", root, "" in scope.paths, ((0, excluded),) if excluded else ())
    return start, ((0, configured),) if configured else ()


def _list_folder(
    folder: _Folder, scope: _Scope, overrides: RuleChain, settings: IngestSettings
) -> Iterator[FileEntry | Skipped | _Folder]:
    try:
        with os.scandir(folder.location) as listing:
            entries = [entry for entry in listing if entry.name not in EXCLUDED_FOLDERS]
    except OSError as error:
        if not folder.path:
            raise InputError(
                f"{folder.location} cannot be read: {error.strerror}", value=folder.location
            ) from error
        path, _ = redact_path(folder.path, settings)
        yield Skipped(path, f"folder cannot be read: {error.strerror}")
        return
    names = {entry.name for entry in entries}
    chain = folder.chain
    failures = {}
    for name in IGNORE_FILES:
        if name in names:
            rules, failure = _read_ignore_file(f"{folder.location}/{name}")
            if rules and len(rules.negated) + _count_patterns(chain) > MAX_PATTERNS:
                failure = f"with those above it there are more than {MAX_PATTERNS:,} patterns"
            if failure:
                failures[name] = failure
            elif rules:
                chain = ((len(folder.raw), rules), *chain)
    selected = _select_entries(folder, entries, scope, overrides + chain)
    for _, item in sorted(selected, key=lambda pair: (pair[0], pair[1].raw)):
        if item.entry.name in failures:
            reason = f"cannot be read, so its patterns do not apply: {failures[item.entry.name]}"
            yield Skipped(redact_path(item.path, settings)[0], reason)
        else:
            yield _classify(item, chain, settings)


def _select_entries(
    folder: _Folder, entries: list[os.DirEntry[str]], scope: _Scope, chain: RuleChain
) -> Iterator[tuple[bytes, _Entry]]:
    """Yield the entries in scope that are not ignored, each with its sort key."""
    for entry in entries:
        name = os.fsencode(entry.name)
        # Names are UTF-8 whatever the locale is; other bytes are escaped (`\xff`).
        readable_name = name.decode("utf-8", "backslashreplace")
        path = f"{folder.path}/{readable_name}" if folder.path else readable_name
        in_scope = folder.in_scope or path in scope.paths
        if not in_scope and path not in scope.parents:
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        raw = folder.raw + name
        if _is_ignored(chain, name, raw, is_folder=is_folder):
            continue
        if not in_scope and not is_folder:
            continue
        key = readable_name.encode() + (b"/" if is_folder else b"")
        yield key, _Entry(path, raw, entry, is_folder, in_scope)


def _is_ignored(chain: RuleChain, name: bytes, raw: bytes, *, is_folder: bool) -> bool:
    for base, rules in chain:
        verdict = rules.decide(name, raw[base:], folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _classify(  # noqa: PLR0911 - one for each reason
    item: _Entry, chain: RuleChain, settings: IngestSettings
) -> FileEntry | Skipped | _Folder:
    entry, path = item.entry, item.path
    shown, reason = redact_path(path, settings)
    if path.encode() != item.raw:
        return Skipped(shown, "its name is not UTF-8; rename it to have it read")
    if reason and not item.is_folder:
        return Skipped(shown, reason)
    if entry.is_symlink():
        return Skipped(shown, "symbolic link, not followed")
    if item.is_folder:
        return _Folder(path, item.raw + b"/", entry.path, item.in_scope, chain)
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Skipped(path, f"cannot be read: {error.strerror}")
    if refusal := _find_skip_reason(entry, path, status, settings):
        return Skipped(path, refusal)
    return FileEntry(path, entry.path, status.st_size, status.st_mtime_ns)


def _find_skip_reason(
    entry: os.DirEntry[str], path: str, status: os.stat_result, settings: IngestSettings
) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file (a socket, pipe or device)"
    if reason := find_refusal(path, status.st_size, settings):
        return reason
    if not platform.is_readable(entry.path):
        return "cannot be read: permission denied"
    return None


def is_ignored(path: str, ignored: globs.Globs) -> bool:
    """Return whether a file is ignored by its path alone, wherever it lies."""
    folders = path.split("/")[:-1]
    return not EXCLUDED_FOLDERS.isdisjoint(folders) or ignored.match(path)


def find_refusal(path: str, size: int, settings: IngestSettings) -> str | None:
    """Return why a file is not read by its path and its size; None: it may be."""
    from quire.ingest import secrets  # late: it has many patterns

    allowed = settings.secrets or is_allowed(path, settings.allow_secrets)
    if not allowed and (reason := secrets.check_name(posixpath.basename(path))):
        return reason
    if size > settings.max_bytes:
        return describe_size_limit(size, settings.max_bytes)
    return None


def describe_size_limit(size: int, limit: int) -> str:
    """Return the reason for a file that is too large, with the setting of the limit."""
    return f"{size} bytes, over the limit of {limit} ([ingest] max_bytes)"


def _count_patterns(chain: RuleChain) -> int:
    return sum(len(rules.negated) for _, rules in chain)


def _read_ignore_file(location: str) -> tuple[globs.Rules | None, str]:
    """Return the rules of an ignore file, or why it fails; like git, follow no symbolic link."""
    try:
        if not stat.S_ISREG(os.lstat(location).st_mode):
            return None, ""
        data, _ = platform.read_regular(Path(location), MAX_IGNORE_BYTES)
        return _parse_rules(data), ""
    except FileNotFoundError:
        return None, ""
    except NotADirectoryError:  # `.git` may be a file
        return None, ""
    except OSError as error:
        return None, error.strerror or type(error).__name__


@lru_cache(maxsize=8)
def _parse_rules(data: bytes) -> globs.Rules | None:
    """Parse an ignore file; many folders may have the same."""
    return globs.parse_rules(data)
