"""One call of a client: what it sends, how its answer is read; and the parts of requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from quire.core import conditions
from quire.core.deserialize import from_plain, written_from_plain
from quire.core.serialize import to_plain
from quire.core.types import (
    NO_FILTER,
    Filter,
    Options,
    Viewer,
    Written,
)
from quire.core.types.options import FILTERS
from quire.errors import InputError

Result = TypeVar("Result")
Receipt = Mapping[str, Any] | str
"""A receipt, or the id of one that the service keeps."""
ViewerLike = Viewer | str | None


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    """One request, and how its answer becomes a result."""

    method: str
    path: str
    read: Callable[[Any], Result]
    body: Mapping[str, Any] | None = None
    lines: tuple[bytes, ...] | None = None
    """A body of JSON lines, instead of one object."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    writes: bool = False
    """Whether it gets a key, so that it can be repeated."""
    paged: bool = False
    """Whether the answer is a page, to be followed by others; all items are read."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds to wait before the next call of several."""

    seconds: float


Steps = Generator[Call[Any] | Pause, Any, Result]
"""Several calls that make one result: each is yielded, and its result or error comes back."""


def post(
    path: str,
    read: Callable[[Any], Result],
    viewer: ViewerLike = None,
    /,
    *,
    verb: str = "POST",
    writes: bool = False,
    **members: Any,
) -> Call[Result]:
    """Return a call that sends members in its body; those without a value are left out."""
    body = {**given(members), **viewer_member(members.get("viewer", viewer))}
    return Call(verb, path, read, body=body, writes=writes)


def with_members(call: Call[Result], **members: Any) -> Call[Result]:
    """Return a call whose body has these members, also those that are None."""
    body = {**(call.body or {}), **members}
    return Call(call.method, call.path, call.read, body=body, writes=call.writes)


def send_lines(
    path: str,
    read: Callable[[Any], Result],
    text: str,
    options: Mapping[str, Any],
    viewer: ViewerLike,
) -> Call[Result]:
    """Return a call that writes what JSON lines say."""
    parameters = {**given(options), **viewer_parameter(viewer)}
    lines = tuple(text.encode("utf-8", "surrogatepass").split(b"\n"))
    return Call("POST", path, read, lines=lines, parameters=parameters, writes=True)


def list_of(path: str, kind: type[Result], parameters: Mapping[str, Any]) -> Call[list[Result]]:
    """Return a call whose answer is a list, read page by page."""

    def read(items: Any) -> list[Result]:
        return [from_plain(kind, item) for item in items]

    return Call("GET", path, read, parameters=given(parameters), paged=True)


def read_as(kind: type[Result]) -> Callable[[Any], Result]:
    """Return a function that reads an answer as a type of result."""

    def read(data: Any) -> Result:
        return from_plain(kind, data)

    return read


def read_written(kind: type[Result]) -> Callable[[Any], Written[Result]]:
    """Return a function that reads the answer to a write."""

    def read(data: Any) -> Written[Result]:
        return written_from_plain(kind, data)

    return read


def given(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def context_members(query: str, options: Options) -> dict[str, Any]:
    """Return the members of a request for a context."""
    sent = sent_filters(dict(options))
    if not isinstance(sent.get("recipe", ""), str):
        raise InputError(
            "a service takes recipes by name", field="recipe", hint="name a shipped recipe"
        )
    return {"query": query, **to_plain(sent), "viewer": sent.get("viewer")}


def sent_filters(options: dict[str, Any]) -> dict[str, Any]:
    """Return options with the filters one by one, and a condition on metadata as a text."""
    where = options.pop("where", NO_FILTER)
    filters = (
        filter_members(where) if isinstance(where, Filter) else {"where": conditions.read(where)}
    )
    return {**options, **filters}


def filter_members(where: Filter) -> dict[str, Any]:
    """Return the members of a filter that differ from those of none."""
    changed = {name: getattr(where, name) for name in FILTERS if hasattr(where, name)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in changed.items()
        if value != getattr(NO_FILTER, name)
    }


def viewer_member(viewer: ViewerLike) -> dict[str, Any]:
    """Return the viewer as a member of a body; nothing for the owner."""
    if viewer is None or (isinstance(viewer, Viewer) and viewer.owner):
        return {}
    if isinstance(viewer, str):
        return {"viewer": viewer}
    sent = {"name": viewer.name, "groups": list(viewer.groups), "links": list(viewer.links)}
    return {"viewer": sent}


def viewer_parameter(viewer: ViewerLike) -> dict[str, Any]:
    """Return the viewer as a parameter of a query string, which has a name alone."""
    sent = viewer_member(viewer).get("viewer")
    if isinstance(sent, dict):
        if sent["groups"] or sent["links"]:
            raise InputError(
                "groups and links of a viewer are sent with a token alone",
                field="viewer",
                hint="use a token of that viewer",
            )
        sent = sent["name"]
    return {} if sent is None else {"viewer": sent}


def receipt_member(receipt: Receipt) -> Any:
    """Return a receipt as it is sent: its id, or all of it."""
    return receipt if isinstance(receipt, str) else to_plain(receipt)


def encode_body(body: Any) -> bytes:
    """Return a body as JSON."""
    try:
        return json.dumps(body).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"an option cannot be sent: {error}") from error


def escape_id(text: str) -> str:
    """Return an id as a part of a path."""
    if not text or text in {".", ".."}:
        raise InputError("an id is needed", value=text)
    return quote(text, safe="")
