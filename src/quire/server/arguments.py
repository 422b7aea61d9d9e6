"""The arguments of a request: from its path, query string and body, checked against the schemas."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from jsonschema.exceptions import best_match
from jsonschema.validators import Draft202012Validator

from quire.core.json_schema import Schema, record
from quire.core.types import Viewer
from quire.errors import InputError, unknown
from quire.indexing.project import viewer_name
from quire.server import schemas
from quire.server.endpoint import ADMIN, Arguments, Caller, Endpoint, NotAllowedError
from quire.server.gate import read_json

MAX_PROBLEM_LENGTH = 500
JSON = "application/json"
LINES = "application/x-ndjson"
PAGE = 100
"""Items of a page if the request does not say."""
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def read_arguments(
    endpoint: Endpoint,
    path: Mapping[str, str],
    query: Iterable[tuple[str, str]],
    media_type: str,
    data: bytes,
) -> Arguments:
    """Return the arguments of a request; raise `InputError` for the first that is wrong."""
    arguments = _read_query(endpoint, query)
    if endpoint.lines:
        arguments["lines"] = _read_lines(media_type, data)
    elif endpoint.body is not None:
        arguments |= _read_body(endpoint, media_type, data)
    elif data.strip():
        raise InputError(f"{endpoint.method} {endpoint.path} takes no body", hint="send none")
    for name, value in path.items():
        if not value.isprintable() or len(value) > 200:
            raise InputError("not an id", field=name, value=value[:200])
        arguments[name] = value
    return arguments


def query_parameters(endpoint: Endpoint) -> dict[str, Schema]:
    """Return the parameters of an endpoint's query string."""
    paged = {"limit": schemas.LIMIT, "cursor": schemas.CURSOR} if endpoint.listed else {}
    in_body = endpoint.body is not None and not endpoint.lines
    viewer = {} if in_body else {"viewer": schemas.VIEWER_NAME}
    return {**endpoint.parameters, **paged, **viewer}


def take_viewer(caller: Caller, arguments: Arguments) -> Viewer:
    """Take the viewer out of the arguments: the caller, or whom the owner reads as."""
    if "viewer" not in arguments:
        return caller.viewer
    if not caller.viewer.owner or not caller.allows(ADMIN):
        raise NotAllowedError(
            "only an owner's token with the scope `admin` may read as another viewer",
            field="viewer",
            hint="leave out the viewer: the token says who reads",
        )
    named = arguments.pop("viewer")
    given = {"name": named} if isinstance(named, str) else named
    groups, links = tuple(given.get("groups", ())), tuple(given.get("links", ()))
    return Viewer(viewer_name(given["name"]), groups, links=links)


def _read_query(endpoint: Endpoint, query: Iterable[tuple[str, str]]) -> Arguments:
    known = query_parameters(endpoint)
    sent: dict[str, list[str]] = {}
    for name, value in query:
        if name not in known:
            raise unknown("parameter", name, known, field=name)
        sent.setdefault(name, []).append(value)
    arguments = {name: _parse(name, known[name], values) for name, values in sent.items()}
    _check(_query_validator(endpoint.name, _key(endpoint)), arguments, "the query string")
    return arguments


def _key(endpoint: Endpoint) -> str:
    parameters = query_parameters(endpoint)
    return json.dumps([parameters, list(endpoint.required)])


@cache
def _query_validator(_: str, key: str) -> Draft202012Validator:
    parameters, required = json.loads(key)
    return _validator(json.dumps(record(parameters, *required)))


def _parse(name: str, schema: Schema, values: Sequence[str]) -> Any:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "array" in kinds:
        return list(values)
    if len(values) > 1:
        raise InputError("is given more than once", field=name, value=values[1])
    value = values[0]
    if "boolean" in kinds:
        if value.lower() not in _BOOLEANS:
            raise InputError(
                "expected true or false", field=name, value=value, allowed=("true", "false")
            )
        return _BOOLEANS[value.lower()]
    digits = value.removeprefix("-")
    if "integer" in kinds and digits.isascii() and digits.isdigit() and len(digits) <= 18:
        return int(value)
    return value


def _read_body(endpoint: Endpoint, media_type: str, data: bytes) -> Arguments:
    parsed = read_object(media_type, data)
    check_body(endpoint.body or {}, parsed)
    return parsed


def _read_lines(media_type: str, data: bytes) -> str:
    """Return the JSON lines of a body, which may be a list as well."""
    if _media_type(media_type) != LINES:
        items = _read_json(media_type, data, (JSON, LINES))
        if not isinstance(items, list):
            raise InputError("the body must be a list", hint=f"send […], or lines as {LINES}")
        return "\n".join(json.dumps(item) for item in items)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"the body is not UTF-8: {error}"[:MAX_PROBLEM_LENGTH]) from error


def read_object(media_type: str, data: bytes) -> Arguments:
    """Parse a body that must be a JSON object."""
    parsed = _read_json(media_type, data, (JSON,))
    if not isinstance(parsed, dict):
        raise InputError("the body must be an object", hint="send {…}")
    return parsed


def _read_json(media_type: str, data: bytes, allowed: tuple[str, ...]) -> Any:
    if _media_type(media_type) != JSON:
        raise UnsupportedMediaError(
            f"expected a body of {' or '.join(allowed)}, not {media_type[:100]!r}",
            field="Content-Type",
            value=media_type[:100],
            allowed=allowed,
        )
    return read_value(data, "the body")


def read_value(data: bytes, whole: str) -> Any:
    """Parse JSON; raise `InputError` for what is none, or no text can carry."""
    try:
        data.decode()
        parsed = read_json(data)
        _refuse_lone_surrogates(parsed)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{whole} is not JSON: {error}"[:MAX_PROBLEM_LENGTH]) from error
    return parsed


def _media_type(value: str) -> str:
    return value.partition(";")[0].strip().lower()


def check_body(schema: Schema, body: Arguments) -> None:
    """Check a body against a schema; raise `InputError` for the first problem."""
    _check(_validator(json.dumps(schema)), body, "the body")


class UnsupportedMediaError(InputError):
    """The body is of a type that the endpoint does not read."""


def _refuse_lone_surrogates(value: Any) -> None:
    """Raise UnicodeEncodeError for a text that no encoding of Unicode can carry."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, list):
        for item in value:
            _refuse_lone_surrogates(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            name.encode()
            _refuse_lone_surrogates(item)


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))


def _check(validator: Draft202012Validator, value: Any, whole: str) -> None:
    try:
        problem = best_match(validator.iter_errors(value))
    except RecursionError:  # the value is quoted in the message, however deep it is
        raise InputError("nested too deep", place=whole) from None
    if problem is None:
        return
    field = ".".join(str(part) for part in problem.absolute_path)
    message = problem.message
    allowed: tuple[str, ...] = ()
    if problem.validator == "additionalProperties" and isinstance(problem.instance, dict):
        names = tuple(problem.schema.get("properties", ()))
        extra = next((name for name in problem.instance if name not in names), "")
        raise unknown("member", extra[:100], names, field=field, place=whole)
    if problem.validator == "enum":
        allowed = tuple(str(each) for each in problem.validator_value)
        message = f"unknown value {str(problem.instance)[:100]!r}"
    if len(message) >= MAX_PROBLEM_LENGTH:
        message = f"{message[:MAX_PROBLEM_LENGTH]}…"
    raise InputError(
        message,
        field=field,
        value=problem.instance if field else None,
        allowed=allowed,
        place="" if field else whole,
        hint="" if allowed else "see /openapi.json",
    )
