"""Commands about the blocks of a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.options import (
    CONTEXT,
    Command,
    Common,
    id_argument,
    read_argument,
    with_viewer,
    with_write_options,
)
from quire.core.serialize import to_plain
from quire.core.types import Viewer
from quire.errors import InputError
from quire.system.clock import now

if TYPE_CHECKING:
    from quire.core.types.blocks import Property
    from quire.engine import Quire

position_option = click.option(
    "--position", type=int, help="Position among its siblings (default: last)."
)
link_option = click.option(
    "--with-link", "tokens", multiple=True, metavar="TOKEN", help="Present a shared link."
)


def content_options(command: Command) -> Command:
    """Add the options that set the properties and references of a block."""
    for option in (
        click.option(
            "--mention", "mentions", multiple=True, metavar="NAME", help="Mentioned person."
        ),
        click.option("--link", "links", multiple=True, metavar="ID", help="Linked block."),
        click.option(
            "--relate",
            "relations",
            multiple=True,
            metavar="NAME=ID",
            help="Relation to another block.",
        ),
        click.option(
            "--set",
            "properties",
            multiple=True,
            metavar="NAME=VALUE",
            help="Property; repeatable, as are --relate, --link and --mention.",
        ),
    ):
        command = option(command)
    return command


@click.group(context_settings=CONTEXT)
def block() -> None:
    """Manage the blocks of a workspace.

    Everyone who can read a block can add blocks to it; only its author and the owner can change it.
    """


@block.command("put")
@click.argument("text")
@click.option("--id", "name", metavar="ID", help="Id (default: a new one).")
@click.option("--type", "type_", default="paragraph", show_default=True, help="page, todo, …")
@click.option("--in", "parent", metavar="ID", help="Parent block.")
@position_option
@click.option("--replace", is_flag=True, help="Replace the block with that id.")
@click.option(
    "--share", multiple=True, metavar="NAME", help="Who can read it: NAME, @GROUP, link:TOKEN, …"
)
@content_options
@with_write_options
def put_block(
    options: Common,
    *,
    text: str,
    name: str | None,
    type_: str,
    parent: str | None,
    position: int | None,
    replace: bool,
    share: tuple[str, ...],
    allow_secret: bool,
    **content: tuple[str, ...],
) -> None:
    """Add a block with TEXT.

    TEXT `-` reads standard input. --replace keeps only the children of the block that has this id.
    Without --share, the readers of the parent can read it; at the root, only the viewer can, and
    for the owner the access rules decide.
    """
    from quire.core.types import Written
    from quire.core.types.blocks import Block

    viewer = options.viewer
    with options.open_to_write() as quire:
        if name and not replace and _exists(quire, name, viewer):
            raise InputError(
                f"block {name!r} already exists",
                value=name,
                hint="change it with `quire block edit`, or overwrite it with --replace",
            )
        new = Block(
            name or "",
            type_,
            read_argument(text),
            parent,
            _next_position(quire, parent, viewer) if position is None else position,
            access=share or None,
            **_parse_content(content),
        )
        written = quire.blocks.put([new], at=now(), viewer=viewer, allow_secret=allow_secret)
    result = Written(written.value[0], written.notes)
    output.print_written(result, "put", as_json=options.as_json)


@block.command()
@id_argument
@link_option
@with_viewer
def show(options: Common, *, name: str, tokens: tuple[str, ...]) -> None:
    """Show a block, and record the visit."""
    with options.open() as quire:
        found = quire.blocks.view(name, at=now(), viewer=_reader(quire, options.viewer, tokens))
    output.print_record(found, "text", as_json=options.as_json)


@block.command("tree")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--levels", type=int, metavar="N", help="Maximum depth (default: unlimited).")
@link_option
@with_viewer
def tree_of(
    options: Common, *, name: str | None, levels: int | None, tokens: tuple[str, ...]
) -> None:
    """List a block and its children, or all blocks, as a tree."""
    with options.open() as quire:
        reader = _reader(quire, options.viewer, tokens)
        blocks = quire.blocks.tree(name, levels=levels, viewer=reader)
    if options.as_json:
        rows = [{"depth": depth, **to_plain(item)} for depth, item in blocks]
        output.print_json({"blocks": rows})
        return
    for depth, item in blocks:
        indent = "  " * depth
        output.say(f"{indent}{item.id}  {item.type}  {output.shorten(item.text)}".rstrip())
    if not blocks:
        output.note("no blocks")


@block.command()
@id_argument
@click.argument("text", required=False)
@click.option("--unset", multiple=True, metavar="NAME", help="Property to remove; repeatable.")
@content_options
@with_write_options
def edit(
    options: Common,
    *,
    name: str,
    text: str | None,
    unset: tuple[str, ...],
    allow_secret: bool,
    **content: tuple[str, ...],
) -> None:
    """Change the text, properties or links of a block.

    TEXT `-` reads standard input. Properties and relations that are not named stay; links and
    mentions are replaced.
    """
    changes = _parse_content(content)
    changes["properties"] |= dict.fromkeys(unset)
    with options.open() as quire:
        written = quire.blocks.edit(
            name,
            at=now(),
            text=None if text is None else read_argument(text),
            viewer=options.viewer,
            allow_secret=allow_secret,
            **{key: value or None for key, value in changes.items()},
        )
    output.print_written(written, "edited", as_json=options.as_json)


@block.command()
@id_argument
@click.argument("parent", metavar="[PARENT]", required=False)
@click.option("--root", is_flag=True, help="Move it to the root.")
@position_option
@with_viewer
def move(
    options: Common, *, name: str, parent: str | None, root: bool, position: int | None
) -> None:
    """Move a block and its children under PARENT."""
    if root == (parent is not None):
        raise InputError("expected either a PARENT or --root")
    viewer = options.viewer
    with options.open() as quire:
        place = _next_position(quire, parent, viewer) if position is None else position
        written = quire.blocks.move(name, parent, at=now(), position=place, viewer=viewer)
    output.print_written(written, "moved", as_json=options.as_json)


@block.command()
@id_argument
@with_viewer
def delete(options: Common, *, name: str) -> None:
    """Delete a block and its children, and print them.

    `quire import blocks` restores the printed JSON lines. `quire purge .quire/block/ID` also
    removes every byte of a block from the store file.
    """
    with options.open() as quire:
        removed = quire.blocks.delete(name, viewer=options.viewer)
    output.print_export("deleted", removed.blocks, as_json=options.as_json)
    if not options.as_json:
        output.note(
            f"deleted {output.number(len(removed), 'block')}; "
            "`quire import blocks` restores the printed lines"
        )


@block.command()
@id_argument
@click.argument("principals", nargs=-1)
@click.option("--inherit", is_flag=True, help="Use the readers of its parent.")
@with_viewer
def share(options: Common, *, name: str, principals: tuple[str, ...], inherit: bool) -> None:
    """Set who can read a block and its children.

    PRINCIPALS are NAME, @GROUP, link:TOKEN, public or owner. The change applies at once, also to
    children without a list of their own.
    """
    if inherit == bool(principals):
        raise InputError("expected either PRINCIPALS or --inherit")
    with options.open() as quire:
        readers = None if inherit else principals
        written = quire.blocks.share(name, readers, at=now(), viewer=options.viewer)
    output.print_written(written, "shared", as_json=options.as_json)


@block.command()
@click.argument("name", metavar="[ID]", required=False)
@link_option
@with_viewer
def export(options: Common, *, name: str | None, tokens: tuple[str, ...]) -> None:
    """Export a block with its children, or all, as JSON lines."""
    with options.open() as quire:
        blocks = quire.blocks.export(name, viewer=_reader(quire, options.viewer, tokens))
    output.print_export("blocks", blocks, as_json=options.as_json)


def _reader(quire: Quire, viewer: str | None, tokens: tuple[str, ...]) -> Viewer | str | None:
    if not tokens:
        return viewer
    return Viewer(viewer or quire.config.viewer or "", links=tokens)


def _exists(quire: Quire, name: str, viewer: str | None) -> bool:
    try:
        quire.blocks.get(name, viewer=viewer)
    except InputError:
        return False
    return True


def _next_position(quire: Quire, parent: str | None, viewer: str | None) -> int:
    """Return the position after all children of a parent."""
    blocks = quire.blocks.tree(parent, levels=1 if parent is None else 2, viewer=viewer)
    return max((item.position + 1 for _, item in blocks if item.parent == parent), default=0)


def _parse_content(typed: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Parse what `content_options` adds; `true` and `false` are booleans."""
    properties: dict[str, Property | None] = {}
    for name, value in (_parse_pair("properties", text) for text in typed["properties"]):
        properties[name] = {"true": True, "false": False}.get(value, value)
    relations: dict[str, tuple[str, ...]] = {}
    for name, target in (_parse_pair("relations", text) for text in typed["relations"]):
        relations[name] = (*relations.get(name, ()), target)
    return {**typed, "properties": properties, "relations": relations}


def _parse_pair(field: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"expected NAME=VALUE, not {text!r}", field=field, value=text)
    return name.strip(), value
