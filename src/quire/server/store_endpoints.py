"""Endpoints of the store as a whole: status, roots, notes and the map of the code."""

from __future__ import annotations

from typing import Any

from quire.core.json_schema import number, text
from quire.core.types import Roots
from quire.pipeline.codemap import CodeMap
from quire.server import schemas
from quire.server.endpoint import Call, Endpoint
from quire.server.schemas import PATHS, result


def status(call: Call) -> Any:
    """Tell what the store holds, as far as the viewer may know."""
    return call.quire.status(call.viewer)


def roots(call: Call) -> Any:
    """Return the hashes of all that the viewer may read."""
    return call.quire.roots(call.viewer)


def notes(call: Call) -> Any:
    """Tell what whoever runs the service should know."""
    return {"notes": call.quire.notes}


def map_code(call: Call) -> Any:
    """Map the definitions below some paths."""
    paths = [call.place(path) for path in call.arguments.get("path", ())]
    return call.quire.map(paths, **call.take("budget", "model"), viewer=call.viewer)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/status",
        "status",
        "Tell what the store holds, as far as the viewer may know.",
        status,
        schemas.STATUS,
        tag="store",
        hashed=True,
    ),
    Endpoint(
        "GET",
        "/v1/roots",
        "roots",
        "Return the hashes of everything that the viewer may read, as the store is now.",
        roots,
        schemas.of_type(Roots),
        tag="store",
        tagged=True,
    ),
    Endpoint(
        "GET",
        "/v1/notes",
        "notes",
        "Tell what whoever runs the service should know of its settings and store.",
        notes,
        result(notes=schemas.NOTES),
        owner=True,
        tag="store",
    ),
    Endpoint(
        "GET",
        "/v1/map",
        "map_code",
        "Map the most used definitions below some paths, or of the whole project.",
        map_code,
        schemas.of_type(CodeMap),
        parameters={
            "path": PATHS,
            "budget": number("Tokens of the map.", 1, schemas.MAX_INTEGER),
            "model": text("Model to count tokens for.", maxLength=200),
        },
        tag="store",
        tagged=True,
    ),
)
