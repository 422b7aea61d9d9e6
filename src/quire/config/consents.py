"""What a user did with a store and the store alone cannot vouch for.

Notes in a store say which folder it is about and what was imported with its secrets. A store may
come with somebody else's project, whose author wrote them. So what leads outside a project, or to
what `quire index` leaves out, counts only if the user did it, which is recorded in their own
configuration folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quire.config.user_cache import CacheFile
from quire.core import hashing
from quire.system import platform

FOLDER = "stores"
FILE = "consents.jsonl"
MAX_BYTES = 1 << 20


class Consents:
    """The facts about one store that its user stated."""

    def __init__(self, store: Path, environment: Mapping[str, str]) -> None:
        above = platform.user_config_folder(environment)
        name = hashing.identifier("store", str(store.absolute()))
        folder = None if above is None else above / "quire" / FOLDER / name
        self._file = CacheFile(folder, store, FILE, MAX_BYTES)
        self._facts: list[dict[str, Any]] = []

    def add(self, fact: Mapping[str, Any]) -> None:
        """Record a fact."""
        if not self.has(fact):
            self._file.append([fact])

    def has(self, fact: Mapping[str, Any]) -> bool:
        """Return whether a fact was recorded."""
        self._facts += self._file.read_new()
        return fact in self._facts
