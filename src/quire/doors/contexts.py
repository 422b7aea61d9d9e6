"""How are contexts asked for, and audited, on the command line?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire.doors import printing
from quire.doors.dates import now, seconds
from quire.doors.naming import as_typed
from quire.doors.options import (
    Command,
    asked,
    common,
    content_of,
    filtered,
    is_number,
    opened,
    sharing,
    viewed,
)
from quire.errors import InputError, NoStoreError

if TYPE_CHECKING:
    from quire.request import Options
    from quire.values import Context

# Each option of a context: its flags, and what click needs to know of it.
_ASKING: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("--budget",), {"type": int, "help": "The whole window in tokens (default: 4000)."}),
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
    (("--cut",), {"help": "What is kept of a cut piece: keep_start, keep_end or extractive."}),
    (("--focus",), {"metavar": "ID", "help": "What the asker looks at, by its id."}),
    (("--include",), {"multiple": True, "metavar": "ID", "help": "This belongs in; repeatable."}),
    (("--exclude",), {"multiple": True, "metavar": "ID", "help": "Not this, nor what is in it."}),
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


@click.command()
@click.argument("query")
@click.option("--receipt", metavar="FILE", help="Write the receipt to this file.")
@asking
def assemble(
    *, query: str, receipt: str | None, store: str | None, space: str | None, **given: Any
) -> None:
    """Assemble one context for QUERY (`-`: standard input) within a token budget.

    The context alone goes to standard output.
    """
    as_json = given.pop("as_json")
    with opened(store, space) as quire, as_typed(given):
        context = quire.assemble(asked(query), **_options(given))
    _keep(receipt, context)
    printing.context(context, as_json=as_json)


@click.command()
@click.argument("query")
@asking
def explain(*, query: str, store: str | None, space: str | None, **given: Any) -> None:
    """Tell of each candidate for QUERY whether it is in, at which step it fell, and why."""
    as_json = given.pop("as_json")
    with opened(store, space) as quire, as_typed(given):
        context = quire.assemble(asked(query), **_options({**given, "allow_empty": True}))
    printing.explained(context, as_json=as_json)


@click.command("why-not")
@click.argument("query")
@click.argument("place", metavar="PATH[:LINE]")
@asking
def why_not(*, query: str, place: str, store: str | None, space: str | None, **given: Any) -> None:
    """Tell why PATH (or what stands at its LINE) is not in the context, and what lets it in."""
    as_json = given.pop("as_json")
    path, colon, line = place.rpartition(":")
    if not colon or not is_number(line):
        path, line = place, ""
    at = int(line) if line else None
    with opened(store, space) as quire, as_typed(given):
        told = quire.why_not(asked(query), quire.path_of(path), at, **_options(given))
    printing.why_not([asdict(one) for one in told], as_json=as_json)
    sys.exit(0 if all(one.inside for one in told) else 1)


@click.command()
@click.argument("receipt")
@click.option("--context", metavar="FILE", help="Also check this context against the receipt.")
@viewed
@common
def verify(
    *,
    receipt: str,
    context: str | None,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Check a RECEIPT: its hashes, its proofs, its budget, and what the store holds."""
    data = _receipt(receipt)
    text = None if context is None else content_of(context)
    try:
        with opened(store, space) as quire:
            wrong = quire.verify(data, text, viewer)
    except NoStoreError:
        if store is not None or space is not None:
            raise
        from quire.engine import verify_receipt

        wrong = verify_receipt(data, text)
        printing.note("note: there is no store here; the receipt was checked by itself")
    printing.held(wrong, "the receipt holds", as_json=as_json)
    sys.exit(1 if wrong else 0)


@click.command()
@click.argument("receipt")
@viewed
@common
def replay(
    *, receipt: str, viewer: str | None, store: str | None, space: str | None, as_json: bool
) -> None:
    """Run the request of a RECEIPT again and compare every byte."""
    data = _receipt(receipt)
    with opened(store, space) as quire:
        _, differing = quire.replay(data, viewer)
    printing.held(differing, "the same context, byte for byte", as_json=as_json)
    sys.exit(1 if differing else 0)


@click.command()
@click.argument("old")
@click.argument("new")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(*, old: str, new: str, as_json: bool) -> None:
    """Tell what differs between two receipts."""
    from quire.engine import differences

    found = differences(_receipt(old), _receipt(new))
    printing.held(found, "nothing differs", as_json=as_json)
    sys.exit(1 if found else 0)


@click.command()
@click.argument("domain")
@click.option("--strategy", metavar="NAME", help="Also tell how this strategy fared.")
@click.option("--budget", type=int, help="At most so many tokens (default: 1500).")
@click.option("--limit", type=int, help="At most so many items of each section (default: 10).")
@click.option("--model", help="Count for this model: gpt-4o, claude-…, llama-3 (default: o200k).")
@click.option("--receipt", metavar="FILE", help="Write the receipt to this file.")
@viewed
@common
def premortem(
    *,
    domain: str,
    strategy: str | None,
    receipt: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Show what went wrong before in DOMAIN: failures, surprises, root causes, principles.

    For the moment when a test fails for the first time, before the search for the cause begins.
    """
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with opened(store, space) as quire, as_typed(given):
        context = quire.premortem(domain, strategy, **options)
    _keep(receipt, context)
    printing.context(context, as_json=as_json)


@click.command()
@click.argument("receipt", required=False)
@click.option("--useful", multiple=True, metavar="ID", help="A piece that helped, by id or path.")
@click.option("--useless", multiple=True, metavar="ID", help="One that did not; both repeatable.")
@click.option("--list", "listing", is_flag=True, help="List what was said so far.")
@click.option("--forget", metavar="ID", help="Take back what was said.")
@sharing
@viewed
@common
def feedback(
    *,
    receipt: str | None,
    useful: tuple[str, ...],
    useless: tuple[str, ...],
    listing: bool,
    forget: str | None,
    share: tuple[str, ...],
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Say which pieces of a RECEIPT's context helped, and which did not.

    It moves later rankings a little: one's own, and those of whom it is shared with.
    `--feedback 0` leaves it out of a context.
    """
    if (receipt is not None) + listing + (forget is not None) != 1:
        raise InputError("name a RECEIPT, or give --list, or --forget ID")
    with opened(store, space) as quire:
        if receipt is not None:
            made = quire.feedback(
                _receipt(receipt),
                at=now(),
                useful=useful,
                useless=useless,
                share=share,
                viewer=viewer,
            )
            printing.given([made.kept], as_json=as_json)
        elif forget is not None:
            quire.forget_feedback(forget, viewer=viewer)
            printing.say(f"forgot {forget}")
        else:
            printing.given(quire.feedback_given(viewer=viewer), as_json=as_json)


COMMANDS: tuple[click.Command, ...] = (
    assemble,
    premortem,
    explain,
    why_not,
    verify,
    replay,
    diff,
    feedback,
)


def _options(given: dict[str, Any]) -> Options:
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
        "situation": _situation,
        "levels": _listed,
        "types": _listed,
    }
    options |= {
        name: read(given[name]) for name, read in readers.items() if given[name] is not None
    }
    options["where"] = filtered(given["kinds"], given["paths"], given["since"], given["until"])
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


def _situation(text: str) -> Mapping[str, Any]:
    from quire.ruling import situation_of

    return situation_of(content_of(text.removeprefix("@")) if text[:1] in "@-" else text)


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


def _receipt(file: str) -> dict[str, Any]:
    from quire.engine import parse_receipt

    return parse_receipt(content_of(file))


def _pieces(file: str) -> list[str]:
    from quire.engine import pieces_of

    return pieces_of(_receipt(file))


def _keep(receipt: str | None, context: Context) -> None:
    """Write the receipt of a context to a file, with the time of its making."""
    if receipt is not None:
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        text = printing.as_json_text({**context.receipt, "created": moment})
        _write(receipt, text + "\n")


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_bytes(text.encode())  # encoded first: a file is written whole or not
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be written: {error}") from error
