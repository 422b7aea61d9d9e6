"""Print results: as lines for people, or as JSON for programs.

Results go to standard output, everything else to standard error. Nothing that a source contains
reaches a terminal as a control sequence: the other modules print by these functions alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from quire.core.serialize import (
    json_line,
    json_text,
    pick,
    printable,
    printable_text,
    to_plain,
)
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
    Verification,
    Written,
)
from quire.core.types.options import BY_SETTING, name_options

if TYPE_CHECKING:
    from quire.pipeline.why_not import WhyNot

MAX_PATHS = 3
COMMIT_PREFIX = ".git/commit/"
SHA_LENGTH = 10
EXCERPT_LINES = 6
EXCERPT_WIDTH = 160
TAB = 4
TITLE_LENGTH = 80
HOLDS = "the receipt holds"
AGREES = (
    "the receipt agrees with itself, but nothing here shows that its text follows from its sources"
)

Result = TypeVar("Result")


def say(line: str) -> None:
    """Print one line of a result."""
    click.echo(printable(line))


def note(text: str) -> None:
    """Print one line to standard error."""
    click.echo(printable(text), err=True)


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

    On a terminal its last line is ended, and control characters are shown instead of obeyed.
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


def format_place(path: str, lines: Sequence[int]) -> str:
    """Return the name of a place in a file, or of a commit; a PDF has no line numbers."""
    if path.startswith(COMMIT_PREFIX):
        return f"commit {path.removeprefix(COMMIT_PREFIX)[:SHA_LENGTH]}"
    first, last = lines
    return f"{path}:{first}-{last}" if first else path


def shorten(text: str) -> str:
    """Return the beginning of a text as one line."""
    return " ".join(text.split())[:TITLE_LENGTH]


# --- the shapes that several commands share ------------------------------------------------------


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


# --- results of the engine -----------------------------------------------------------------------


def print_index_result(result: IndexResult, *, as_json: bool) -> None:
    """Print what was indexed."""
    if as_json:
        print_json(result)
        return
    _notes_and_skipped(result)
    say(
        f"{result.indexed} indexed, {result.unchanged} unchanged, {result.removed} removed, "
        f"{len(result.skipped)} skipped; {result.chunks} chunks, {result.vectors} new vectors"
        f"{f', {result.commits} new commits' if result.commits else ''}"
    )
    if result.missing_vectors:
        say(f"{result.missing_vectors} chunks have no vector yet")
    say(f"state root {result.state_root}")


def print_import_result(result: ImportResult, what: str, *, as_json: bool) -> None:
    """Print what was imported."""
    if as_json:
        print_json(result)
        return
    _notes_and_skipped(result)
    say(
        f"{result.added} {what} added, {result.changed} changed, {result.unchanged} unchanged, "
        f"{len(result.skipped)} skipped"
    )


def print_search_result(result: SearchResult, *, as_json: bool) -> None:
    """Print the hits of a search; failures come first."""
    if as_json:
        print_json(result)
        return
    _failures_and_notes(result.failed, result.notes)
    if not result.results:
        note("nothing found")
    for number, candidate in enumerate(result.results, start=1):
        chunk = candidate.chunk
        head = printable(f"{number}. {format_place(chunk.path, chunk.lines)}")
        signals = printable(_signals(dict(sorted(candidate.signals.items()))))
        click.echo(f"{click.style(head, bold=True)}  ({signals})")
        if chunk.title:
            say(f"   {chunk.title}")
        lines = [line for line in chunk.text.splitlines() if line.strip()]
        for line in lines[:EXCERPT_LINES]:
            say(f"   | {line.expandtabs(TAB)[:EXCERPT_WIDTH]}")
        if len(lines) > EXCERPT_LINES:
            say("   | ...")


def print_context(result: Context, *, as_json: bool) -> None:
    """Print a context: its text to standard output, everything else to standard error."""
    if as_json:
        print_json(result)
        return
    _failures_and_notes(result.failed, result.notes)
    if result.limit_exceeded:
        note(
            f"note: the budget of {result.available} tokens is exceeded by {result.limit_exceeded}"
        )
    if not result.sources:
        note("nothing found" if not result.decisions else "nothing fits")
    print_text(result.text)
    note(
        f"{result.tokens} of {result.available} tokens, {len(result.sources)} pieces, "
        f"{result.omitted} did not fit{', truncated' if result.truncated else ''}"
    )


def print_explanation(result: Context, *, as_json: bool) -> None:
    """Print what became of each candidate of a context, and why."""
    if as_json:
        print_json(pick(to_plain(result), "tokens", "available", "decisions", "failed", "notes"))
        return
    _failures_and_notes(result.failed, result.notes)
    ranked = sorted(
        result.decisions, key=lambda decision: (-decision.score, decision.path, decision.chunk_id)
    )
    for decision in ranked:
        sign = {"kept": "+", "cut": "~"}.get(decision.verdict, "-")
        say(
            f"{sign} {format_place(decision.path, decision.lines)}  score {decision.score} "
            f"({_signals(decision.signals)})  {decision.tokens} tokens"
        )
        say(f"    {decision.step}: {decision.reason}")
    note(f"{result.tokens} of {result.available} tokens; + in, ~ cut, - out")


def print_why_not(pieces: Sequence[WhyNot], *, as_json: bool) -> None:
    """Print what keeps pieces out of a context, and what lets them in."""
    if as_json:
        print_json({"pieces": pieces})
        return
    for piece in pieces:
        where = format_place(piece.path, piece.lines)
        if piece.inside:
            say(f"{where} is in the context")
            continue
        say(f"{where} is not in the context")
        for cause in piece.relaxed or (piece,):
            say(f"    {cause.step}: {cause.reason}")
        settings = ", ".join(write_setting(item.setting, item.value) for item in piece.relaxed)
        if piece.checked:
            say(f"    to let it in: {settings} (checked by running the request again)")
        else:
            say("    no setting was found that lets it in")


def print_check(differences: Sequence[str], success: str, *, as_json: bool) -> None:
    """Print the differences that a check found, or that it succeeded."""
    if as_json:
        print_json({"holds": not differences, "differences": differences})
        return
    for line in differences or [success]:
        say(line)


def print_verification(result: Verification, *, as_json: bool) -> None:
    """Print what is wrong with a receipt, or that it holds; then what was checked and what not."""
    if as_json:
        print_json({"holds": result.holds, **to_plain(result)})
        return
    for line in result.problems or [HOLDS if result.binds else AGREES]:
        say(line)
    for title, lines in (("checked", result.checked), ("not checked", result.not_checked)):
        for line in lines:
            say(f"  {title}: {line}")


def print_feedback(items: Sequence[Feedback], *, as_json: bool) -> None:
    """Print feedback on contexts."""
    print_list("feedback", items, _feedback_line, "no feedback yet", as_json=as_json)


def _feedback_line(item: Feedback) -> str:
    shared = " (shared)" if item.shared else ""
    return f"{item.id}  {len(item.useful)} useful, {len(item.useless)} useless{shared}"


def print_status(
    result: Status,
    indexed_at: int | None,
    history: tuple[str, int] | None,
    stale: Mapping[str, int] | None,
    *,
    as_json: bool,
) -> None:
    """Print what a store holds, and what only its owner may know: when it was last indexed."""
    values: dict[str, Any] = to_plain(result)
    if indexed_at is not None:
        values["indexed_at"] = datetime.fromtimestamp(indexed_at, UTC).isoformat()
    if history is not None:
        values["head"], values["commits"] = history
    if stale is not None:
        values["stale"] = dict(stale)
    if as_json:
        print_json(values)
        return
    if stale is not None:
        values["stale"] = ", ".join(f"{count} {state}" for state, count in stale.items())
    print_pairs(values)


def print_problems(items: Sequence[Problem], *, as_json: bool) -> None:
    """Print the problems that a check of the store found."""
    if as_json:
        print_json({"problems": items})
        return
    for problem in items:
        state = "repaired" if problem.repaired else "PROBLEM"
        say(f"{state}: {problem.check}: {problem.detail}")
    if not items:
        say("no problems found")
    elif not all(problem.repaired for problem in items):
        note("`quire doctor --repair` rebuilds what it can, and names what is lost")


def print_purge_result(paths: Sequence[str], on_disk: Sequence[str], *, as_json: bool) -> None:
    """Print which files were deleted from the store, and which still exist on disk."""
    if as_json:
        print_json({"purged": paths, "still_on_disk": on_disk})
        return
    for path in paths:
        say(f"purged {path}")
    if not paths:
        note("nothing in the store matches these paths")
    if on_disk:
        note(
            f"{len(on_disk)} of them still exist on disk and would be indexed again; "
            "delete them or name them in .quireignore"
        )


def print_access_rules(
    rules: Iterable[tuple[str, AccessRule]],
    groups: Mapping[str, Mapping[str, Sequence[str]]],
    remarks: Sequence[str] = (),
    *,
    default: Sequence[str] | None = None,
    as_json: bool,
) -> None:
    """Print who can read what, in order of precedence: the default, then the rules, then groups."""
    if as_json:
        data: dict[str, Any] = {} if default is None else {"default": default}
        data["rules"] = [{"origin": origin, **to_plain(rule)} for origin, rule in rules]
        print_json({**data, "groups": groups, "notes": remarks})
        return
    rows = [*rules] if default is None else [("default", AccessRule("*", (*default,))), *rules]
    for origin, rule in rows:
        say(f"{rule.glob}  ->  {', '.join(rule.principals) or 'owner'}  ({origin})")
    for origin, table in groups.items():
        for name, users in table.items():
            say(f"@{name}  =  {', '.join(users)}  ({origin})")
    for text in remarks:
        note(f"note: {text}")


def print_skipped(skipped: Sequence[Skipped]) -> None:
    """Print what was skipped, by reason; the rarest first, so that a secret is not overlooked."""
    reasons: dict[str, list[str]] = {}
    for item in skipped:
        reasons.setdefault(item.reason, []).append(item.path)
    for reason, paths in sorted(reasons.items(), key=lambda item: (len(item[1]), item[0])):
        more = f" and {len(paths) - MAX_PATHS} more" if len(paths) > MAX_PATHS else ""
        note(f"skipped {', '.join(paths[:MAX_PATHS])}{more}: {reason}")
    if any(len(paths) > MAX_PATHS for paths in reasons.values()):
        note("--json lists everything that was skipped")


def _notes_and_skipped(result: IndexResult | ImportResult) -> None:
    print_notes(result.notes)
    print_skipped(result.skipped)


def _failures_and_notes(failed: Iterable[Failure], texts: Iterable[str]) -> None:
    for failure in failed:
        note(f"FAILED: {failure.source}: {failure.reason}")
    print_notes(texts)


def _signals(signals: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in signals.items())


def write_flags(text: str) -> str:
    """Write the options that a note names in backticks as flags."""
    return name_options(text, lambda option: option.flag)


def write_setting(setting: str, value: object) -> str:
    """Write how to give a setting of a recipe a value: with a flag where there is one."""
    option = BY_SETTING.get(setting)
    return f"{setting} = {value}" if option is None else f"{option.flag} {value}"
