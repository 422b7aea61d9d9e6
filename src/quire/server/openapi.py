"""The OpenAPI document, made from the table of endpoints."""

from __future__ import annotations

import re
from typing import Any

from quire import __version__
from quire.core.json_schema import Schema
from quire.server import schemas
from quire.server.arguments import LINES, query_parameters
from quire.server.endpoint import ADMIN, Endpoint
from quire.server.problems import MEDIA_TYPE
from quire.server.table import ENDPOINTS

_PARAMETER = re.compile(r"\{([a-z_]+)\}")
_DESCRIPTION = (
    "Contexts that fit an exact token budget, contain only what the token's viewer may read, and "
    "come with a receipt. Errors are problems (RFC 9457)."
)
_STATUSES = {
    400: "The request is wrong; `field`, `value`, `allowed` and `hint` say how.",
    401: "There is no valid token.",
    403: "The token does not allow it.",
    404: "There is nothing of that name that the viewer may know of.",
    409: "Something else is under way.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    422: "Nothing fits the budget, or a context could not be assembled.",
    429: "Too many requests with this token; see `Retry-After`.",
    500: "The service failed.",
    502: "An endpoint that the service asks failed.",
    503: "The service is busy; see `Retry-After`.",
    504: "It took too long.",
}
CONTENT_JSON = "application/json"


def document() -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    paths["/v1/index/{id}/events"] = {"get": _events()}
    paths["/v1/chat/completions"] = {"post": _chat()}
    paths["/v1/models"] = {"get": _models()}
    paths["/metrics"] = {"get": _plain("metrics", "Metrics for Prometheus (scope `admin`).")}
    paths["/healthz"] = {"get": _open("healthz", "Tell that the process runs.")}
    paths["/readyz"] = {"get": _open("readyz", "Tell that the store can be read.")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Quire", "version": __version__, "description": _DESCRIPTION},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Problem": schemas.PROBLEM},
        },
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    parameters = [
        _parameter(name, "path", {"type": "string", "minLength": 1, "maxLength": 200})
        for name in _PARAMETER.findall(endpoint.path)
    ]
    parameters += [
        _parameter(name, "query", schema, required=name in endpoint.required)
        for name, schema in query_parameters(endpoint).items()
    ]
    if endpoint.writes:
        key = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"}
        described = "A repeated request with the same key is not executed again."
        parameters.append(
            _parameter("Idempotency-Key", "header", {**key, "description": described})
        )
    if endpoint.tagged or endpoint.hashed:
        described = "`ETag` of an earlier answer; 304 if it is still the answer."
        parameters.append(
            _parameter("If-None-Match", "header", {"type": "string", "description": described})
        )
    content: dict[str, Any] = {CONTENT_JSON: {"schema": endpoint.result}}
    if endpoint.listed:
        content[LINES] = {"schema": {"type": "string"}}
    responses: dict[str, Any] = {
        str(endpoint.status): {"description": "The result.", "content": content}
    }
    if endpoint.tagged or endpoint.hashed:
        responses["304"] = {"description": "Nothing has changed."}
    operation = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "tags": [endpoint.tag],
        "description": _who(endpoint),
        "parameters": parameters,
        "responses": {**responses, **_problems()},
    }
    if endpoint.body is not None:
        media: dict[str, Any] = {"schema": endpoint.body}
        if endpoint.example is not None:
            media["example"] = endpoint.example
        sent = {CONTENT_JSON: media}
        if endpoint.lines:
            sent[LINES] = {"schema": {"type": "string"}}
        operation["requestBody"] = {"required": True, "content": sent}
    return operation


def _who(endpoint: Endpoint) -> str:
    owner = ", of an owner's token" if endpoint.owner else ""
    return f"Needs the scope `{endpoint.scope}`{owner}."


def _parameter(name: str, place: str, schema: Schema, *, required: bool = False) -> dict[str, Any]:
    described = schema.get("description", "")
    plain = {key: value for key, value in schema.items() if key != "description"}
    parameter = {
        "name": name,
        "in": place,
        "required": required or place == "path",
        "schema": plain,
    }
    return {**parameter, "description": described} if described else parameter


def _problems() -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        str(status): {"description": text, "content": {MEDIA_TYPE: {"schema": schema}}}
        for status, text in _STATUSES.items()
    }


_EVENT = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
}
"""One of the server-sent events."""


def _events() -> dict[str, Any]:
    return {
        "operationId": "job_events",
        "summary": "Follow a job: an event for each progress, then `finished`.",
        "tags": ["index"],
        "description": f"Needs the scope `{ADMIN}`, of an owner's token.",
        "parameters": [_parameter("id", "path", {"type": "string"})],
        "responses": {
            "200": {
                "description": "Server-sent events; the data of each is the job.",
                "content": {"text/event-stream": {"schema": _EVENT}},
            },
            **_problems(),
        },
    }


def _chat() -> dict[str, Any]:
    message = {
        "type": "object",
        "properties": {"role": {"type": "string"}},
        "required": ["role"],
    }
    body = {
        "type": "object",
        "properties": {
            "model": {"type": "string"},
            "messages": {"type": "array", "items": message, "minItems": 1},
            "stream": {"type": "boolean"},
            "quire": {
                "type": "object",
                "description": "Options of the context, as in /v1/assemble but for the query.",
            },
        },
        "required": ["messages"],
    }
    return {
        "operationId": "chat_completions",
        "summary": "Add a context to a chat, and pass it on to the configured endpoint.",
        "tags": ["chat"],
        "description": "Needs a token that was created with `--chat`. `X-Quire-Receipt` is the id "
        "of the receipt.",
        "requestBody": {"required": True, "content": {CONTENT_JSON: {"schema": body}}},
        "responses": _forwarded("text/event-stream"),
    }


def _models() -> dict[str, Any]:
    return {
        "operationId": "list_models",
        "summary": "List the models of the endpoint that chats are passed on to, as it says.",
        "tags": ["chat"],
        "description": "Needs a token that was created with `--chat`.",
        "responses": _forwarded(),
    }


def _forwarded(*streamed: str) -> dict[str, Any]:
    parts = {name: {"schema": _EVENT} for name in streamed}
    return {
        "200": {
            "description": "What the endpoint answered.",
            "content": {CONTENT_JSON: {"schema": {"type": "object"}}, **parts},
        },
        **_problems(),
        "501": {
            "description": "No endpoint is configured.",
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        },
    }


def _plain(name: str, summary: str) -> dict[str, Any]:
    content = {"text/plain": {"schema": {"type": "string"}}}
    return {
        "operationId": name,
        "summary": summary,
        "tags": ["service"],
        "responses": {"200": {"description": "Metrics.", "content": content}, **_problems()},
    }


def _open(name: str, summary: str) -> dict[str, Any]:
    state = {"type": "object", "properties": {"status": {"type": "string"}}}
    return {
        "operationId": name,
        "summary": summary,
        "tags": ["service"],
        "security": [],
        "responses": {
            "200": {"description": "It does.", "content": {CONTENT_JSON: {"schema": state}}},
            **_problems(),
        },
    }
