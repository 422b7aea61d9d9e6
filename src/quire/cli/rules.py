"""How are the rules of context files seen on the command line?

These commands read files, and no store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.options import CONTEXT, situation_typed
from quire.core import serialize
from quire.core.types import Condition, Inherited, InjectionRule, Mistake

if TYPE_CHECKING:
    from quire.config import Config
    from quire.rules.project_files import Checked, Held, Tested

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(context_settings=CONTEXT)
def rules() -> None:
    """Check context files, and see which of their rules apply where.

    Context files are *.context.yaml, .yml, .toml and .md, AGENTS.md and CLAUDE.md.
    """


@rules.command()
@click.argument("paths", nargs=-1)
@AS_JSON
def check(*, paths: tuple[str, ...], as_json: bool) -> None:
    """Check the context files below PATHS (default: the whole project); exit 1 on mistakes.

    Tells for each rule whether its condition is taken as an expression or as a sentence.
    """
    from quire.rules import project_files

    checked = project_files.check(_settings(paths[0] if paths else "."), paths)
    _show_checked(checked, as_json=as_json)
    if checked.mistakes:
        raise click.exceptions.Exit(1)


@rules.command("list")
@click.argument("path", default=".")
@AS_JSON
def list_(*, path: str, as_json: bool) -> None:
    """List what holds at PATH (default: here), and the file that each part comes from."""
    from quire.rules import project_files

    _show_held(project_files.holding(_settings(path), path), as_json=as_json)


@rules.command()
@click.argument("path", default=".")
@click.option(
    "--situation",
    required=True,
    metavar="JSON|-|@FILE",
    help='What is going on, as in {"tool": "bash", "intent": "add a column"}.',
)
@AS_JSON
def test(*, path: str, situation: str, as_json: bool) -> None:
    """Tell which rules apply at PATH (default: here) in a situation, and why.

    Sentences go to the judge of [judge] in quire.toml. How new a file is adds nothing to the
    priorities here: that is told by a store.
    """
    from quire.rules import project_files

    tested = project_files.applying(_settings(path), path, situation_typed(situation))
    _show_tested(tested, as_json=as_json)


def _settings(path: str) -> Config:
    from quire import config

    start = Path(path).absolute()
    while not start.exists():  # a file that is yet to be written
        start = start.parent
    return config.load(start)


# --- for people, and for programs ---------------------------------------------------------------


def _show_checked(checked: Checked, *, as_json: bool) -> None:
    if as_json:
        contexts = [
            {
                "path": one.path,
                "name": one.name,
                "rules": [_rule(rule) for rule in one.injection_rules],
            }
            for one in checked.contexts
        ]
        _print({"contexts": contexts, "mistakes": _mistakes(checked.mistakes)})
        return
    for mistake in checked.mistakes:
        output.say(str(mistake))
    for one in checked.contexts:
        for rule in one.injection_rules:
            when = _when(rule.condition)
            output.say(f"{one.path}:{rule.line}: rule {rule.name!r} applies {when}")
    output.say(f"{len(checked.contexts)} contexts, {len(checked.mistakes)} mistakes")


def _show_held(held: Held, *, as_json: bool) -> None:
    resolved = held.resolved
    scalars: dict[str, Inherited | None] = {
        "name": resolved.name,
        "type": resolved.type,
        "business_goal": resolved.business_goal,
        "intent_type": resolved.intent_type,
    }
    if as_json:
        told: dict[str, Any] = {"place": held.place}
        told |= {key: None if one is None else asdict(one) for key, one in scalars.items()}
        told["behavior_rules"] = [
            {"trigger": rule.trigger, "action": rule.action, "path": path, "line": rule.line}
            for rule, path in resolved.behavior_rules
        ]
        told["injection_rules"] = [
            {**_rule(rule), "path": path} for rule, path in resolved.injection_rules
        ]
        told["chain"] = [
            {
                "path": link.context.path,
                "distance": link.distance,
                "characters": len(link.context.text),
            }
            for link in held.chain
        ]
        _print({**told, "mistakes": _mistakes(held.mistakes)})
        return
    _failed(held.mistakes)
    for key, one in scalars.items():
        if one is not None:
            output.say(f"{key}: {one.value}  ({one.path})")
    for rule, path in resolved.behavior_rules:
        output.say(f"when {rule.trigger}: {rule.action}  ({path}:{rule.line})")
    for rule_, path in resolved.injection_rules:
        brings = ", ".join(rule_.inject)
        output.say(
            f"rule {rule_.name!r} brings {brings} {_when(rule_.condition)}  ({path}:{rule_.line})"
        )
    for link in held.chain:
        output.say(f"from {link.context.path}  (distance {link.distance})")
    if not held.chain:
        output.note("no context file counts here")


def _show_tested(tested: Tested, *, as_json: bool) -> None:
    ruled = tested.ruled
    if as_json:
        told = {
            "place": tested.place,
            "rules": [
                {
                    **_rule(one.rule),
                    "path": one.path,
                    "applies": one.applies,
                    "why": one.why,
                    "failed": one.failed,
                }
                for one in ruled.rulings
            ],
            "contexts": [
                {
                    "path": one.context.path,
                    "name": one.context.name,
                    "priority": one.priority / 1000,
                    "distance": one.distance,
                    "rules": list(one.rules),
                }
                for one in ruled.contexts
            ],
            "missing": [asdict(one) for one in ruled.missing],
            "notes": list(ruled.notes),
            "mistakes": _mistakes(tested.mistakes),
        }
        _print(told)
        return
    _failed(tested.mistakes)
    for project_files in ruled.rulings:
        if project_files.failed:
            output.note(f"FAILED: rule {project_files.rule.name!r}: {project_files.why}")
    for one in ruled.missing:
        output.note(f"MISSING: {one.reference}, which rule {one.rule!r} of {one.path} brings in")
    output.notes(ruled.notes)
    for project_files in ruled.rulings:
        sign = "+" if project_files.applies else "-"
        place = f"{project_files.path}:{project_files.rule.line}"
        output.say(f"{sign} rule {project_files.rule.name!r}: {project_files.why}  ({place})")
    for weighed in ruled.contexts:
        by = ", ".join(weighed.rules) or f"distance {weighed.distance}"
        output.say(f"{weighed.priority / 1000:.3f} {weighed.context.path}  ({by})")
    if not ruled.contexts:
        output.note("no context file counts here")


def _rule(rule: InjectionRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "condition": None if rule.condition is None else asdict(rule.condition),
        "inject": list(rule.inject),
        "priority": rule.priority,
        "on_error": rule.on_error,
        "line": rule.line,
    }


def _when(condition: Condition | None) -> str:
    return "always" if condition is None else f"if the {condition.kind} holds: {condition.text}"


def _mistakes(mistakes: Sequence[Mistake]) -> list[dict[str, Any]]:
    return [asdict(one) for one in mistakes]


def _failed(mistakes: Sequence[Mistake]) -> None:
    for one in mistakes:
        output.note(f"FAILED: {one}")


def _print(told: dict[str, Any]) -> None:
    click.echo(serialize.json_text(told))
