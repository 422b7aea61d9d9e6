"""The process that works in the background: `python -m quire.cli.background JOB`.

It is started by Quire alone, in a folder of the user's, without a terminal. It has low priority,
and ends when its work is done, when it is told to (SIGTERM), or when its store or the project's
folder goes away. It may be killed at any moment: what was written stays.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from quire.system import runtime

if TYPE_CHECKING:
    from quire.engine import Quire
    from quire.indexing.background import Job

NICE = 10
CHECK_SECONDS = 2.0


def main(argument: str) -> None:
    """Do a job."""
    runtime.detach()
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    from quire.errors import QuireError
    from quire.indexing.background import VECTORS, Job

    job = Job.from_json(argument)
    try:
        (_make_vectors if job.kind == VECTORS else _watch)(job)
    except (QuireError, OSError) as error:
        print(" ".join(str(error).split()), flush=True)  # noqa: T201 - into the log
        os._exit(1)
    os._exit(0)


def _end(_: int, __: FrameType | None) -> NoReturn:
    os._exit(0)  # an open transaction is undone by the next process


def _make_vectors(job: Job) -> None:
    queue = job.queue
    if not queue.acquire():
        return  # another one waits already
    threading.Event().wait(job.delay)
    lock = job.lock
    lock.acquire(wait=True)
    queue.release()
    _end_with_its_folder(job)
    with _open(job) as quire:
        quire.embed_missing()
    lock.release()


def _watch(job: Job) -> None:
    from quire.core.types import Failure
    from quire.indexing.background import READY

    lock = job.lock
    if not lock.acquire():
        print(f"process {lock.holder()} watches this store already", flush=True)  # noqa: T201
        return
    with _open(job) as quire:
        results = quire.watch([Path(job.root, path) for path in job.paths], embed=job.embed)
        _end_with_its_folder(job)
        print(READY, flush=True)  # noqa: T201 - whoever started it waits for this
        log = os.open(job.file("log"), os.O_WRONLY | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        for result in results:
            os.ftruncate(log, 0)
            if isinstance(result, Failure):
                print(" ".join(result.reason.split()), flush=True)  # noqa: T201
    lock.release()


def _open(job: Job) -> Quire:
    from quire.engine import open_quire

    return open_quire(job.root, store=job.store, space=job.space, create=False)


def _end_with_its_folder(job: Job) -> None:
    """End this process when the project's folder or the store's file is no longer there."""
    store = Path(job.store)
    place = store.stat()

    def watch_over() -> None:
        pause = threading.Event()
        while not pause.wait(CHECK_SECONDS):
            try:
                now = store.stat()
                is_there = (now.st_dev, now.st_ino) == (place.st_dev, place.st_ino)
            except OSError:
                is_there = False
            if not is_there or not Path(job.root).is_dir():
                os._exit(0)

    threading.Thread(target=watch_over, daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
