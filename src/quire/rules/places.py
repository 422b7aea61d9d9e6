"""Places: the path of a file or folder, as callers and tools write it, as a path from the root.

Only the names are looked at, and links where an absolute path does not begin with the root: whether
a file exists must not show to somebody who may not read it.
"""

from __future__ import annotations

import posixpath
from pathlib import Path

from quire.core.types import Situation
from quire.errors import InputError

PATH_KEY = "path"
"""The key of a situation that names the file or folder it is about."""


def resolve_place(root: Path, place: str) -> str:
    """Return a place as a path from the root; raise InputError if it is outside of the project.

    A relative path begins at the root: `src`, `./src` and `src/../src/` are one place.
    """
    path = relative_path(root, place)
    if path is None:
        raise InputError(
            f"{place!r} is outside of the project {str(root)!r}",
            field="base",
            value=place,
            hint="name a place in the project, such as 'src', from its root or as an absolute path",
        )
    return path


def relative_path(root: Path, place: str) -> str | None:
    """Return a path from the root; None if it is outside of the project."""
    if place.startswith("/"):
        absolute = Path(posixpath.normpath(place))
        if not absolute.is_relative_to(root):
            try:
                absolute = absolute.parent.resolve() / absolute.name
            except (OSError, RuntimeError, ValueError):
                return None
        if not absolute.is_relative_to(root):
            return None
        return _from_root(absolute.relative_to(root).as_posix())
    return _from_root(posixpath.normpath(place))


def _from_root(path: str) -> str | None:
    if path == ".." or path.startswith("../") or "\0" in path:
        return None
    return "" if path == "." else path


def with_relative_path(root: Path, situation: Situation) -> Situation:
    """Return a situation whose path, if it is in the project, is one from the root."""
    path = situation.get(PATH_KEY)
    if not isinstance(path, str) or not path:
        return situation
    relative = relative_path(root, path)
    return {**situation, PATH_KEY: relative} if relative else situation
