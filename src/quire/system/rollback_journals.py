"""Rollback journals, which SQLite plays back into a file when it opens it.

A journal of a transaction over several files names another file, and many versions of SQLite delete
that one, wherever it lies, once they have played the journal back. Quire writes no such journal. A
project can come with one beside its store.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from quire.errors import StoreError

JOURNAL = "-journal"
_NAMES_A_FILE = bytes.fromhex("d9d505f920a163d7")
"""The last bytes of a journal that names another file."""


def refuse_foreign_journal(place: str) -> None:
    """Refuse a file with a journal beside it that would have another file deleted."""
    journal = Path(os.path.realpath(place) + JOURNAL)  # SQLite follows links to the file
    if _is_foreign(journal):
        raise StoreError(
            "the journal beside it is none that Quire wrote: it could have a file of yours deleted",
            place=place,
            hint=f"delete {journal.name}, or the whole folder if it came with a project",
        )


def _is_foreign(journal: Path) -> bool:
    try:
        if not stat.S_ISREG(journal.lstat().st_mode):
            return True
        with journal.open("rb") as file:
            file.seek(-min(len(_NAMES_A_FILE), journal.stat().st_size), os.SEEK_END)
            return file.read() == _NAMES_A_FILE
    except (OSError, ValueError):  # there is none, or SQLite cannot read it either
        return False
