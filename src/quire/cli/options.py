"""Which options do all commands share, and what do they open?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from quire.core.types import ALL
from quire.errors import InputError

if TYPE_CHECKING:
    from quire.core.types import Situation
    from quire.engine import Quire

Command = TypeVar("Command", bound=Callable[..., Any])

MOST_DIGITS = 18
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def common(command: Command) -> Command:
    """Give a command the options that every command has."""
    return stored(click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command))


def stored(command: Command) -> Command:
    """Give a command the options that name the store."""
    for option in (
        click.option("--space", metavar="NAME", help="The space in the store (default: main)."),
        click.option("--store", metavar="FILE", help="The store (default: .quire/store.db)."),
    ):
        command = option(command)
    return command


def viewed(command: Command) -> Command:
    """Give a command the option to read as someone else."""
    return click.option(
        "--viewer", metavar="NAME", help="Read as this user (default: the owner, who reads all)."
    )(command)


def limit(option: str, given: str | None) -> int | None:
    """Read how many are wanted: a number, `all` or `none`."""
    if given is None:
        return None
    if given in {"all", "none"}:
        return ALL if given == "all" else 0
    if not is_number(given):
        raise InputError(f"{option} is {given!r}: give a number, `all` or `none`")
    return int(given)


def is_number(text: str) -> bool:
    """Tell whether a text is a whole number of a sensible length."""
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS


def writing(command: Command) -> Command:
    """Give a command that writes down what someone says the options that all of them have."""
    for option in (
        click.option(
            "--allow-secret", is_flag=True, help="Keep text that looks like a key or a token."
        ),
        viewed,
    ):
        command = option(command)
    return command


def sharing(command: Command) -> Command:
    """Give a command the option to say who may read what it writes."""
    return click.option(
        "--share",
        multiple=True,
        metavar="NAME",
        help="Who may read it: NAME, @GROUP, public or owner; repeatable (default: a viewer's is "
        "theirs alone, the owner's falls under the access rules).",
    )(command)


def opened(
    store: str | None, space: str | None, *, create: bool = False, start: str = ".", **more: Any
) -> Quire:
    """Open the store that the options name."""
    from quire.engine import open_quire

    return open_quire(start, store=store, space=space, create=create, **more)


def asked(query: str) -> str:
    """Read a query, from standard input if it is `-`."""
    if query != "-":
        return query
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8: {error}") from error


def content_of(file: str) -> str:
    """Read a file, or standard input if it is `-`, as it is to the byte."""
    try:
        # Bytes, not text: a line end that was altered is an alteration.
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error


@contextmanager
def in_file(file: str) -> Iterator[None]:
    """Let an error in a line of a file name the file as well."""
    try:
        yield
    except InputError as error:
        place = "standard input" if file == "-" else file
        if error.place.startswith("line "):
            raise error.within(place) from error
        if error.message.startswith("line "):
            raise InputError(f"{place}, {error}") from error
        raise


def situation_typed(given: str) -> Situation:
    """Read what is going on: JSON, `-` for standard input, or `@FILE`."""
    from quire.rules import parse_situation

    return parse_situation(content_of(given[1:]) if given.startswith("@") else asked(given))
