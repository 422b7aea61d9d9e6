"""Verdicts that are kept on disk, so that another process need not ask the judge again.

A verdict is kept under a hash of all that it depends on: its sentence, the situation and the name
of the judge, which says model, version of the prompt, threshold and wording. Another sentence,
situation or judge is another key, so no verdict is ever out of date. The reason is kept besides.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from quire.config.user_cache import CacheFile
from quire.core.types import Verdict


class VerdictFile:
    """The verdicts of one store's rules, on disk."""

    def __init__(self, file: CacheFile) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._verdicts: dict[str, Verdict] = {}

    def load(self) -> dict[str, Verdict]:
        """Return all verdicts by their keys, with what other processes have added."""
        with self._lock:
            new: dict[str, Verdict] = {}
            for line in self._file.read_new():
                key, applies, reason = line.get("key"), line.get("applies"), line.get("reason")
                if isinstance(key, str) and isinstance(applies, bool) and isinstance(reason, str):
                    new[key] = Verdict(applies, reason)
            if new:  # in a new dictionary: others may be reading the old one
                self._verdicts = {**self._verdicts, **new}
            return self._verdicts

    def save(self, verdicts: Mapping[str, Verdict]) -> None:
        """Keep those verdicts that are not kept yet."""
        with self._lock:
            new = {key: verdicts[key] for key in verdicts if key not in self._verdicts}
            self._verdicts = {**self._verdicts, **new}
        self._file.append(
            {"key": key, "applies": verdict.applies, "reason": verdict.reason}
            for key, verdict in new.items()
        )

    def count_bytes(self) -> int:
        """Return the size of what is kept."""
        return self._file.count_bytes()

    def clear(self) -> None:
        """Delete all verdicts."""
        with self._lock:
            self._verdicts = {}
        self._file.clear()
