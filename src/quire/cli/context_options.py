"""The options of a context on the command line, made from the table of options."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from quire.cli.options import Command, common, in_file, is_number, read_file, read_situation
from quire.cli.receipt_files import read_receipt
from quire.core.jsonl import read_objects
from quire.core.types.option_spec import (
    DATE,
    FILE,
    FLAG,
    INTEGER,
    JSON,
    LIST,
    MESSAGES,
    NOT_TYPED,
    NUMBER,
    ON_OFF,
    PAIRS,
    RECEIPT,
    REPEATED,
    TEXT,
    Option,
)
from quire.core.types.options import FILTERS, OPTIONS
from quire.errors import InputError

if TYPE_CHECKING:
    from quire.core.types import Filters, Options


def with_context_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all options of a context."""
    return common(_with_options(command, OPTIONS))


def with_filters(command: Command) -> Command:
    """Give a command the options that filter by kind, path and date."""
    return _with_options(command, FILTERS)


def parse_options(typed: Mapping[str, Any]) -> Options:
    """Return the options that were typed; the recipe decides the others."""
    if typed["order"] == "stable" and typed["previous"] is None:
        raise InputError(
            "'stable' needs an earlier receipt", field="order", hint="name one with {previous}"
        )
    return _values(typed, OPTIONS)  # type: ignore[return-value]  # the table is made from Options


def parse_filters(typed: Mapping[str, Any]) -> Filters:
    """Return the filters that were typed."""
    return _values(typed, FILTERS)  # type: ignore[return-value]  # the table is made from Filters


def read_results(file: str) -> list[Any]:
    """Read the results of a retriever: a JSON array of objects, or one object per line."""
    text = read_file(file)
    if not text.lstrip().startswith("["):
        with in_file(file):
            return [data for _, data in read_objects(text, "result")]
    try:
        results: list[Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else error
        raise InputError(f"not valid JSON: {reason}", field="results", place=file) from error
    return results


def _with_options(command: Command, options: Mapping[str, Option]) -> Command:
    for option in reversed([*options.values()]):
        if option.form != NOT_TYPED:
            command = _click_option(option)(command)
    return command


def _click_option(option: Option) -> Callable[[Command], Command]:
    flag = option.flag
    if option.form == ON_OFF:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    more = _CLICK.get(option.form, {})
    return click.option(
        flag,
        option.name,
        cls=_ContextOption,
        setting=option.setting,
        help=option.help,
        metavar=option.metavar or None,
        **more,
    )


class _ContextOption(click.Option):
    """An option whose help lists the values of its setting."""

    def __init__(self, *args: Any, setting: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self._setting = setting

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        help_text = self.help
        if help_text is None or "{choices}" not in help_text:
            return super().get_help_record(ctx)
        from quire.pipeline.validate import CHOICES  # late: only help texts need it

        self.help = help_text.replace("{choices}", ", ".join(CHOICES[self._setting]))
        try:
            return super().get_help_record(ctx)
        finally:
            self.help = help_text


def _values(typed: Mapping[str, Any], options: Mapping[str, Option]) -> dict[str, Any]:
    return {
        name: _VALUES[option.form](option, typed[name])
        for name, option in options.items()
        if _is_typed(option, typed.get(name))
    }


def _is_typed(option: Option, value: Any) -> bool:
    return bool(value) if option.form in {FLAG, REPEATED} else value is not None


def _names(_: Option, text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _pairs(option: Option, text: str) -> dict[str, int]:
    """Read numbers by name, as in `system=200,response=500`."""
    if text == "none":
        return {}
    pairs: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = part.strip().partition("=")
        if not equals or not name or not is_number(number.removeprefix("-")):
            raise InputError(
                f"expected names with numbers such as {option.example}, not {text!r}",
                field=option.name,
                value=text,
            )
        pairs[name] = int(number)
    return pairs


def _messages(option: Option, file: str) -> list[tuple[str, str]]:
    """Read messages: a JSON array, or one JSON object per line."""
    text = read_file(file)
    try:
        messages = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(line) for line in text.splitlines() if line]
        )
        return [(message["role"], message["content"]) for message in messages]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{file} is not a conversation ({type(error).__name__}: {error})",
            field=option.name,
            value=file,
            hint="write JSON objects with role and content, in an array or one per line",
        ) from error


def _chunk_ids(_: Option, file: str) -> list[str]:
    from quire.indexing.audit import chunk_ids

    return chunk_ids(read_receipt(file))


def _as_typed(_: Option, value: Any) -> Any:
    return value


_CLICK: dict[str, dict[str, Any]] = {
    FLAG: {"is_flag": True},
    ON_OFF: {"default": None},
    REPEATED: {"multiple": True},
    INTEGER: {"type": int},
    NUMBER: {"type": float},
}
"""What click must know of an option, by the form it is written in."""
_VALUES: dict[str, Callable[[Option, Any], Any]] = {
    **dict.fromkeys((TEXT, INTEGER, NUMBER, ON_OFF, REPEATED, DATE), _as_typed),
    FLAG: lambda option, _: option.value,
    LIST: _names,
    PAIRS: _pairs,
    FILE: lambda _, file: read_file(file),
    JSON: lambda _, text: read_situation(text),
    MESSAGES: _messages,
    RECEIPT: _chunk_ids,
}
"""How the value of an option is read, by the form it is written in."""
