"""Print the results of the engine: as lines for people, or as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from quire.cli.output import (
    format_place,
    is_quiet,
    note,
    number,
    print_json,
    print_list,
    print_notes,
    print_pairs,
    print_text,
    say,
    say_heading,
    warn,
    write_setting,
)
from quire.core.dates import format_moment
from quire.core.serialize import pick, to_plain
from quire.core.types import AccessRule

if TYPE_CHECKING:
    from quire.core.types import (
        CacheUse,
        Context,
        Failure,
        Feedback,
        ImportResult,
        IndexResult,
        Problem,
        PutSummary,
        Redaction,
        SearchResult,
        Skipped,
        Status,
        Verification,
    )
    from quire.indexing.support_report import SupportReport
    from quire.pipeline.why_not import WhyNot

MAX_PATHS = 3
MAX_REDACTED = 10
EXCERPT_LINES = 6
EXCERPT_WIDTH = 160
TAB = 4
HOLDS = "the receipt holds"
AGREES = (
    "the receipt agrees with itself, but nothing here shows that its text follows from its sources"
)


def print_index_result(result: IndexResult, *, as_json: bool) -> None:
    """Print what was indexed."""
    if as_json:
        print_json(result)
        return
    _notes_and_skipped(result)
    print_redacted(result.redacted)
    if is_quiet():
        return
    if not result.chunks:
        note("note: the store is empty: there is no file here that could be indexed")
    commits = f", {number(result.commits, 'new commit')}" if result.commits else ""
    say(
        f"{result.indexed} indexed, {result.unchanged} unchanged, {result.removed} removed, "
        f"{len(result.skipped)} skipped; {number(result.chunks, 'chunk')}, "
        f"{number(result.vectors, 'new vector')}{commits}"
    )
    if result.missing_vectors:
        have = "has" if result.missing_vectors == 1 else "have"
        say(f"{number(result.missing_vectors, 'chunk')} {have} no vector yet")
    say(f"state root {result.state_root}")


def print_import_result(result: ImportResult, noun: str, *, as_json: bool) -> None:
    """Print what was imported: how many of what a noun in the singular names."""
    if as_json:
        print_json(result)
        return
    _notes_and_skipped(result)
    say(
        f"{number(result.added, noun)} added, {result.changed} changed, "
        f"{result.unchanged} unchanged, {len(result.skipped)} skipped"
    )


def print_put_summary(result: PutSummary, *, as_json: bool) -> None:
    """Print what became of documents."""
    if as_json:
        print_json(result)
        return
    print_notes(result.notes)
    print_skipped(result.skipped)
    print_redacted(result.redacted)
    say(_put_counts(result))


def _put_counts(result: PutSummary) -> str:
    removed = f", {result.removed} removed" if result.removed else ""
    return (
        f"{number(result.added, 'document')} added, {result.changed} changed, "
        f"{result.unchanged} unchanged{removed}, {len(result.skipped)} skipped; "
        f"{number(result.vectors, 'new vector')}"
    )


def print_synced(name: str, result: PutSummary) -> None:
    """Print what became of the documents of a source; what went wrong however quiet it is."""
    from quire.core.types import SkippedRow

    rows = [each for each in result.skipped if isinstance(each, SkippedRow)]
    for row in rows[:MAX_REDACTED]:
        warn(f"{name}, row {row.row}{f' ({row.path})' if row.path else ''}: {row.reason}")
    if len(rows) > MAX_REDACTED:
        warn(f"{name}: {number(len(rows) - MAX_REDACTED, 'more row')}; --json lists them")
    if result.failed:
        warn(f"{name} failed: {result.failed}")
    files = tuple(each for each in result.skipped if not isinstance(each, SkippedRow))
    print_notes([f"{name}: {text}" for text in result.notes])
    print_skipped(files)
    print_redacted(result.redacted)
    say(f"{name}: {_put_counts(result)}")


def print_search_result(result: SearchResult, *, as_json: bool) -> None:
    """Print the hits of a search; failures come first."""
    if as_json:
        print_json(result)
        return
    _failures_and_notes(result.failed, result.notes)
    if not result.results:
        note("nothing found")
    for rank, candidate in enumerate(result.results, start=1):
        chunk = candidate.chunk
        place = candidate.document or format_place(chunk.path, chunk.lines)
        doubt = "" if candidate.likely else ", not likely to help"
        signals = _signals(dict(sorted(candidate.signals.items())))
        say_heading(f"{rank}. {place}{doubt}", f"  ({signals})")
        if chunk.title:
            say(f"   {chunk.title}")
        lines = [line for line in chunk.text.splitlines() if line.strip()]
        for line in lines[:EXCERPT_LINES]:
            say(f"   | {line.expandtabs(TAB)[:EXCERPT_WIDTH]}")
        if len(lines) > EXCERPT_LINES:
            say("   | ...")


def print_context(result: Context, *, as_json: bool, parts: bool = True) -> None:
    """Print a context: its text to standard output, everything else to standard error.

    Without `parts`, JSON does not have the text of each piece again.
    """
    if as_json:
        print_json(result if parts else _without_parts(result))
        return
    _failures_and_notes(result.failed, result.notes)
    if result.limit_exceeded:
        note(
            f"note: the budget of {result.available} tokens is exceeded by {result.limit_exceeded}"
        )
    if result.why_empty:
        note(result.why_empty)
    print_text(result.text)
    note(
        f"{result.tokens} of {_available(result)}, {number(len(result.sources), 'piece')}, "
        f"{result.omitted} did not fit{', truncated' if result.truncated else ''}"
    )


def _without_parts(result: Context) -> dict[str, Any]:
    members: dict[str, Any] = to_plain(result)
    return {name: value for name, value in members.items() if name != "chunks"}


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
            f"({_signals(decision.signals)})  {number(decision.tokens, 'token')}"
        )
        say(f"    {decision.step}: {decision.reason}")
    note(f"{result.tokens} of {_available(result)}; + in, ~ cut, - out")


def _available(result: Context) -> str:
    """Write how many tokens the text may have, and what the rest of the window is kept free for."""
    reserved = {name: count for name, count in _reserved(result).items() if count}
    if not reserved:
        return f"{result.available} tokens"
    kept = ", ".join(f"{name} {count}" for name, count in reserved.items())
    total = result.available + sum(reserved.values())
    return f"{result.available} tokens ({total} less {kept}: see --reserve)"


def _reserved(result: Context) -> Mapping[str, int]:
    recipe: Any = result.receipt["recipe"]
    reserved: Mapping[str, int] = recipe["budget"]["reserved"]
    return reserved


def print_why_not(pieces: Sequence[WhyNot], *, as_json: bool) -> None:
    """Print what keeps pieces out of a context, and what lets them in."""
    if as_json:
        print_json({"pieces": pieces})
        return
    for run in _alike(pieces):
        piece = run[0]
        where = format_place(piece.path, (piece.lines[0], run[-1].lines[1]))
        if piece.inside:
            say(f"{where} is in the context")
            continue
        if not piece.tried:
            pieces_of = f" ({number(len(run), 'piece')})" if len(run) > 1 else ""
            say(f"{where}{pieces_of} is not in the context: {piece.step}: {piece.reason}")
            continue
        say(f"{where} is not in the context")
        for cause in piece.relaxed or (piece,):
            say(f"    {cause.step}: {cause.reason}")
        settings = ", ".join(write_setting(item.setting, item.value) for item in piece.relaxed)
        if piece.checked:
            say(f"    to let it in: {settings} (checked by running the request again)")
        else:
            say("    no setting was found that lets it in")
    if any(not piece.tried for piece in pieces):
        note("settings were tried for the best pieces alone; PATH:LINE tries them for others")


def _alike(pieces: Sequence[WhyNot]) -> Iterator[list[WhyNot]]:
    """Yield neighbors that are missing for the same reason, and every other piece by itself.

    A long file has hundreds of pieces that no search found.
    """

    def reason(place: tuple[int, WhyNot]) -> tuple[object, ...]:
        at, piece = place
        is_alone = piece.inside or piece.tried
        return (piece.path, at) if is_alone else (piece.path, piece.step, piece.reason)

    for _, run in groupby(enumerate(pieces), key=reason):
        yield [piece for _, piece in run]


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
    working: str | None,
    *,
    as_json: bool,
) -> None:
    """Print what a store holds, and what only its owner may know: when it was last indexed."""
    values: dict[str, Any] = to_plain(result)
    if indexed_at is not None:
        values["indexed_at"] = format_moment(indexed_at)
    if history is not None:
        values["head"], values["commits"] = history
    if stale is not None:
        values["stale"] = dict(stale)
    if working is not None:
        values["background"] = working
    if as_json:
        print_json(values)
        return
    if stale is not None:
        values["stale"] = ", ".join(f"{count} {state}" for state, count in stale.items())
    if result.caches is not None:
        values["caches"] = _cache_rates(result.caches)
    values |= _readable_parts(result)
    for told_below in ("notes", "facets"):
        values.pop(told_below, None)
    print_pairs(values)
    for text in result.notes:
        note(text)


def _readable_parts(status: Status) -> dict[str, str]:
    """Return what is printed otherwise than in JSON."""
    parts = {}
    if status.disk is not None:
        parts["disk"] = (
            f"old vectors {status.disk.old_vectors}, audit log {status.disk.audit_log} bytes, "
            f"verdicts {status.disk.verdicts} bytes"
        )
    if status.reembedding is not None:
        again = status.reembedding
        parts["reembedding"] = f"{again.vectors} of {again.chunks} chunks, with {again.model}"
    if status.languages:
        parts["languages"] = _languages(status)
    return parts


def _languages(status: Status) -> str:
    """Return the languages of a store with their numbers of chunks, the most frequent first."""
    from quire.core.languages import language_name

    order = sorted(status.languages, key=lambda code: (-status.languages[code], code))
    english = status.chunks - sum(status.languages.values())
    counts = [f"{language_name(code)} {status.languages[code]}" for code in order]
    return ", ".join([*counts, f"English or none {english}"])


def _cache_rates(use: CacheUse) -> str:
    counts = {
        "contexts": use.contexts,
        "semantic searches": use.searches,
        "query vectors": use.query_vectors,
        "verdicts": use.verdicts,
    }
    rates = [
        f"{name} {count.rate:.1%} of {count.total}" for name, count in counts.items() if count.total
    ]
    return ", ".join(rates) or "not used yet"


def print_problems(items: Sequence[Problem], *, as_json: bool) -> None:
    """Print the problems that a check of the store found."""
    if as_json:
        print_json({"problems": items})
        return
    for problem in items:
        state = "done" if problem.check == "disk" else "repaired"
        state = state if problem.repaired else "PROBLEM"
        say(f"{state}: {problem.check}: {problem.detail}")
    if not items:
        say("no problems found")
    elif not all(problem.repaired for problem in items):
        note("`quire doctor --repair` rebuilds what it can, and names what is lost")


def print_support_report(report: SupportReport, *, as_json: bool) -> None:
    """Print what a bug report needs."""
    if as_json:
        print_json(report)
        return
    say(f"quire {report.quire}, {report.python}, {report.system}")
    say("packages: " + ", ".join(f"{name} {version}" for name, version in report.packages.items()))
    say("settings that are not the default: " + (", ".join(report.settings) or "none"))
    if report.error:
        say(f"the store could not be used: {report.error}")
    if report.counts:
        say("store: " + ", ".join(f"{name} {count}" for name, count in report.counts.items()))
        say(f"embedding model: {report.model}")
    found = ", ".join(f"{check} ({count})" for check, count in report.problems.items())
    say("problems: " + (found or "none"))


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
        verb = "exists" if len(on_disk) == 1 else "exist"
        note(
            f"{len(on_disk)} of them still {verb} on disk and "
            "would be indexed again; delete what should stay out, or name it in .quireignore"
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


def print_redacted(redacted: Sequence[Redaction]) -> None:
    """Print which secrets were taken out of texts, and how to allow them."""
    for item in redacted[:MAX_REDACTED]:
        note(f"redacted {item.path}, line {item.line}: {item.kind} ({item.fingerprint})")
    if len(redacted) > MAX_REDACTED:
        note(f"redacted {len(redacted) - MAX_REDACTED} more; --json lists them all")
    if redacted:
        note('to allow one: [ingest] allow_secrets = ["fingerprint:…"], or a glob of its files')


def _notes_and_skipped(result: IndexResult | ImportResult) -> None:
    print_notes(result.notes)
    print_skipped(result.skipped)


def _failures_and_notes(failed: Iterable[Failure], texts: Iterable[str]) -> None:
    for failure in failed:
        warn(f"FAILED: {failure.source}: {failure.reason}")
    print_notes(texts)


def _signals(signals: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in signals.items())
