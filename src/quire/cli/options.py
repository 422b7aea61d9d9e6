"""The options that commands share, and how their values are read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from quire.cli import output
from quire.core.types import ALL
from quire.errors import InputError, NoStoreError

if TYPE_CHECKING:
    from quire.core.types import Situation
    from quire.engine import Quire

Command = TypeVar("Command", bound=Callable[..., Any])

MAX_DIGITS = 18
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
id_argument = click.argument("name", metavar="ID")
model_option = click.option(
    "--model", help="Count tokens for this model: gpt-4o, claude-…, llama-3 (default: o200k)."
)


@dataclass(frozen=True, slots=True)
class Common:
    """The values of the options that most commands share."""

    store: str | None
    space: str | None
    as_json: bool
    viewer: str | None = None
    """Of `with_viewer` alone: with the options of a context, the viewer is one of those."""

    def open(self, *, create: bool = False, start: str = ".") -> Quire:
        """Open the store; notes on its settings go to standard error."""
        from quire import config
        from quire.engine import open_quire

        try:
            quire = open_quire(start, store=self.store, space=self.space, create=create)
        except NoStoreError:
            output.announce(config.load(Path(start)).notes)  # they may say why there is none here
            raise
        output.announce(quire.notes)
        return quire

    def open_to_write(self) -> Quire:
        """Open the store to add something; a missing one is created, unless a space is named."""
        return self.open(create=self.space is None)


def log_option(command: Command) -> Command:
    """Add the option that logs what a command does."""

    def start(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            from quire.system import events

            events.write_json()
            context.call_on_close(events.stop_writing)

    return click.option(
        "--log-json",
        is_flag=True,
        expose_value=False,
        callback=start,
        help="Log events to standard error, one JSON object a line; never any content.",
    )(command)


def quiet_option(command: Command) -> Command:
    """Add the option that leaves out everything but results, warnings and errors."""

    def start(_: click.Context, __: click.Parameter, wanted: bool) -> None:
        if wanted:
            output.silence()

    return click.option(
        "--quiet",
        "-q",
        is_flag=True,
        expose_value=False,
        callback=start,
        help="No notes and no progress: only results, failures and errors.",
    )(command)


def store_options(command: Command) -> Command:
    """Add the options that name the store."""
    for option in (
        click.option("--space", metavar="NAME", help="Space in the store (default: main)."),
        click.option(
            "--store",
            metavar="FILE",
            help="Store: a file, NAME.N.shards or a URL (default: .quire/store.db).",
        ),
    ):
        command = option(command)
    return command


def viewer_option(command: Command) -> Command:
    """Add the option to read as another user."""
    return click.option(
        "--viewer",
        metavar="NAME",
        help="Read as this user (default: the owner, who reads everything).",
    )(command)


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of most commands; the command receives them as one `Common`."""
    command = _collect(command, "store", "space", "as_json")
    return store_options(log_option(quiet_option(as_json_option(command))))


def with_viewer(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that reads as a viewer."""
    command = _collect(command, "store", "space", "as_json", "viewer")
    return viewer_option(store_options(log_option(quiet_option(as_json_option(command)))))


def with_write_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that stores what a viewer writes."""
    return click.option(
        "--allow-secret", is_flag=True, help="Accept text that looks like a key or a token."
    )(with_viewer(command))


def with_share(
    command: Command, unshared: str = "for the owner, the access rules decide"
) -> Command:
    """Add the option that sets who can read what a command writes."""
    return click.option(
        "--share",
        multiple=True,
        metavar="NAME",
        help="Who can read it: NAME, @GROUP, public or owner; repeatable (default: only the "
        f"viewer; {unshared}).",
    )(command)


def with_private_share(command: Command) -> Command:
    """Add the same option to a command that writes what nobody else can read by default."""
    return with_share(command, "the owner, if none is named")


def _collect(command: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """Return a command that passes some of its options on as one `Common`."""

    @wraps(command)
    def run(**values: Any) -> Any:
        options = Common(**{name: values.pop(name) for name in names})
        return command(options, **values)

    return run


def parse_limit(field: str, text: str | None) -> int | None:
    """Parse a limit: a number, `all` or `none`."""
    if text is None:
        return None
    if text in {"all", "none"}:
        return ALL if text == "all" else 0
    if not is_number(text):
        raise InputError(
            f"expected a number, `all` or `none`, not {text!r}", field=field, value=text
        )
    return int(text)


def is_number(text: str) -> bool:
    """Return whether a text is a whole number of reasonable length."""
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS


def drop_none(**options: Any) -> dict[str, Any]:
    """Return the options that were given; the others keep their defaults."""
    return {name: value for name, value in options.items() if value is not None}


def read_argument(text: str) -> str:
    """Return an argument, or standard input if it is `-`."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error}", place="standard input") from error


def read_file(file: str) -> str:
    """Read a file, or standard input if it is `-`, without changing line ends."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{file} cannot be read: {reason}", value=file) from error


@contextmanager
def in_file(file: str) -> Iterator[None]:
    """Add the name of a file to an error in one of its lines."""
    try:
        yield
    except InputError as error:
        if not error.place.startswith("line "):
            raise
        raise error.within("standard input" if file == "-" else file) from error


def read_situation(text: str) -> Situation:
    """Parse a situation: JSON, `-` for standard input, or `@FILE`."""
    from quire.rules import parse_situation

    return parse_situation(read_file(text[1:]) if text.startswith("@") else read_argument(text))
