"""How are results shown to a person, and to a program?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from quire.cli.context_options import assignment, option_flags
from quire.core.serialize import json_text, pick, printable, to_plain
from quire.core.types import (
    AccessRule,
    Context,
    Failure,
    Feedback,
    ImportResult,
    IndexResult,
    Problem,
    SearchResult,
    Skipped,
    Status,
)

PATHS_SHOWN = 3
COMMITS = ".git/commit/"
SHA_SHOWN = 10
TEXT_LINES = 6
TAB = 4


def place(path: str, lines: Sequence[int]) -> str:
    """Name a place in a file, or a commit; lines that mean nothing (in a PDF) are left out."""
    if path.startswith(COMMITS):
        return f"commit {path.removeprefix(COMMITS)[:SHA_SHOWN]}"
    first, last = lines
    return f"{path}:{first}-{last}" if first else path


def say(line: str) -> None:
    """Print one line of a result for a person."""
    click.echo(printable(line))


def note(text: str) -> None:
    """Tell a person something beside the result."""
    click.echo(printable(text), err=True)


def indexed(result: IndexResult, *, as_json: bool) -> None:
    """Show what became of the files."""
    if as_json:
        click.echo(json_text(result))
        return
    notes(result.notes)
    left_out(result.skipped)
    say(
        f"{result.indexed} indexed, {result.unchanged} unchanged, {result.removed} removed, "
        f"{len(result.skipped)} skipped; {result.chunks} chunks, {result.vectors} new vectors"
        f"{f', {result.commits} new commits' if result.commits else ''}"
    )
    if result.missing_vectors:
        say(f"{result.missing_vectors} chunks have no vector yet")
    say(f"state root {result.state_root}")


def found(result: SearchResult, *, as_json: bool) -> None:
    """Show what a search found; failures come first."""
    if as_json:
        click.echo(json_text(result))
        return
    _missing(result.failed, result.notes)
    if not result.results:
        note("nothing found")
    for number, candidate in enumerate(result.results, start=1):
        chunk = candidate.chunk
        where = place(chunk.path, chunk.lines)
        signals = ", ".join(f"{name} {value}" for name, value in sorted(candidate.signals.items()))
        click.echo(
            f"{click.style(printable(f'{number}. {where}'), bold=True)}  ({printable(signals)})"
        )
        if chunk.title:
            say(f"   {chunk.title}")
        lines = [line for line in chunk.text.splitlines() if line.strip()]
        for line in lines[:TEXT_LINES]:
            say(f"   | {line.expandtabs(TAB)[:160]}")
        if len(lines) > TEXT_LINES:
            say("   | ...")


def context(made: Context, *, as_json: bool) -> None:
    """Show a context: the text alone, what else there is to know beside it."""
    if as_json:
        click.echo(json_text(made))
        return
    _missing(made.failed, made.notes)
    if made.limit_exceeded:
        note(f"note: the budget of {made.available} tokens is passed by {made.limit_exceeded}")
    if not made.sources:
        note("nothing found" if not made.decisions else "nothing fits")
    _exactly(made.text)
    note(
        f"{made.tokens} of {made.available} tokens, {len(made.sources)} pieces, "
        f"{made.omitted} did not fit{', truncated' if made.truncated else ''}"
    )


def given(told: Sequence[Feedback], *, as_json: bool) -> None:
    """Show what was said of contexts."""
    if as_json:
        click.echo(json_text({"feedback": told}))
        return
    for one in told:
        whose = " (shared)" if one.shared else ""
        say(f"{one.id}  {len(one.useful)} useful, {len(one.useless)} useless{whose}")
    if not told:
        note("nothing was said yet")


def forgotten(name: str, *, as_json: bool) -> None:
    """Show what was taken back."""
    if as_json:
        click.echo(json_text({"forgotten": name}))
    else:
        say(f"forgot {name}")


def _exactly(text: str) -> None:
    """Write a text to the byte, as its receipt has it; a terminal's last line is ended."""
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None or sys.stdout.isatty():
        click.echo(text, nl=bool(text) and not text.endswith("\n"))
        return
    stream.write(text.encode("utf-8", "surrogatepass"))
    stream.flush()


def explained(made: Context, *, as_json: bool) -> None:
    """Show the fate of each candidate, step by step."""
    if as_json:
        data = to_plain(made)
        click.echo(json_text(pick(data, "tokens", "available", "decisions", "failed", "notes")))
        return
    _missing(made.failed, made.notes)
    for decision in sorted(made.decisions, key=lambda one: (-one.score, one.path, one.chunk_id)):
        sign = {"kept": "+", "cut": "~"}.get(decision.verdict, "-")
        signals = ", ".join(f"{name} {value}" for name, value in decision.signals.items())
        say(
            f"{sign} {place(decision.path, decision.lines)}  score {decision.score} ({signals})  "
            f"{decision.tokens} tokens"
        )
        say(f"    {decision.step}: {decision.reason}")
    note(f"{made.tokens} of {made.available} tokens; + in, ~ cut, - out")


def why_not(told: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Show what keeps pieces out, and what lets them in."""
    if as_json:
        click.echo(json_text({"pieces": told}))
        return
    for one in told:
        where = place(one["path"], one["lines"])
        if one["inside"]:
            say(f"{where} is in the context")
            continue
        say(f"{where} is not in the context")
        for fallen in one["relaxed"] or [one]:
            say(f"    {fallen['step']}: {fallen['reason']}")
        settings = ", ".join(assignment(each["setting"], each["value"]) for each in one["relaxed"])
        if one["checked"]:
            say(f"    it gets in with {settings} (checked by running it again)")
        else:
            say("    no setting was found that lets it in")


def held(wrong: Sequence[str], well: str, *, as_json: bool) -> None:
    """Show whether something held; the first line says what differs."""
    if as_json:
        click.echo(json_text({"holds": not wrong, "differences": list(wrong)}))
        return
    for text in wrong or [well]:
        say(text)


def status(
    told: Status,
    indexed_at: int | None,
    history: tuple[str, int] | None,
    stale: Mapping[str, int] | None,
    *,
    as_json: bool,
) -> None:
    """Show what a store holds."""
    values: dict[str, Any] = to_plain(told)
    if indexed_at is not None:
        values["indexed_at"] = datetime.fromtimestamp(indexed_at, UTC).isoformat()
    if history is not None:
        values["head"], values["commits"] = history
    if stale is not None:
        values["stale"] = dict(stale)
    if as_json:
        click.echo(json_text(values))
        return
    pairs(values)


def problems(found_: Sequence[Problem], *, as_json: bool) -> None:
    """Show what a check found."""
    if as_json:
        click.echo(json_text({"problems": found_}))
        return
    for problem in found_:
        state = "repaired" if problem.repaired else "PROBLEM"
        say(f"{state}: {problem.check}: {problem.detail}")
    if not found_:
        say("everything is in order")
    elif not all(problem.repaired for problem in found_):
        note("run `quire doctor --repair` to mend what can be derived again")


def imported(result: ImportResult, what: str, *, as_json: bool) -> None:
    """Show what became of the things that were imported."""
    if as_json:
        click.echo(json_text(result))
        return
    notes(result.notes)
    left_out(result.skipped)
    say(
        f"{result.added} {what} added, {result.changed} changed, {result.unchanged} unchanged, "
        f"{len(result.skipped)} skipped"
    )


def notes(told: Iterable[str]) -> None:
    """Tell a person what there is to know beside a result."""
    for text in told:
        note(f"note: {option_flags(text)}")


def _missing(failed: Iterable[Failure], told: Iterable[str]) -> None:
    """Tell who failed, then why else an answer may hold less than was meant."""
    for failure in failed:
        note(f"FAILED: {failure.source}: {failure.reason}")
    notes(told)


def purged(gone: Sequence[str], still: Sequence[str], *, as_json: bool) -> None:
    """Show what was deleted for good."""
    if as_json:
        click.echo(json_text({"purged": list(gone), "still_on_disk": list(still)}))
        return
    for path in gone:
        say(f"purged {path}")
    if not gone:
        note("nothing in the store matches these paths")
    if still:
        note(
            f"{len(still)} of them still exist on disk and would be indexed again; "
            "delete them or name them in .quireignore"
        )


def rules(
    listed: Iterable[tuple[str, AccessRule]],
    groups: Mapping[str, Mapping[str, Sequence[str]]],
    notes: Sequence[str] = (),
    *,
    default: Sequence[str] | None = None,
    as_json: bool,
) -> None:
    """Show who may read what; the default, where it is told, counts before all rules."""
    rows = [(origin, rule.glob, list(rule.principals)) for origin, rule in listed]
    if as_json:
        told: dict[str, Any] = {} if default is None else {"default": list(default)}
        told["rules"] = [
            {"origin": origin, "glob": glob, "principals": principals}
            for origin, glob, principals in rows
        ]
        told["groups"] = {
            origin: {name: list(users) for name, users in table.items()}
            for origin, table in groups.items()
        }
        click.echo(json_text({**told, "notes": list(notes)}))
        return
    if default is not None:
        rows.insert(0, ("default", "*", list(default)))
    for origin, glob, principals in rows:
        say(f"{glob}  ->  {', '.join(principals) or 'owner'}  ({origin})")
    for origin, table in groups.items():
        for name, users in table.items():
            say(f"@{name}  =  {', '.join(users)}  ({origin})")
    for text in notes:
        note(f"note: {text}")


def left_out(skipped: Sequence[Skipped]) -> None:
    """Tell what was left out, by reason, the rarest first: a secret must not drown in pictures."""
    reasons: dict[str, list[str]] = {}
    for one in skipped:
        reasons.setdefault(one.reason, []).append(one.path)
    for reason, paths in sorted(reasons.items(), key=lambda item: (len(item[1]), item[0])):
        more = f" and {len(paths) - PATHS_SHOWN} more" if len(paths) > PATHS_SHOWN else ""
        note(f"skipped {', '.join(paths[:PATHS_SHOWN])}{more}: {reason}")
    if any(len(paths) > PATHS_SHOWN for paths in reasons.values()):
        note("--json lists all that was skipped")


def pairs(values: Mapping[str, Any]) -> None:
    """Show names with their values, one below the other."""
    width = max(len(name) for name in values)
    for name, value in values.items():
        told = "-" if value is None else value
        if isinstance(value, Mapping):
            told = ", ".join(f"{count} {what}" for what, count in value.items())
        elif isinstance(value, list | tuple):
            told = ", ".join(map(str, value))
        say(f"{name:<{width}}  {told}")
