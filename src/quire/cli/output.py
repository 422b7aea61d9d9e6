"""Write to the terminal: lines and lists for people, JSON for programs, notes beside both.

Results go to standard output, everything else to standard error. Nothing that a source contains
reaches a terminal as a control sequence: the other modules print by these functions alone. How each
result looks is in `results.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from quire.core.serialize import (
    json_line,
    json_text,
    printable,
    printable_text,
    to_plain,
)
from quire.core.types.options import BY_SETTING, name_options

if TYPE_CHECKING:
    from quire.core.types import Written

COMMIT_PREFIX = ".git/commit/"
SHA_LENGTH = 10
TITLE_LENGTH = 80

_QUIET = f"{__name__}.quiet"

Result = TypeVar("Result")


def say(line: str) -> None:
    """Print one line of a result."""
    click.echo(printable(line))


def say_heading(heading: str, rest: str) -> None:
    """Print one line of a result that begins in bold."""
    click.echo(f"{click.style(printable(heading), bold=True)}{printable(rest)}")


def note(text: str) -> None:
    """Print one line to standard error, unless the command is to be quiet."""
    if not is_quiet():
        warn(text)


def warn(text: str) -> None:
    """Print one line to standard error, however quiet the command is to be."""
    click.echo(printable(text), err=True)


def silence() -> None:
    """Print no notes while the running command runs."""
    click.get_current_context().meta[_QUIET] = True


def is_quiet() -> bool:
    """Return whether the running command prints no notes."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


def print_notes(texts: Iterable[str]) -> None:
    """Print the notes of a result, but for those that were announced."""
    announced = _announced()
    for text in texts:
        if text not in announced:
            note(f"note: {write_flags(text)}")


def announce(texts: Iterable[str]) -> None:
    """Print notes on the settings and the store once for the running command."""
    notes = tuple(texts)
    print_notes(notes)
    _announced().update(notes)


def _announced() -> set[str]:
    context = click.get_current_context(silent=True)
    if context is None:
        return set()
    announced: set[str] = context.meta.setdefault(f"{__name__}.announced", set())
    return announced


def print_json(value: Any) -> None:
    """Print a result as JSON."""
    click.echo(json_text(value))


def print_text(text: str) -> None:
    """Print a text to the byte, as its receipt has it.

    On a terminal its last line is ended, and control characters are shown instead of obeyed. Where
    notes go to the same pipe or file, they begin on a line of their own.
    """
    sys.stdout.flush()
    if sys.stdout.isatty():
        click.echo(printable_text(text), nl=bool(text) and not text.endswith("\n"))
        return
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
        return
    stream.write(text.encode("utf-8", "surrogatepass"))
    stream.flush()
    if text and not text.endswith("\n") and _notes_follow():
        click.echo(err=True)


def _notes_follow() -> bool:
    """Tell whether standard error leads to where standard output leads, as with `2>&1`."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError):  # a stream without a file, as in tests
        return False


def format_place(path: str, lines: Sequence[int]) -> str:
    """Return the name of a place in a file, or of a commit; a PDF has no line numbers."""
    if path.startswith(COMMIT_PREFIX):
        return f"commit {path.removeprefix(COMMIT_PREFIX)[:SHA_LENGTH]}"
    first, last = lines
    return f"{path}:{first}-{last}" if first else path


def shorten(text: str) -> str:
    """Return the beginning of a text as one line."""
    return " ".join(text.split())[:TITLE_LENGTH]


# --- shapes that several commands share ------------------------------------------------------


def print_written(result: Written[Any], verb: str, *, as_json: bool) -> None:
    """Print what was written: the verb and the id, or the whole value as JSON."""
    if as_json:
        print_json(result)
        return
    print_notes(result.notes)
    say(f"{verb} {result.value.id}")


def print_list(
    name: str,
    items: Sequence[Result],
    line: Callable[[Result], str],
    empty: str,
    *,
    as_json: bool,
) -> None:
    """Print a list: one line for each item, or an object with the list under a name.

    Args:
        name: The name of the list in JSON.
        items: The items.
        line: Returns the line of an item; it may hold line breaks.
        empty: The note if there is no item.
        as_json: Whether to print JSON.
    """
    if as_json:
        print_json({name: items})
        return
    for item in items:
        for part in line(item).split("\n"):
            say(part)
    if not items:
        note(empty)


def print_record(value: Any, text_name: str = "", *, as_json: bool) -> None:
    """Print everything about one value; its text, if it has one, comes last, line by line."""
    if as_json:
        print_json(value)
        return
    data = to_plain(value)
    text = data.pop(text_name, "")
    print_pairs({key: item for key, item in data.items() if item not in (None, "", [], {})})
    for line in str(text).splitlines():
        say(f"| {line}")


def print_export(name: str, items: Sequence[Any], *, as_json: bool) -> None:
    """Print values as JSON lines that the matching import reads, or as one object."""
    if as_json:
        print_json({name: items})
        return
    for item in items:
        click.echo(json_line(item))


def print_pairs(values: Mapping[str, Any]) -> None:
    """Print names and values, one pair a line."""
    width = max(len(name) for name in values)
    for name, value in values.items():
        say(f"{name:<{width}}  {_value(value)}")


def _value(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return "; ".join(f"{name} = {_value(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


# --- words ---------------------------------------------------------------------------------------


def number(count: int, noun: str) -> str:
    """Return a count with its noun, as English has it: `1 piece`, `2 pieces`, `2 memories`."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun}"


def write_flags(text: str) -> str:
    """Write the options that a note names in backticks as flags."""
    return name_options(text, lambda option: option.flag)


def write_setting(setting: str, value: object) -> str:
    """Write how to give a setting of a recipe a value: with a flag where there is one."""
    option = BY_SETTING.get(setting)
    return f"{setting} = {value}" if option is None else f"{option.flag} {value}"
