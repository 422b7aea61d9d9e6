"""Commands about memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quire.cli import output
from quire.cli.options import (
    CONTEXT,
    Common,
    drop_none,
    id_argument,
    in_file,
    read_argument,
    read_file,
    with_private_share,
    with_viewer,
    with_write_options,
)
from quire.cli.results import print_import_result
from quire.system.clock import now

if TYPE_CHECKING:
    from quire.core.types import Memory


@click.command()
@click.argument("text")
@click.option("--category", help="fact (default), preference, decision, error, or your own.")
@click.option("--importance", type=float, help="From 0 to 1 (default: 0.5).")
@click.option("--supersedes", metavar="ID", help="Memory that this one replaces.")
@with_private_share
@with_write_options
def remember(
    options: Common,
    *,
    text: str,
    category: str | None,
    importance: float | None,
    supersedes: str | None,
    share: tuple[str, ...],
    allow_secret: bool,
) -> None:
    """Add a memory: a fact, preference, decision or error.

    Only you can read it, unless you share it. What you remembered before is not kept twice: its
    count and its importance rise. TEXT `-` reads standard input.
    """
    with options.open_to_write() as quire:
        written = quire.memories.add(
            read_argument(text),
            at=now(),
            supersedes=supersedes,
            share=share,
            viewer=options.viewer,
            allow_secret=allow_secret,
            **drop_none(category=category, importance=importance),
        )
    output.print_written(written, "remembered", as_json=options.as_json)


@click.group(context_settings=CONTEXT)
def memory() -> None:
    """Add, list, show, edit, forget, export and import memories.

    Only its author and the owner can change a memory.
    """


memory.add_command(remember, "add")


@memory.command("list")
@click.option("--category", help="Only memories of this category.")
@click.option("--history", is_flag=True, help="Include superseded memories.")
@with_viewer
def list_memories(options: Common, *, category: str | None, history: bool) -> None:
    """List the current memories, oldest first."""
    with options.open() as quire:
        memories = quire.memories.list(category=category, history=history, viewer=options.viewer)
    output.print_list("memories", memories, _line, "no memories", as_json=options.as_json)


@memory.command()
@id_argument
@with_viewer
def show(options: Common, *, name: str) -> None:
    """Show a memory."""
    with options.open() as quire:
        found = quire.memories.get(name, viewer=options.viewer)
    output.print_record(found, "content", as_json=options.as_json)


@memory.command()
@id_argument
@click.argument("text", required=False)
@click.option("--category", help="New category.")
@click.option("--importance", type=float, help="New importance, from 0 to 1.")
@with_write_options
def edit(
    options: Common,
    *,
    name: str,
    text: str | None,
    category: str | None,
    importance: float | None,
    allow_secret: bool,
) -> None:
    """Change the text, category or importance of a memory.

    TEXT `-` reads standard input.
    """
    with options.open() as quire:
        written = quire.memories.edit(
            name,
            at=now(),
            content=None if text is None else read_argument(text),
            category=category,
            importance=importance,
            viewer=options.viewer,
            allow_secret=allow_secret,
        )
    output.print_written(written, "edited", as_json=options.as_json)


@memory.command()
@id_argument
@with_viewer
def forget(options: Common, *, name: str) -> None:
    """Forget a memory.

    An older memory that only this one superseded becomes current again. `quire purge
    .quire/memory/ID` also removes every byte of it from the store file.
    """
    with options.open() as quire:
        written = quire.memories.forget(name, viewer=options.viewer)
    output.print_written(written, "forgot", as_json=options.as_json)


@memory.command()
@with_viewer
def export(options: Common) -> None:
    """Export all memories, with history, as JSON lines."""
    with options.open() as quire:
        memories = quire.memories.export(viewer=options.viewer)
    output.print_export("memories", memories, as_json=options.as_json)


@memory.command("import")
@click.argument("file")
@with_private_share
@with_write_options
def import_memories(
    options: Common, *, file: str, share: tuple[str, ...], allow_secret: bool
) -> None:
    """Import memories from a FILE of JSON lines.

    FILE `-` reads standard input. Lines have the form of `memory export`; only `content` is
    required. All lines are imported, or none. The owner keeps ids, authors and access as they are;
    anyone else becomes the author.
    """
    text = read_file(file)
    with options.open_to_write() as quire, in_file(file):
        result = quire.memories.import_lines(
            text, at=now(), share=share, viewer=options.viewer, allow_secret=allow_secret
        )
    print_import_result(result, "memory", as_json=options.as_json)


def _line(item: Memory) -> str:
    superseded = " (superseded)" if item.superseded_by else ""
    times = f" ({item.count} times)" if item.count > 1 else ""
    text = " ".join(item.content.split())
    return f"{item.id}  {item.category} {item.importance / 1000}{superseded}{times}  {text}"
