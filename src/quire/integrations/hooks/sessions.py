"""Was this session told already?

An empty file for each session, in `.quire/hooks` of the project; its name is a hash of the
session's id. Making a file is atomic: of several hooks at the same time one is the first.
"""

from __future__ import annotations

from pathlib import Path

from quire.core import hashing

FOLDER = Path(".quire") / "hooks"
KEPT = 256
"""So many sessions are remembered; the oldest are forgotten."""


def is_first(root: Path, session: str) -> bool:
    """Tell whether this is the first failure of a session, and remember that it was told."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    try:
        (folder / hashing.identifier("session", session)).touch(exist_ok=False)
    except FileExistsError:
        return False
    _forget(folder)
    return True


def _forget(folder: Path) -> None:
    """Delete the oldest files, by their times, then by their names."""
    dated = []
    for file in folder.iterdir():
        try:
            dated.append((file.stat().st_mtime_ns, file.name))
        except FileNotFoundError:  # another hook was faster
            continue
    for _, name in sorted(dated)[: max(0, len(dated) - KEPT)]:
        (folder / name).unlink(missing_ok=True)
