"""Index jobs: one at a time for a store, whichever worker process got the request."""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quire.core.serialize import to_plain
from quire.core.types import Progress
from quire.errors import InputError, QuireError
from quire.server.endpoint import ConflictError, NotFoundError
from quire.server.journal import KEPT_JOBS, Journal
from quire.system import clock, events, platform

if TYPE_CHECKING:
    from quire.engine import Quire

RUNNING, FINISHED, FAILED, CANCELLED = "running", "finished", "failed", "cancelled"
LOST_AFTER = 120.0
"""Seconds without a sign of life after which a job counts as lost."""
_BEAT = 5.0
_MAX_PID = (1 << 31) - 1
_COLUMNS = "id, at, pid, beat, state, cancel, request, progress, result, error"


class _CancelledError(Exception):
    """The job was cancelled."""


class Jobs:
    """The index jobs of a service."""

    def __init__(self, quire: Quire, journal: Journal) -> None:
        self._quire = quire
        self._journal = journal
        self._threads: set[threading.Thread] = set()
        self._stopping = threading.Event()

    def submit(self, paths: Sequence[str], options: Mapping[str, Any], at: int) -> dict[str, Any]:
        """Start to index paths of the project; refuse while another job runs."""
        places = [self._place(path) for path in paths]
        for job in self._running():
            raise ConflictError(
                f"job {job['id']} is running",
                value=job["id"],
                hint="wait for it, or cancel it",
            )
        name = secrets.token_hex(8)
        request = json.dumps({"paths": [*paths], **options})
        added = self._journal.rows(
            "INSERT INTO jobs (id, at, pid, beat, state, request) SELECT ?, ?, ?, ?, ?, ? "
            "WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE state = ?) RETURNING id",
            *(name, at, os.getpid(), clock.now_ns() / 1e9, RUNNING, request, RUNNING),
        )
        if not added:
            raise ConflictError("another job was started just now", hint="wait for it")
        self._journal.rows(
            "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs ORDER BY at DESC, id "
            "LIMIT -1 OFFSET ?)",
            KEPT_JOBS,
        )
        thread = threading.Thread(target=self._run, args=(name, places, dict(options)), daemon=True)
        self._threads.add(thread)
        thread.start()
        return self.get(name)

    def get(self, name: str) -> dict[str, Any]:
        """Return what is known of a job."""
        rows = self._journal.rows(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", name)  # nosec B608  # noqa: S608 - names of our own
        if not rows:
            raise NotFoundError(f"there is no job {name!r}", value=name)
        return self._plain(rows[0])

    def cancel(self, name: str) -> dict[str, Any]:
        """Ask a job to stop; what it has committed stays."""
        self.get(name)
        self._journal.rows("UPDATE jobs SET cancel = 1 WHERE id = ? AND state = ?", name, RUNNING)
        return self.get(name)

    def stop(self, seconds: float) -> None:
        """Let running jobs finish for so long, then stop them at their next commit."""
        until = clock.seconds_passed() + seconds
        for thread in list(self._threads):
            thread.join(max(0.0, until - clock.seconds_passed()))
        self._stopping.set()
        for thread in list(self._threads):
            thread.join(seconds)

    # Last in the class: below it `list` would no longer mean the type.
    def list(self) -> list[dict[str, Any]]:
        """List the jobs, the newest first."""
        rows = self._journal.rows(f"SELECT {_COLUMNS} FROM jobs ORDER BY at DESC, id")  # nosec B608  # noqa: S608 - names of our own
        return [self._plain(row) for row in rows]

    def _running(self) -> Sequence[dict[str, Any]]:
        rows = self._journal.rows(f"SELECT {_COLUMNS} FROM jobs WHERE state = ?", RUNNING)  # nosec B608  # noqa: S608 - names of our own
        return [job for job in map(self._plain, rows) if job["state"] == RUNNING]

    def _plain(self, row: Sequence[Any]) -> dict[str, Any]:
        name, at, pid, beat, state, cancel, request, progress, result, error = row
        if state == RUNNING and _is_lost(pid, beat):
            state, error = FAILED, "the worker process that ran it ended"
            self._journal.rows(
                "UPDATE jobs SET state = ?, error = ? WHERE id = ? AND state = ?",
                *(FAILED, error, name, RUNNING),
            )
        return {
            "id": name,
            "state": state,
            "submitted": at,
            "cancelling": bool(cancel) and state == RUNNING,
            "request": self._journal.parse(request, dict),
            "progress": self._journal.parse(progress, dict),
            "result": None if result is None else self._journal.parse(result, dict),
            "error": error,
        }

    def _place(self, path: str) -> Path:
        """Return a path of the project on disk; nothing outside of it is looked at."""
        root = self._quire.root()
        place = Path(os.path.normpath(root / path)) if "\0" not in path else Path()
        if path.startswith("/") or not place.is_relative_to(root):
            raise InputError(
                f"{path!r} is not a path in the project",
                field="paths",
                value=path,
                hint="name files and folders from the project's root",
            )
        return place

    def _run(self, name: str, places: Sequence[Path], options: dict[str, Any]) -> None:
        beat = 0.0

        def report(progress: Progress) -> None:
            nonlocal beat
            if self._stopping.is_set():
                raise _CancelledError
            now = clock.now_ns() / 1e9
            is_last = progress.total is not None and progress.done == progress.total
            if now - beat < 0.1 and not is_last:
                return
            beat = now
            shown = {"stage": progress.stage, "done": progress.done, "total": progress.total}
            rows = self._journal.rows(
                "UPDATE jobs SET beat = ?, progress = ? WHERE id = ? RETURNING cancel",
                *(now, json.dumps(shown), name),
            )
            if rows and rows[0][0]:
                raise _CancelledError

        state, result, error = FAILED, None, None
        try:
            done = self._quire.index(places, report=report, **options)
            state, result = FINISHED, json.dumps(to_plain(done))
        except _CancelledError:
            state = CANCELLED
        except QuireError as problem:
            error = str(problem)
        except Exception as problem:  # noqa: BLE001 - told to whoever asks for the job
            events.emit("job_failed", events.ERROR, error=type(problem).__name__)
            error = f"failed inside Quire: {type(problem).__name__}"
        finally:
            with suppress(QuireError):
                self._journal.rows(
                    "UPDATE jobs SET state = ?, result = ?, error = ?, beat = ? WHERE id = ?",
                    *(state, result, error, clock.now_ns() / 1e9, name),
                )
            self._threads.discard(threading.current_thread())


def _is_lost(pid: object, beat: object) -> bool:
    """Tell whether a job gave no sign of life for long, or one that no job could have given.

    The file may have come with a project, from anybody.
    """
    if not isinstance(pid, int) or not 0 < pid <= _MAX_PID or not isinstance(beat, int | float):
        return True
    silent = clock.now_ns() / 1e9 - beat
    return not -LOST_AFTER <= silent <= (LOST_AFTER if platform.is_running(pid) else _BEAT)
