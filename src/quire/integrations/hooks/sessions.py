"""Remember which sessions had a failure reported.

Each session is an empty file in `.quire/hooks` of the project, named by a hash of the session's id.
Creating a file is atomic, so of several hooks at the same time exactly one is the first.
"""

from __future__ import annotations

from pathlib import Path

from quire.core import hashing

FOLDER = Path(".quire") / "hooks"
MAX_SESSIONS = 256
"""Sessions that are remembered; the oldest are forgotten."""


def mark_first_failure(root: Path, session: str) -> bool:
    """Record a failure of a session; return whether it is the first one."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    try:
        (folder / hashing.identifier("session", session)).touch(exist_ok=False)
    except FileExistsError:
        return False
    _remove_oldest(folder)
    return True


def _remove_oldest(folder: Path) -> None:
    """Delete the oldest files, by time and then by name."""
    dated = []
    for file in folder.iterdir():
        try:
            dated.append((file.stat().st_mtime_ns, file.name))
        except FileNotFoundError:  # another hook was faster
            continue
    for _, name in sorted(dated)[: max(0, len(dated) - MAX_SESSIONS)]:
        (folder / name).unlink(missing_ok=True)
