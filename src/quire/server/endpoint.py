"""What an endpoint is, who calls it, and what a call has at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quire.config.access_tokens import ADMIN, READ, SCOPES, WRITE
from quire.core import hashing
from quire.core.json_schema import Schema
from quire.core.types import Viewer
from quire.errors import QuireError

if TYPE_CHECKING:
    from quire.core.types import Context
    from quire.engine import Quire
    from quire.server.jobs import Jobs
    from quire.server.journal import Journal

Arguments = dict[str, Any]

__all__ = ["ADMIN", "READ", "SCOPES", "WRITE", "Arguments", "Call", "Caller", "Endpoint"]


class NotAllowedError(QuireError):
    """The token does not allow it."""


class NotFoundError(QuireError):
    """There is nothing of that name that the caller may know of."""


class ConflictError(QuireError):
    """Something else is under way, or was done under the same key."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose token a request came with."""

    token: str
    """The id of the token; empty without one."""
    viewer: Viewer
    scope: str
    chat: bool = False
    """Whether chats may be passed on, with the owner's key at the endpoint."""

    @property
    def key(self) -> str:
        """What is kept for a viewer is found by this alone."""
        return viewer_key(self.viewer)

    def allows(self, scope: str) -> bool:
        """Tell whether the caller has a scope."""
        return SCOPES.index(scope) <= SCOPES.index(self.scope)


def viewer_key(viewer: Viewer) -> str:
    """Return a hash that two viewers share only if they may read the same."""
    names = tuple(sorted(viewer.principals))
    return hashing.identifier("viewer", int(viewer.owner), viewer.name, names)


@dataclass(frozen=True, slots=True)
class Call:
    """One request to an endpoint, checked, with what it needs to be answered."""

    quire: Quire
    journal: Journal
    jobs: Jobs
    caller: Caller
    viewer: Viewer
    """Who reads and writes: the caller, or another that the owner reads as."""
    arguments: Arguments
    """Of the path, the query string and the body."""
    at: int
    """When it was first asked, in seconds since 1970: a repeated write gets the same moment."""

    def take(self, *names: str) -> Arguments:
        """Return those of some arguments that were sent."""
        return {name: self.arguments[name] for name in names if name in self.arguments}

    def place(self, path: str) -> Path:
        """Return a place of the project on disk, by its path from the project's root."""
        parts = path.split("/")
        if path.startswith("/") or ".." in parts or "\0" in path:
            raise NotFoundError(
                f"{path!r} is not a path in the project",
                field="path",
                value=path,
                hint="name a file or folder from the project's root",
            )
        return self.quire.root() / path

    def keep(self, context: Context) -> None:
        """Keep the receipt of a context, so that its viewer can fetch it."""
        chunks = {decision.chunk_id for decision in context.decisions if decision.chunk_id}
        chunks |= {source.chunk_id for source in context.sources}
        self.journal.keep_receipt(viewer_key(self.viewer), context, sorted(chunks), self.at)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method and a path, what may be sent, and what comes back."""

    method: str
    path: str
    name: str
    """The operation's id in the OpenAPI document."""
    summary: str
    run: Callable[[Call], Any]
    """Answers with a value that the one serializer knows."""
    result: Schema
    scope: str = READ
    owner: bool = False
    """Whether only the owner may: it tells of files on disk, or changes the store for all."""
    parameters: Mapping[str, Schema] = field(default_factory=dict)
    """Of the query string."""
    body: Schema | None = None
    lines: bool = False
    """Whether its body is a list, or JSON lines: the argument `lines` is the text of the lines."""
    required: tuple[str, ...] = ()
    example: Any = None
    """A body that works on any store."""
    tag: str = "contexts"
    status: int = 200
    tagged: bool = False
    """Whether its answer depends on nothing but what the viewer may read: it has an `ETag`."""
    hashed: bool = False
    """Whether its answer has an `ETag` of its own content, which depends on more than that."""
    listed: bool = False
    """Whether its result is a list that is sent in pages."""

    @property
    def writes(self) -> bool:
        """Whether it takes an `Idempotency-Key`."""
        return self.scope != READ and self.method != "GET"
