"""How are blocks written, read, moved and shared on the command line?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quire.cli import output
from quire.cli.options import CONTEXT, Command, asked, common, opened, viewed, writing
from quire.core import serialize
from quire.core.types import Viewer, Written
from quire.core.types.blocks import Block, Property
from quire.errors import InputError
from quire.system.clock import now

if TYPE_CHECKING:
    from quire.engine import Quire

TITLE_LENGTH = 80
PROPERTY = click.option(
    "--set", "properties", multiple=True, metavar="NAME=VALUE", help="A property; repeatable."
)


def told(command: Command) -> Command:
    """Give a command the options that say what a block refers to."""
    for option in (
        click.option("--mention", "mentions", multiple=True, metavar="NAME", help="Who is meant."),
        click.option("--link", "links", multiple=True, metavar="ID", help="What it links to."),
        click.option(
            "--relate", "relations", multiple=True, metavar="NAME=ID", help="A relation to another."
        ),
        PROPERTY,
    ):
        command = option(command)
    return command


def presenting(command: Command) -> Command:
    """Give a command that reads the options to say as whom."""
    link = click.option(
        "--with-link", "tokens", multiple=True, metavar="TOKEN", help="Present a shared link."
    )
    return link(viewed(command))


@click.group(context_settings=CONTEXT)
def block() -> None:
    """Write, read, move, share and delete the blocks of a workspace.

    Whoever may read a block may put others into it; only its author and the owner change it.
    """


@block.command("put")
@click.argument("text")
@click.option("--id", "name", metavar="ID", help="Its id (default: one is made).")
@click.option("--type", "type_", default="paragraph", show_default=True, help="page, todo, …")
@click.option("--in", "parent", metavar="ID", help="The block that it stands in.")
@click.option("--position", type=int, help="Its place among its siblings (default: the last).")
@click.option("--replace", is_flag=True, help="Put it in place of the block with that id.")
@click.option(
    "--share", multiple=True, metavar="NAME", help="Who may read it: NAME, @GROUP, link:TOKEN, …"
)
@told
@writing
@common
def put_block(
    *,
    text: str,
    name: str | None,
    type_: str,
    parent: str | None,
    position: int | None,
    replace: bool,
    share: tuple[str, ...],
    properties: tuple[str, ...],
    relations: tuple[str, ...],
    links: tuple[str, ...],
    mentions: tuple[str, ...],
    allow_secret: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Add a block that says TEXT (`-`: standard input).

    With --replace, nothing stays of the block that has this id but what stands in it.
    Without --share it has the readers of what it stands in; at the root, a viewer's is theirs
    alone and the owner's falls under the access rules.
    """
    with opened(store, space, create=space is None) as quire:
        if name and not replace and _is_there(quire, name, viewer):
            raise InputError(
                f"there is a block {name!r} already: `quire block edit` changes it, --replace puts "
                "this one in its place"
            )
        made = Block(
            name or "",
            type_,
            asked(text),
            parent,
            _last(quire, parent, viewer) if position is None else position,
            _properties(properties),
            _relations(relations),
            links,
            mentions,
            access=share or None,
        )
        written = quire.blocks.put([made], at=now(), viewer=viewer, allow_secret=allow_secret)
    _written(Written(written.value[0], written.notes), "put", as_json=as_json)


@block.command()
@click.argument("name", metavar="ID")
@presenting
@common
def show(
    *,
    name: str,
    tokens: tuple[str, ...],
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Show one block with all that is known of it, and record that it was looked at."""
    with opened(store, space) as quire:
        found = quire.blocks.view(name, at=now(), viewer=_reader(quire, viewer, tokens))
    plain = serialize.to_plain(found)
    if as_json:
        click.echo(serialize.json_text(plain))
        return
    text = plain.pop("text")
    said = {key: value for key, value in plain.items() if value not in (None, "", [], {})}
    output.pairs({key: _line(value) for key, value in said.items()})
    for line in str(text).splitlines():
        output.say(f"| {line}")


@block.command("tree")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--levels", type=int, metavar="N", help="How deep to go (default: to the end).")
@presenting
@common
def tree_of(
    *,
    name: str | None,
    levels: int | None,
    tokens: tuple[str, ...],
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """List what stands in a block, or all blocks, as one reads them."""
    with opened(store, space) as quire:
        found = quire.blocks.tree(name, levels=levels, viewer=_reader(quire, viewer, tokens))
    if as_json:
        listed = [{"depth": depth, **serialize.to_plain(one)} for depth, one in found]
        click.echo(serialize.json_text({"blocks": listed}))
        return
    for depth, one in found:
        text = " ".join(one.text.split())[:TITLE_LENGTH]
        output.say(f"{'  ' * depth}{one.id}  {one.type}  {text}".rstrip())
    if not found:
        output.note("there are no blocks")


@block.command()
@click.argument("name", metavar="ID")
@click.argument("text", required=False)
@click.option("--unset", multiple=True, metavar="NAME", help="A property to take away; repeatable.")
@told
@writing
@common
def edit(
    *,
    name: str,
    text: str | None,
    unset: tuple[str, ...],
    properties: tuple[str, ...],
    relations: tuple[str, ...],
    links: tuple[str, ...],
    mentions: tuple[str, ...],
    allow_secret: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Change what a block says: another TEXT (`-`: standard input), properties, relations, links.

    Properties and relations that are not named stay; links and mentions are replaced.
    """
    named: dict[str, Property | None] = {**_properties(properties), **dict.fromkeys(unset)}
    with opened(store, space) as quire:
        written = quire.blocks.edit(
            name,
            at=now(),
            text=None if text is None else asked(text),
            properties=named or None,
            relations=_relations(relations) or None,
            links=links or None,
            mentions=mentions or None,
            viewer=viewer,
            allow_secret=allow_secret,
        )
    _written(written, "edited", as_json=as_json)


@block.command()
@click.argument("name", metavar="ID")
@click.argument("parent", metavar="[PARENT]", required=False)
@click.option("--root", is_flag=True, help="Let it stand in nothing.")
@click.option("--position", type=int, help="Its place among its siblings (default: the last).")
@viewed
@common
def move(
    *,
    name: str,
    parent: str | None,
    root: bool,
    position: int | None,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Let a block, with all that stands in it, stand in PARENT (or at the --root)."""
    if root == (parent is not None):
        raise InputError("where to? name the block that it is to stand in, or give --root")
    with opened(store, space) as quire:
        place = _last(quire, parent, viewer) if position is None else position
        written = quire.blocks.move(name, parent, at=now(), position=place, viewer=viewer)
    _written(written, "moved", as_json=as_json)


@block.command()
@click.argument("name", metavar="ID")
@viewed
@common
def delete(
    *, name: str, viewer: str | None, store: str | None, space: str | None, as_json: bool
) -> None:
    """Take a block out, with all that stands in it, and print it as JSON lines.

    `quire import blocks` puts them back. `quire purge .quire/block/ID` deletes one for good.
    """
    with opened(store, space) as quire:
        gone = quire.blocks.delete(name, viewer=viewer)
    if as_json:
        click.echo(serialize.json_text({"deleted": gone.blocks}))
        return
    for one in gone:
        click.echo(serialize.json_line(one))
    output.note(f"deleted {len(gone)} blocks; `quire import blocks` puts back what was printed")


@block.command()
@click.argument("name", metavar="ID")
@click.argument("principals", nargs=-1)
@click.option("--inherit", is_flag=True, help="The readers are those of what it stands in.")
@viewed
@common
def share(
    *,
    name: str,
    principals: tuple[str, ...],
    inherit: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Say who may read a block and what stands in it: NAME, @GROUP, link:TOKEN, public or owner.

    Effective at once, for all that stands in it and has no list of its own.
    """
    if inherit == bool(principals):
        raise InputError("with whom? name them, or give --inherit")
    with opened(store, space) as quire:
        listed = None if inherit else principals
        written = quire.blocks.share(name, listed, at=now(), viewer=viewer)
    _written(written, "shared", as_json=as_json)


@block.command()
@click.argument("name", metavar="[ID]", required=False)
@presenting
@common
def export(
    *,
    name: str | None,
    tokens: tuple[str, ...],
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Print a block with what stands in it, or all blocks, as JSON lines for `import blocks`."""
    with opened(store, space) as quire:
        found = quire.blocks.export(name, viewer=_reader(quire, viewer, tokens))
    if as_json:
        click.echo(serialize.json_text({"blocks": found}))
        return
    for one in found:
        click.echo(serialize.json_line(one))


def _reader(quire: Quire, viewer: str | None, tokens: tuple[str, ...]) -> Viewer | str | None:
    if not tokens:
        return viewer
    return Viewer(viewer or quire.config.viewer or "", links=tokens)


def _is_there(quire: Quire, name: str, viewer: str | None) -> bool:
    try:
        quire.blocks.get(name, viewer=viewer)
    except InputError:
        return False
    return True


def _last(quire: Quire, parent: str | None, viewer: str | None) -> int:
    """Give the place behind all that stands there."""
    found = quire.blocks.tree(parent, levels=1 if parent is None else 2, viewer=viewer)
    return max((one.position + 1 for _, one in found if one.parent == parent), default=0)


def _properties(given: tuple[str, ...]) -> dict[str, Property]:
    words = {"true": True, "false": False}
    return {name: words.get(value, value) for name, value in map(_pair, given)}


def _relations(given: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, target in map(_pair, given):
        found[name] = (*found.get(name, ()), target)
    return found


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise InputError(f"{text!r} is no NAME=VALUE")
    return name.strip(), value


def _line(value: object) -> object:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return "; ".join(f"{key} = {_line(one)}" for key, one in value.items())
    return value


def _written(written: Written[Block], deed: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(serialize.json_text(written))
        return
    output.notes(written.notes)
    output.say(f"{deed} {written.value.id}")
