"""Remember which sessions had a failure reported.

Each session is an empty file in `.quire/hooks` of the project, named by a hash of the session's id.
Creating a file is atomic, so of several hooks at the same time exactly one is the first. A project
may hold a link in the place of that folder, so links are not followed, and nothing but such files
is ever deleted.
"""

from __future__ import annotations

import re
from pathlib import Path

from quire.core import hashing
from quire.system.pinned_folder import PinnedFolder, pinned

FOLDER = Path(".quire") / "hooks"
MAX_SESSIONS = 256
"""Sessions that are remembered; the oldest are forgotten."""
_NAME = re.compile(f"[0-9a-f]{{{2 * hashing.ID_BYTES}}}")


def mark_first_failure(root: Path, session: str) -> bool:
    """Record a failure of a session; return whether it is the first one."""
    with pinned(root, FOLDER.parts) as folder:
        first = folder.create(hashing.identifier("session", session))
        if first:
            _remove_oldest(folder)
    return first


def _remove_oldest(folder: PinnedFolder) -> None:
    """Delete the oldest files, by time and then by name."""
    dated = sorted(entry for entry in folder.dated() if _NAME.fullmatch(entry[1]))
    for _, name in dated[: max(0, len(dated) - MAX_SESSIONS)]:
        folder.remove(name)
