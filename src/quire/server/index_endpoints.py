"""Endpoints of index jobs: start one, follow it, cancel it."""

from __future__ import annotations

from typing import Any

from quire.core.json_schema import number, texts
from quire.server.endpoint import ADMIN, Call, Endpoint
from quire.server.schemas import MAX_PATHS, body, page_of, result


def submit_job(call: Call) -> Any:
    """Start to index."""
    options = call.take("embed", "reembed", "history")
    return call.jobs.submit(call.arguments.get("paths", ()), options, call.at)


def list_jobs(call: Call) -> Any:
    """List the index jobs."""
    return call.jobs.list()


def get_job(call: Call) -> Any:
    """Tell the progress of a job."""
    return call.jobs.get(call.arguments["id"])


def cancel_job(call: Call) -> Any:
    """Cancel a job."""
    return call.jobs.cancel(call.arguments["id"])


_JOB = result(
    id={"type": "string"},
    state={"type": "string", "enum": ["running", "finished", "failed", "cancelled"]},
    submitted={"type": "integer"},
    cancelling={"type": "boolean"},
    request={"type": "object"},
    progress={"type": "object"},
    result={"type": ["object", "null"]},
    error={"type": ["string", "null"]},
)

ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/index",
        "submit_job",
        "Start to index files and folders of the project, or all of it.",
        submit_job,
        _JOB,
        scope=ADMIN,
        owner=True,
        tag="index",
        status=202,
        body=body(
            {
                "paths": {
                    **texts("Files and folders from the project's root; none: all of it."),
                    "maxItems": MAX_PATHS,
                },
                "embed": {"type": "boolean", "description": "false: index words alone."},
                "reembed": {
                    "type": "boolean",
                    "description": "Make all vectors again; the old ones answer until then.",
                },
                "history": number("How many git commits to keep; -1: all.", -1, 10**9),
            }
        ),
        example={"paths": [], "embed": False},
    ),
    Endpoint(
        "GET",
        "/v1/index",
        "list_jobs",
        "List the index jobs, the newest first.",
        list_jobs,
        page_of(_JOB),
        scope=ADMIN,
        owner=True,
        tag="index",
        listed=True,
    ),
    Endpoint(
        "GET",
        "/v1/index/{id}",
        "get_job",
        "Tell the state and the progress of a job.",
        get_job,
        _JOB,
        scope=ADMIN,
        owner=True,
        tag="index",
    ),
    Endpoint(
        "DELETE",
        "/v1/index/{id}",
        "cancel_job",
        "Cancel a job; what it has committed stays.",
        cancel_job,
        _JOB,
        scope=ADMIN,
        owner=True,
        tag="index",
    ),
)
