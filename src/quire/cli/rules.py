"""Commands about context files: check them, list what applies, test a situation.

They read the files on disk; no store is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quire.cli import output
from quire.cli.options import CONTEXT, as_json_option, read_situation
from quire.core.serialize import to_plain

if TYPE_CHECKING:
    from quire.config import Config
    from quire.core.types import Condition, InheritedValue, Mistake
    from quire.rules.project_files import CheckedFiles, PlaceEvaluation, PlaceRules

NO_CONTEXT = "no context file applies here"


@click.group(context_settings=CONTEXT)
def rules() -> None:
    """Check context files, and see which of their rules apply where.

    Context files are *.context.yaml, .yml, .toml and .md, AGENTS.md and CLAUDE.md.
    """


@rules.command()
@click.argument("paths", nargs=-1)
@as_json_option
def check(*, paths: tuple[str, ...], as_json: bool) -> None:
    """Check context files; exit 1 if there are mistakes.

    Checks the files below PATHS (default: the whole project). Shows for each rule whether its
    condition is an expression or a sentence.
    """
    from quire.rules import project_files

    checked = project_files.check_files(_load_config(paths[0] if paths else "."), paths)
    _print_check(checked, as_json=as_json)
    if checked.mistakes:
        raise click.exceptions.Exit(1)


@rules.command("list")
@click.argument("path", default=".")
@as_json_option
def list_(*, path: str, as_json: bool) -> None:
    """List what applies at PATH (default: here), and from where."""
    from quire.rules import project_files

    _print_list(project_files.list_rules(_load_config(path), path), as_json=as_json)


@rules.command()
@click.argument("path", default=".")
@click.option(
    "--situation",
    required=True,
    metavar="JSON|-|@FILE",
    help='What is going on, as in {"tool": "bash", "intent": "add a column"}.',
)
@as_json_option
def test(*, path: str, situation: str, as_json: bool) -> None:
    """Show which rules apply in a situation, and why.

    PATH is the place that the rules apply to (default: here). Sentences go to the judge of [judge]
    in quire.toml. The age of a file adds nothing to the priorities here: only a store knows it.
    """
    from quire.rules import project_files

    result = project_files.evaluate_rules(_load_config(path), path, read_situation(situation))
    _print_test(result, as_json=as_json)


def _load_config(path: str) -> Config:
    from quire import config

    start = Path(path).absolute()
    while not start.exists():  # a file that is yet to be written
        start = start.parent
    settings = config.load(start)
    output.announce(settings.notes)
    return settings


# --- output --------------------------------------------------------------------------------------


def _print_check(checked: CheckedFiles, *, as_json: bool) -> None:
    if as_json:
        output.print_json(checked)
        return
    for mistake in checked.mistakes:
        output.say(str(mistake))
    for context in checked.contexts:
        for rule in context.injection_rules:
            when = _describe_condition(rule.condition)
            output.say(f"{context.path}:{rule.line}: rule {rule.name!r} applies {when}")
    contexts = output.number(len(checked.contexts), "context")
    output.say(f"{contexts}, {output.number(len(checked.mistakes), 'mistake')}")


def _print_list(listed: PlaceRules, *, as_json: bool) -> None:
    merged = listed.merged
    if as_json:
        data = {"place": listed.place, **to_plain(merged)}
        output.print_json({**data, "chain": listed.chain, "mistakes": listed.mistakes})
        return
    values: dict[str, InheritedValue | None] = {
        "name": merged.name,
        "type": merged.type,
        "business_goal": merged.business_goal,
        "intent_type": merged.intent_type,
    }
    _print_mistakes(listed.mistakes)
    for key, value in values.items():
        if value is not None:
            output.say(f"{key}: {value.value}  ({value.path})")
    for behavior, path in merged.behavior_rules:
        output.say(f"when {behavior.trigger}: {behavior.action}  ({path}:{behavior.line})")
    for rule, path in merged.injection_rules:
        files, when = ", ".join(rule.inject), _describe_condition(rule.condition)
        output.say(f"rule {rule.name!r} injects {files} {when}  ({path}:{rule.line})")
    for link in listed.chain:
        output.say(f"from {link.context.path}  (distance {link.distance})")
    if not listed.chain:
        output.note(NO_CONTEXT)


def _print_test(result: PlaceEvaluation, *, as_json: bool) -> None:
    evaluation = result.evaluation
    if as_json:
        data = {"place": result.place, **to_plain(evaluation)}
        output.print_json({**data, "mistakes": result.mistakes})
        return
    _print_mistakes(result.mistakes)
    for outcome in evaluation.outcomes:
        if outcome.failed:
            output.warn(f"FAILED: rule {outcome.rule.name!r}: {outcome.why}")
    for dangling in evaluation.missing:
        origin = f"rule {dangling.rule!r} of {dangling.path}"
        output.warn(f"MISSING: {dangling.reference}, which {origin} injects")
    output.print_notes(evaluation.notes)
    for outcome in evaluation.outcomes:
        sign, rule = "+" if outcome.applies else "-", outcome.rule
        output.say(f"{sign} rule {rule.name!r}: {outcome.why}  ({outcome.path}:{rule.line})")
    for active in evaluation.contexts:
        origin = ", ".join(active.rules) or f"distance {active.distance}"
        output.say(f"{active.priority / 1000:.3f} {active.context.path}  ({origin})")
    if not evaluation.contexts:
        output.note(NO_CONTEXT)


def _describe_condition(condition: Condition | None) -> str:
    return "always" if condition is None else f"if the {condition.kind} holds: {condition.text}"


def _print_mistakes(mistakes: Sequence[Mistake]) -> None:
    for mistake in mistakes:
        output.warn(f"FAILED: {mistake}")
