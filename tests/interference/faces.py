"""Everything that a viewer can get out of a project: by program, by command, by MCP.

Each face is a question; its answer is text, an error included. Two worlds that differ only in what
the viewer may not read must give the same answers, to the byte.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from quire import ContextRequest, Focus, Quire, Viewer
from quire.core.serialize import to_plain
from quire.errors import QuireError
from quire.mcp import resources
from quire.mcp.session import Session
from quire.mcp.tools import BY_NAME
from tests.conftest import Tree

NOW = 1_700_000_000
QUERIES = ("where is the plan", "harbour pilot tide", "only alice knows the vault")
Face = tuple[str, Callable[[], Any]]


def plain(value: Any) -> Any:
    """Return everything in a value, fields that JSON results leave out included."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: plain(getattr(value, field.name)) for field in fields}
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [plain(item) for item in value]
    return value.hex() if isinstance(value, bytes) else value


def answer(ask: Callable[[], Any]) -> str:
    """Return an answer as text; an error is an answer, too."""
    try:
        return json.dumps(plain(ask()), ensure_ascii=False, sort_keys=True, default=str)
    except QuireError as error:
        return f"{type(error).__name__}: {error} {error.value!r} {error.allowed!r}"


def by_program(opened: Quire, viewer: Viewer, ids: Sequence[str]) -> Iterator[Face]:
    """Ask all that can be asked of an open store; `ids` are of what exists, or does not."""
    yield "status", lambda: opened.status(viewer)
    yield "records", lambda: opened.documents.list(viewer=viewer)
    yield "facets", lambda: opened.documents.facets(viewer=viewer)
    for path in ("put/0", "put/1", "put/2", "put/3", "@alice/put/1"):
        yield f"document {path}", partial(opened.documents.get, path, viewer=viewer)
    for where in ('team = "north"', "has(secret_key) or n > 0", 'not team = "west"'):
        yield f"where {where}", partial(opened.search, QUERIES[0], where=where, viewer=viewer)
        yield f"listed {where}", partial(opened.documents.list, where, viewer=viewer)
    yield "chunks", lambda: opened.documents.chunks(viewer=viewer)
    yield "memories", lambda: opened.memories.list(history=True, viewer=viewer)
    yield (
        "exported memories",
        lambda: [to_plain(memory) for memory in opened.memories.export(viewer=viewer)],
    )
    yield "experiences", lambda: opened.experiences.list(viewer=viewer)
    yield "principles", lambda: opened.principles.list(viewer=viewer)
    yield "feedback", lambda: opened.feedback.list(viewer=viewer)
    yield "blocks", lambda: opened.blocks.tree(viewer=viewer)
    yield "exported blocks", lambda: opened.blocks.export(viewer=viewer)
    yield "map", lambda: opened.map(viewer=viewer)
    yield "events", lambda: _view(opened, viewer, lambda view: view.events())
    yield "latest", lambda: _view(opened, viewer, lambda view: view.latest_activity())
    for query in QUERIES:
        yield f"search {query}", partial(opened.search, query, viewer=viewer)
    for recipe in ("documents", "agent"):
        ask = partial(opened.explain, QUERIES[0], viewer=viewer, recipe=recipe, budget=2000)
        yield f"assemble {recipe}", ask
    yield "why not", lambda: opened.why_not(QUERIES[0], "docs/tide.md", viewer=viewer)
    for name in ids:
        yield f"text {name}", partial(opened.documents.text, name, viewer=viewer)
        yield f"prove {name}", partial(opened.documents.prove, name, viewer=viewer)
        yield f"memory {name}", partial(opened.memories.get, name, viewer=viewer)
        yield f"block {name}", partial(opened.blocks.get, name, viewer=viewer)
        yield f"under {name}", partial(opened.blocks.tree, name, viewer=viewer)
        yield f"links {name}", partial(_links, opened, viewer, name)
        request = ContextRequest(QUERIES[0], viewer, focus=Focus(block_id=name), as_of=NOW)
        yield f"focus {name}", partial(opened.workspace.build, request)


def _view(opened: Quire, viewer: Viewer, ask: Callable[[Any], Any]) -> Any:
    with opened.store.view(viewer) as view:
        return ask(view)


def _links(opened: Quire, viewer: Viewer, name: str) -> Any:
    return _view(opened, viewer, lambda view: [view.links([name]), view.links([name], back=True)])


def by_command(tree: Tree, viewer: str) -> Iterator[Face]:
    """Ask by the command line."""
    commands = (
        ("status",),
        ("status", "--fresh"),
        ("status", "--facets"),
        ("document", "list"),
        ("search", QUERIES[0]),
        ("memory", "list"),
        ("experience", "list"),
        ("block", "tree"),
        ("why-not", QUERIES[0], "hidden/plan.md"),
    )
    for command in commands:
        yield " ".join(command), partial(_call, tree, *command, "--viewer", viewer)


def _call(tree: Tree, *arguments: str) -> list[str]:
    done = tree.call(*arguments, "--json")
    return [done.stdout, done.stderr]


def by_protocol(tree: Tree, viewer: str, ids: Sequence[str]) -> Iterator[Face]:
    """Ask by the tools and the resources of the MCP server."""
    session = Session(str(tree.store), None, viewer)

    def call(name: str, **arguments: Any) -> Any:
        return BY_NAME[name].run(session, dict(arguments), lambda _: None)

    yield "tool assemble", lambda: call("assemble_context", query=QUERIES[0])
    yield "tool search", lambda: call("search", query=QUERIES[1])
    hidden = str(tree.root / "hidden/plan.md")
    yield "tool explain", lambda: call("explain", query=QUERIES[2], path=hidden)
    yield "tool experience", lambda: call("experience", operation="list")
    yield "resources", lambda: resources.list_resources(session)
    for name in ids:
        uri = resources.source_uri(name)
        yield f"resource {name}", partial(resources.read_resource, session, uri)
    yield "closed", session.close


def look(tree: Tree, opened: Quire, viewer: str, ids: Sequence[str]) -> dict[str, str]:
    """Return everything that a viewer gets, by the name of the question."""
    faces = [
        *by_program(opened, Viewer(viewer), ids),
        *by_command(tree, viewer),
        *by_protocol(tree, viewer, ids[:6]),
    ]
    root = str(tree.root)
    return {name: answer(ask).replace(root, "ROOT") for name, ask in faces}
