"""Turn paths on disk into paths of a space."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from quire.core.paths import is_under
from quire.errors import InputError


def relative_paths(
    root: Path, paths: Sequence[str | os.PathLike[str]], *, must_exist: bool = True
) -> tuple[str, ...]:
    """Turn paths on disk into paths of the space: below the root, with `/`, none inside another."""
    found: set[str] = set()
    for path in paths or (root,):
        absolute = Path(os.path.normpath(Path(path).absolute()))
        real = absolute.parent.resolve() / absolute.name  # a link is named, not followed,
        if not real.is_relative_to(root):
            real = real.resolve()  # unless it leads in from outside
        if must_exist and not os.path.lexists(real):
            raise InputError(f"{path} does not exist: check the name")
        if not real.is_relative_to(root):
            raise InputError(
                f"{path} is outside of {root}, the directory that this store is about; "
                "use another --store or --space for it"
            )
        # Spelled as a walk spells it: names are UTF-8, other bytes are written out (`\xff`).
        spelled = os.fsencode(real.relative_to(root).as_posix()).decode("utf-8", "backslashreplace")
        found.add("" if real == root else spelled)
    return tuple(
        part
        for part in sorted(found)
        if not any(part != other and is_under(part, other) for other in found)
    )
