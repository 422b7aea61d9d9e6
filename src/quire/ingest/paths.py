"""Convert paths on disk to paths of a space."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from quire.core.paths import is_under
from quire.errors import InputError


def resolve_paths(
    root: Path, paths: Sequence[str | os.PathLike[str]], *, must_exist: bool = True
) -> tuple[str, ...]:
    """Return paths on disk as paths of the space: below the root, with `/`, none inside another."""
    resolved: set[str] = set()
    for path in paths or (root,):
        _check_name(path)
        absolute = Path(os.path.normpath(Path(path).absolute()))
        real = absolute.parent.resolve() / absolute.name  # a link is named, not followed,
        if not real.is_relative_to(root):
            real = real.resolve()  # unless it leads in from outside
        if must_exist and not os.path.lexists(real):
            raise InputError(f"{path} does not exist", value=str(path), hint="check the name")
        if not real.is_relative_to(root):
            raise InputError(
                f"{path} is outside of {root}, the folder of this store",
                value=str(path),
                hint="use another {store} or {space} for it",
            )
        # Spelled as in a walk: names are UTF-8, other bytes are escaped (`\xff`).
        name = os.fsencode(real.relative_to(root).as_posix()).decode("utf-8", "backslashreplace")
        resolved.add("" if real == root else name)
    return tuple(
        path
        for path in sorted(resolved)
        if not any(path != other and is_under(path, other) for other in resolved)
    )


def _check_name(path: str | os.PathLike[str]) -> None:
    """Refuse what can be the name of no file."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise InputError(f"{str(path)!r:.80} is not a path", hint="check the name") from error
