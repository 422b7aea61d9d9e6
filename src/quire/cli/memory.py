"""How are memories kept on the command line?"""

from __future__ import annotations

from typing import Any

import click

from quire.cli import output
from quire.cli.options import (
    CONTEXT,
    asked,
    common,
    content_of,
    in_file,
    opened,
    sharing,
    viewed,
    writing,
)
from quire.core import serialize
from quire.core.types import Memory, Written
from quire.system.clock import now


@click.command()
@click.argument("text")
@click.option("--category", help="fact (default), preference, decision, error, or one of your own.")
@click.option("--importance", type=float, help="From 0 to 1 (default: 0.5).")
@click.option("--supersedes", metavar="ID", help="The memory that is no longer current.")
@sharing
@writing
@common
def remember(
    *,
    text: str,
    category: str | None,
    importance: float | None,
    supersedes: str | None,
    share: tuple[str, ...],
    allow_secret: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Remember TEXT (`-`: standard input): a fact, a preference, a decision, an error."""
    given = _given(category=category, importance=importance)
    with opened(store, space, create=space is None) as quire:
        written = quire.memories.add(
            asked(text),
            at=now(),
            supersedes=supersedes,
            share=share,
            viewer=viewer,
            allow_secret=allow_secret,
            **given,
        )
    _written(written, "remembered", as_json=as_json)


@click.group(context_settings=CONTEXT)
def memory() -> None:
    """List, show, edit, forget, export and import what was remembered.

    Only its author and the owner may change a memory.
    """


@memory.command("list")
@click.option("--category", help="Only memories of this category.")
@click.option("--history", is_flag=True, help="Also those that were superseded.")
@viewed
@common
def list_memories(
    *,
    category: str | None,
    history: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """List the memories that are current, the oldest first."""
    with opened(store, space) as quire:
        found = quire.memories.list(category=category, history=history, viewer=viewer)
    if as_json:
        click.echo(serialize.json_text({"memories": found}))
        return
    for one in found:
        old = " (superseded)" if one.superseded_by else ""
        output.say(f"{one.id}  {one.category} {one.importance / 1000}{old}  {_line(one)}")
    if not found:
        output.note("nothing is remembered")


@memory.command()
@click.argument("name", metavar="ID")
@viewed
@common
def show(
    *, name: str, viewer: str | None, store: str | None, space: str | None, as_json: bool
) -> None:
    """Show one memory with all that is known of it."""
    with opened(store, space) as quire:
        found = quire.memories.get(name, viewer=viewer)
    if as_json:
        click.echo(serialize.json_text(found))
        return
    content = serialize.to_plain(found)
    text = content.pop("content")
    output.pairs({key: value for key, value in content.items() if value is not None})
    for line in str(text).splitlines():
        output.say(f"| {line}")


@memory.command()
@click.argument("name", metavar="ID")
@click.argument("text", required=False)
@click.option("--category", help="Another category.")
@click.option("--importance", type=float, help="Another importance, from 0 to 1.")
@writing
@common
def edit(
    *,
    name: str,
    text: str | None,
    category: str | None,
    importance: float | None,
    allow_secret: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Correct a memory: another TEXT (`-`: standard input), category or importance."""
    with opened(store, space) as quire:
        written = quire.memories.edit(
            name,
            at=now(),
            content=None if text is None else asked(text),
            category=category,
            importance=importance,
            viewer=viewer,
            allow_secret=allow_secret,
        )
    _written(written, "edited", as_json=as_json)


@memory.command()
@click.argument("name", metavar="ID")
@viewed
@common
def forget(
    *, name: str, viewer: str | None, store: str | None, space: str | None, as_json: bool
) -> None:
    """Forget a memory; an older one that only it superseded is current again.

    `quire purge .quire/memory/ID` forgets it so that no byte of it is left in the file.
    """
    with opened(store, space) as quire:
        written = quire.memories.forget(name, viewer=viewer)
    _written(written, "forgot", as_json=as_json)


@memory.command()
@viewed
@common
def export(*, viewer: str | None, store: str | None, space: str | None, as_json: bool) -> None:
    """Print all memories, history included, as JSON lines that `import` takes in."""
    with opened(store, space) as quire:
        found = quire.memories.export(viewer=viewer)
    if as_json:
        click.echo(serialize.json_text({"memories": found}))
        return
    for one in found:
        click.echo(serialize.json_line(one))


@memory.command("import")
@click.argument("file")
@sharing
@writing
@common
def import_(
    *,
    file: str,
    share: tuple[str, ...],
    allow_secret: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Take in memories from FILE (`-`: standard input), JSON lines as `export` prints them.

    Only `content` must be there. All lines are taken in, or none. The owner keeps ids, authors and
    access as they are; anyone else becomes the author.
    """
    text = content_of(file)
    with opened(store, space, create=space is None) as quire, in_file(file):
        result = quire.memories.import_lines(
            text, at=now(), share=share, viewer=viewer, allow_secret=allow_secret
        )
    output.imported(result, "memories", as_json=as_json)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _line(one: Memory) -> str:
    return " ".join(one.content.split())


def _written(written: Written[Memory], deed: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(serialize.json_text(written))
        return
    output.notes(written.notes)
    output.say(f"{deed} {written.value.id}")
