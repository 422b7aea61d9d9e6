"""What a client sends for the state of the store and index jobs.

Each function has the signature of the method of an open store, and returns a `Call`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quire.client.call import (
    Call,
    Pause,
    Steps,
    ViewerLike,
    escape_id,
    given,
    post,
    read_as,
    viewer_parameter,
)
from quire.core.deserialize import from_plain
from quire.core.types import OWNER, IndexResult, Progress, Roots, Status, Viewer
from quire.engine import MAP_BUDGET
from quire.errors import ServiceError
from quire.indexing.progress import Report, ignore_progress
from quire.pipeline.codemap import CodeMap

POLL = 0.25
"""Seconds between two looks at an index job."""


def status(viewer: ViewerLike = None) -> Call[Status]:
    """Summarize what the store holds, as far as the viewer may know."""
    return Call("GET", "/v1/status", read_as(Status), parameters=viewer_parameter(viewer))


def roots(viewer: ViewerLike = None) -> Call[Roots]:
    """Return the hashes of everything that a viewer may read, as the store is now."""
    return Call("GET", "/v1/roots", read_as(Roots), parameters=viewer_parameter(viewer))


def notes() -> Call[tuple[str, ...]]:
    """Return what the owner should know of the settings and the store of the service."""

    def read(data: Any) -> tuple[str, ...]:
        return tuple(data["notes"])

    return Call("GET", "/v1/notes", read)


def map_code(
    paths: Sequence[str] = (),
    *,
    budget: int = MAP_BUDGET,
    model: str | None = None,
    viewer: ViewerLike = None,
) -> Call[CodeMap]:
    """Map the most used definitions below some paths, from the project's root, or of all of it."""
    options = {"path": [str(path) for path in paths] or None, "budget": budget, "model": model}
    parameters = {**given(options), **viewer_parameter(viewer)}
    return Call("GET", "/v1/map", read_as(CodeMap), parameters=parameters)


def me() -> Call[Viewer]:
    """Tell who reads with the token."""

    def read(data: Any) -> Viewer:
        name = data["viewer"]
        return OWNER if name is None else Viewer(name)

    return Call("GET", "/v1/me", read)


def submit_job(
    paths: Sequence[str] = (),
    *,
    embed: bool = True,
    reembed: bool = False,
    history: int | None = None,
) -> Call[dict[str, Any]]:
    """Start to index paths of the project, from its root; return the job."""
    options: dict[str, Any] = {
        "paths": [str(path) for path in paths],
        "embed": embed,
        "reembed": reembed,
    }
    return post("/v1/index", dict, writes=True, history=history, **options)


def index(
    paths: Sequence[str] = (),
    *,
    embed: bool = True,
    reembed: bool = False,
    history: int | None = None,
    report: Report = ignore_progress,
) -> Steps[IndexResult]:
    """Let the service index paths of its project, from the root, and wait for the result."""
    state = yield submit_job(paths, embed=embed, reembed=reembed, history=history)
    while state["state"] == "running":
        yield Pause(POLL)
        state = yield job(state["id"])
        progress = state["progress"]
        if progress:
            report(Progress(progress["stage"], progress["done"], progress["total"]))
    if state["state"] != "finished":
        reason = state["error"] or "by somebody"
        raise ServiceError(f"the index job was {state['state']}: {reason}")
    return from_plain(IndexResult, state["result"])


def job(name: str) -> Call[dict[str, Any]]:
    """Return the state of an index job."""
    return Call("GET", f"/v1/index/{escape_id(name)}", dict)
