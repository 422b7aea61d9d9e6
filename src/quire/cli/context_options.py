"""Which options of a context were typed, and what do they mean?"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from quire.cli.options import (
    Command,
    common,
    content_of,
    is_number,
    situation_typed,
    viewed,
)
from quire.core.dates import parse_filter, seconds
from quire.errors import InputError

if TYPE_CHECKING:
    from quire.pipeline.request import Options

# Each option of a context: its flags, and what click needs to know of it.
_ASKING: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("--budget",), {"type": int, "help": "The whole window in tokens (default: the recipe's)."}),
    (("--recipe",), {"help": "A shipped recipe, or a TOML file (default: documents)."}),
    (
        ("--format", "format_"),
        {"help": "markers, markdown, xml, plain, json; page, template, situation."},
    ),
    (
        ("--types",),
        {"help": "Only these sections of a recipe that has some: memories,code,experiences."},
    ),
    (("--limit",), {"type": int, "help": "At most so many items of each section."}),
    (
        ("--model",),
        {"help": "Count for this model: gpt-4o, claude-…, llama-3 (default: o200k)."},
    ),
    (("--reserve",), {"help": "Kept free: `none`, or system=200,query=100,response=500."}),
    (("--pack",), {"help": "greedy, interleaved, score_weighted or optimal."}),
    (("--order",), {"help": "auto, grouped, packed, edges or stable (with --previous)."}),
    (("--overflow",), {"help": "What does not fit is passed over (skip), cut, or ends it (stop)."}),
    (("--soft",), {"is_flag": True, "help": "Let the last piece pass the budget."}),
    (("--dedup",), {"type": float, "help": "Overlap above which a piece is a duplicate (0.8)."}),
    (("--per-document",), {"type": int, "help": "At most so many pieces of one document."}),
    (("--prefer-recent", "recent"), {"type": int, "help": "Lift what is new by so many percent."}),
    (("--feedback",), {"type": int, "help": "What feedback moves, in percent (10); 0: nothing."}),
    (("--as-of",), {"help": "Judge recency at this date."}),
    (("--metadata",), {"is_flag": True, "help": "Name lines, headings and score of each piece."}),
    (
        ("--groups/--no-groups",),
        {"default": None, "help": "Code, documents, conversations under titles of their own."},
    ),
    (
        ("--content/--no-content",),
        {"default": None, "help": "The text itself, or only what entities say of themselves."},
    ),
    (("--cap",), {"type": int, "help": "At most so many characters of a piece (0: all)."}),
    (("--sources",), {"type": int, "help": "Name so many sources, at most, at the end."}),
    (
        ("--levels",),
        {"help": "How much detail: full, or full,signature,outline to show what is too long."},
    ),
    (
        ("--cut",),
        {"help": "What is kept of a cut piece: keep_start, keep_end, extractive, summarize."},
    ),
    (("--focus",), {"metavar": "ID|PATH", "help": "What the asker looks at."}),
    (("--include",), {"multiple": True, "metavar": "ID|PATH", "help": "This belongs in."}),
    (
        ("--exclude",),
        {"multiple": True, "metavar": "ID|PATH", "help": "Not this, nor what is in it."},
    ),
    (("--prefer",), {"multiple": True, "metavar": "TYPE", "help": "This kind answers best."}),
    (("--depth",), {"type": int, "help": "How far up and down from the focus is looked."}),
    (
        ("--shares",),
        {"help": "What sections have of the budget, in proportion: focus=2500,semantic=200."},
    ),
    (
        ("--history",),
        {"metavar": "FILE", "help": "The conversation so far: JSON with role and content."},
    ),
    (("--system",), {"metavar": "FILE", "help": "Instructions that are said along."}),
    (("--situation",), {"help": "What is going on: JSON, - for standard input, or @FILE."}),
    (("--base",), {"help": "The context, or the place, whose rules hold."}),
    (("--previous",), {"help": "An earlier receipt, for --order stable."}),
    (("--allow-empty",), {"is_flag": True, "help": "An empty context instead of an error."}),
    (("--kind", "kinds"), {"multiple": True, "help": "Only this kind; repeatable."}),
    (("--path", "paths"), {"multiple": True, "help": "Only paths that match this glob."}),
    (("--since",), {"help": "Only what was modified at or after this date."}),
    (("--until",), {"help": "Only what was modified at or before this date."}),
    (("--exact",), {"is_flag": True, "help": "Compare every vector, however many."}),
)


def asking(command: Command) -> Command:
    """Give a command all options of a context."""
    for flags, more in reversed(_ASKING):
        command = click.option(*flags, **more)(command)
    return viewed(common(command))


def options_of(given: dict[str, Any]) -> Options:
    """Turn what was typed into options; what was not typed stays the recipe's."""
    if given["order"] == "stable" and given["previous"] is None:
        raise InputError("--order stable needs --previous RECEIPT, whose order is to be kept")
    options: dict[str, Any] = {
        name: given[name]
        for name in ("budget", "recipe", "model", "pack", "order", "overflow", "dedup")
        if given[name] is not None
    }
    for name in (
        "per_document",
        "recent",
        "viewer",
        "groups",
        "content",
        "cap",
        "sources",
        "limit",
        "feedback",
        "cut",
        "focus",
        "depth",
        "base",
    ):
        if given[name] is not None:
            options[name] = given[name]
    for name in ("include", "exclude", "prefer"):
        if given[name]:
            options[name] = given[name]
    for name in ("metadata", "allow_empty", "exact"):
        if given[name]:
            options[name] = True
    if given["format_"] is not None:
        options["format"] = given["format_"]
    if given["soft"]:
        options["hard"] = False
    readers: dict[str, Callable[[str], Any]] = {
        "reserve": _reserve,
        "as_of": partial(seconds, "--as-of"),
        "previous": _pieces,
        "shares": partial(_numbers, "--shares", "focus=2500,semantic=200"),
        "history": _conversation,
        "system": content_of,
        "situation": situation_typed,
        "levels": _listed,
        "types": _listed,
    }
    options |= {
        name: read(given[name]) for name, read in readers.items() if given[name] is not None
    }
    options["where"] = parse_filter(given["kinds"], given["paths"], given["since"], given["until"])
    return options  # type: ignore[return-value]  # the names are those of Options, see above


def _listed(text: str) -> list[str]:
    return [name for each in text.split(",") if (name := each.strip())]


def _reserve(text: str) -> dict[str, int]:
    if text == "none":
        return {}
    return _numbers("--reserve", "system=200,response=500 (or `none`)", text)


def _numbers(option: str, example: str, text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = part.strip().partition("=")
        if not equals or not name or not is_number(number.removeprefix("-")):
            raise InputError(f"{option} {text!r}: write names with tokens, as in {example}")
        found[name] = int(number)
    return found


def _conversation(file: str) -> list[tuple[str, str]]:
    """Read messages: a JSON array, or a line of JSON each."""
    text = content_of(file)
    try:
        told = json.loads(text) if text.lstrip().startswith("[") else None
        messages = (
            [json.loads(line) for line in text.splitlines() if line] if told is None else told
        )
        return [(message["role"], message["content"]) for message in messages]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{file} is no conversation: write JSON objects with role and content, in an array or "
            f"one a line ({type(error).__name__}: {error})"
        ) from error


def receipt_of(file: str) -> dict[str, Any]:
    """Read a receipt from a file."""
    from quire.audit import parse_receipt

    return parse_receipt(content_of(file))


def _pieces(file: str) -> list[str]:
    from quire.audit import chunk_ids

    return chunk_ids(receipt_of(file))
