"""Remember which sessions had a failure reported, and which pieces each was told.

Each session is an empty file in `.quire/hooks` of the project, named by a hash of the session's id,
and a file of the ids of pieces, named by another. Creating a file is atomic, so of several hooks at
the same time exactly one is the first. A project may hold a link in the place of that folder, so
links are not followed, and nothing but such files is ever deleted. Nothing of a prompt is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from quire.core import hashing
from quire.system.pinned_folder import PinnedFolder, pinned

FOLDER = Path(".quire") / "hooks"
MAX_TOLD = 4096
"""Pieces of a session that are remembered; later ones are told again."""
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


def was_told(root: Path, session: str, pieces: Iterable[str]) -> bool:
    """Tell whether a session was told all of these pieces, by their ids and texts; record them."""
    wanted = {hashing.identifier("told", piece).encode() for piece in pieces}
    name = hashing.identifier("session told", session)
    with pinned(root, FOLDER.parts) as folder:
        known = folder.head(name, MAX_TOLD * (2 * hashing.ID_BYTES + 1))
        told = set((known or b"").split())
        new = sorted(wanted - told)
        if new and len(told) + len(new) <= MAX_TOLD:
            folder.append(name, b"".join(piece + b"\n" for piece in new))
        if known is None:
            _remove_oldest(folder)
    return not new


def forget_told(root: Path, session: str) -> None:
    """Forget what a session was told: its assistant has forgotten it too."""
    with pinned(root, FOLDER.parts) as folder:
        folder.remove(hashing.identifier("session told", session))


def _remove_oldest(folder: PinnedFolder) -> None:
    """Delete the oldest files, by time and then by name."""
    dated = sorted(entry for entry in folder.dated() if _NAME.fullmatch(entry[1]))
    for _, name in dated[: max(0, len(dated) - MAX_SESSIONS)]:
        folder.remove(name)
