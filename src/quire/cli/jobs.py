"""Work in the background, as the commands `index`, `watch` and `status` start, end and show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from quire.cli import output
from quire.core.types import OWNER
from quire.errors import InputError
from quire.indexing import background
from quire.indexing.background import VECTORS, WATCH

if TYPE_CHECKING:
    from quire.core.types import IndexResult, Status
    from quire.engine import Quire


def job_of(
    quire: Quire, kind: str, paths: Sequence[str] = (), *, embed: bool = True
) -> background.Job:
    """Return the work of a kind on an open store."""
    config = quire.config
    under = [quire.documents.path_of(path) for path in paths]
    return background.make_job(
        kind, quire.root(), config.store, config.space, paths=under, embed=embed
    )


def start_vectors(quire: Quire, result: IndexResult) -> IndexResult:
    """Let another process make the missing vectors, or all again; the result says so."""
    again = quire.status(OWNER).reembedding
    if quire.config.embed.provider == "none" or not (result.missing_vectors or again):
        return result
    _refuse_server(quire, "--background")
    job = job_of(quire, VECTORS)
    background.start_vectors(job)
    if again is not None:
        old = "the old vectors" if again.old_answer else "words alone"
        note = (
            f"all vectors are being made again in the background, with {again.model}; {old} answer "
            "until the last one is made (`quire status` shows how far it is)"
        )
    else:
        note = (
            f"{result.missing_vectors} vectors are being made in the background; until then search "
            "is by words as far as they are missing (`quire status` shows how far it is)"
        )
    return replace(result, notes=(*result.notes, note))


def _refuse_server(quire: Quire, option: str) -> None:
    """Refuse work in the background on a server: its URL would be in the list of processes."""
    if quire.config.server:
        raise InputError(
            "a store on a server has no work in the background",
            field=option.lstrip("-"),
            hint=f"leave out {option}",
        )


def describe_vectors(quire: Quire, status: Status) -> str | None:
    """Say whether missing vectors, or all again, are being made; None if there is nothing to do."""
    again = status.reembedding
    if quire.config.embed.provider == "none" or not (status.missing_vectors or again):
        return None
    state = background.state_of(job_of(quire, VECTORS))
    made = f"{status.chunks - status.missing_vectors} of {status.chunks} chunks have a vector"
    if again is not None:
        made = (
            f"{again.vectors} of {again.chunks} chunks are embedded again, with {again.model}; "
            f"until all are, {status.model if again.old_answer else 'words alone'} answer"
            f"{'s' if again.old_answer else ''}"
        )
    if state.process is not None:
        return f"{made}; process {state.process} makes the others"
    failed = f"; the last process failed: {state.failure}" if state.failure else ""
    return f"{made}; nobody makes the others (`quire index` does){failed}"


def start_watch(quire: Quire, paths: Sequence[str], *, embed: bool, as_json: bool) -> None:
    """Start a watch in the background."""
    _refuse_server(quire, "--daemon")
    process = background.start_watch(job_of(quire, WATCH, paths, embed=embed))
    if as_json:
        output.print_json({"process": process})
    else:
        output.say(f"process {process} watches {quire.root()}; `quire watch --stop` ends it")


def end_watch(quire: Quire, *, stop: bool, as_json: bool) -> int:
    """End the watch, or show it; return the exit code."""
    job = job_of(quire, WATCH)
    state = background.state_of(job)
    if stop:
        background.stop(job)
    if as_json:
        output.print_json({"process": state.process, "stopped": stop, "failure": state.failure})
    elif state.process is None:
        output.say(f"no process watches {quire.root()}")
        if state.failure:
            output.note(f"the last one failed: {state.failure}")
    else:
        done = "has stopped watching" if stop else "watches"
        output.say(f"process {state.process} {done} {quire.root()}")
    return 0 if state.process is not None else 1
