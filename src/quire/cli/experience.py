"""Commands about experiences, and the principles that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quire.cli import output
from quire.cli.options import (
    CONTEXT,
    Command,
    Common,
    drop_none,
    id_argument,
    with_share,
    with_viewer,
    with_write_options,
)
from quire.cli.results import print_import_result
from quire.system.clock import now

if TYPE_CHECKING:
    from quire.core.types import Experience, Principle


def attempt_options(command: Command) -> Command:
    """Add the options that describe an attempt."""
    for option in (
        click.option("--prediction", metavar="TEXT", help="What you expect to see if it is true."),
        click.option("--action", metavar="TEXT", help="What you do to find out."),
        click.option("--hypothesis", metavar="TEXT", help="What you believe."),
        click.option("--strategy", metavar="NAME", help="How you proceed."),
    ):
        command = option(command)
    return command


@click.group(context_settings=CONTEXT)
def experience() -> None:
    """Record what you try and how it ends: start, update, resolve.

    Only its author and the owner can change an experience.
    """


@experience.command()
@click.argument("goal")
@click.option("--domain", required=True, metavar="NAME", help="debugging, feature, testing, …")
@attempt_options
@with_share
@with_write_options
def start(
    options: Common,
    *,
    goal: str,
    domain: str,
    share: tuple[str, ...],
    allow_secret: bool,
    **attempt: str | None,
) -> None:
    """Start to record an attempt to reach GOAL.

    `update` adds what is not known yet. An unknown domain or strategy is refused with the list of
    those that exist.
    """
    with options.open_to_write() as quire:
        written = quire.experiences.start(
            goal,
            at=now(),
            domain=domain,
            share=share,
            viewer=options.viewer,
            allow_secret=allow_secret,
            **drop_none(**attempt),
        )
    output.print_written(written, "started", as_json=options.as_json)


@experience.command()
@id_argument
@click.option("--goal", metavar="TEXT", help="New goal.")
@click.option("--domain", metavar="NAME", help="New domain.")
@attempt_options
@with_write_options
def update(options: Common, *, name: str, allow_secret: bool, **changes: str | None) -> None:
    """Update an open experience.

    A hypothesis, action or prediction that replaces an earlier one counts as another iteration.
    """
    with options.open() as quire:
        written = quire.experiences.update(
            name, at=now(), viewer=options.viewer, allow_secret=allow_secret, **drop_none(**changes)
        )
    output.print_written(written, "updated", as_json=options.as_json)


@experience.command()
@id_argument
@click.argument("outcome")
@click.option("--result", metavar="TEXT", help="What you saw.")
@click.option("--surprise", metavar="TEXT", help="What was unexpected.")
@click.option("--root-cause", metavar="TEXT", help="Why the hypothesis failed.")
@click.option("--lesson", metavar="TEXT", help="What worked, and what to do next time.")
@with_write_options
def resolve(
    options: Common, *, name: str, outcome: str, allow_secret: bool, **findings: str | None
) -> None:
    """Close an experience as confirmed, falsified or abandoned.

    With a result and a lesson (and, if falsified, the root cause) it counts as gold, with a result
    as silver, otherwise as bronze.
    """
    with options.open() as quire:
        written = quire.experiences.resolve(
            name,
            outcome,
            at=now(),
            viewer=options.viewer,
            allow_secret=allow_secret,
            **drop_none(**findings),
        )
    output.print_written(written, f"resolved ({written.value.tier})", as_json=options.as_json)


@experience.command("list")
@click.option("--domain", metavar="NAME", help="Only this domain.")
@click.option("--strategy", metavar="NAME", help="Only this strategy.")
@click.option("--outcome", metavar="NAME", help="Only open, confirmed, falsified or abandoned.")
@with_viewer
def list_experiences(
    options: Common, *, domain: str | None, strategy: str | None, outcome: str | None
) -> None:
    """List experiences, oldest first."""
    with options.open() as quire:
        experiences = quire.experiences.list(
            viewer=options.viewer, domain=domain, strategy=strategy, outcome=outcome
        )
    output.print_list("experiences", experiences, _line, "no experiences", as_json=options.as_json)


@experience.command()
@id_argument
@with_viewer
def show(options: Common, *, name: str) -> None:
    """Show an experience."""
    with options.open() as quire:
        found = quire.experiences.get(name, viewer=options.viewer)
    output.print_record(found, as_json=options.as_json)


@click.command()
@click.option("--refresh", is_flag=True, help="Compute all principles again.")
@click.option("--axis", help="Only this axis: full, strategy, surprise or root_cause.")
@with_viewer
def values(options: Common, *, refresh: bool, axis: str | None) -> None:
    """List the principles that similar experiences share."""
    with options.open() as quire:
        notes = quire.principles.refresh(viewer=options.viewer).notes if refresh else ()
        principles = quire.principles.list(axis=axis, viewer=options.viewer)
    if options.as_json:
        output.print_json({"values": principles, "notes": notes})
        return
    output.print_notes(notes)
    for principle in principles:
        for line in _principle_lines(principle):
            output.say(line)
    if not principles and not notes:
        output.note("no principles yet; `quire values --refresh` computes them")


@click.command("postmortems")
@click.argument("folder", metavar="DIR")
@with_share
@with_write_options
def import_postmortems(
    options: Common, *, folder: str, share: tuple[str, ...], allow_secret: bool
) -> None:
    """Import a folder of post-mortems as experiences.

    Each Markdown file in DIR becomes a falsified experience. Importing again replaces only what
    has changed. Files that are not post-mortems are listed with a reason.
    """
    with options.open_to_write() as quire:
        result = quire.experiences.import_postmortems(
            folder, share=share, viewer=options.viewer, allow_secret=allow_secret
        )
    print_import_result(result, "experience", as_json=options.as_json)


def _line(item: Experience) -> str:
    tier = f" ({item.tier})" if item.tier else ""
    goal = output.shorten(item.goal)
    return f"{item.id}  {item.domain} | {item.strategy}  {item.outcome}{tier}  {goal}"


def _principle_lines(principle: Principle) -> list[str]:
    head = (
        f"{principle.axis}, {output.number(principle.size, 'experience')}, "
        f"similarity {principle.similarity / 1000}"
    )
    if principle.is_written:
        head += f", worded by {principle.worded_by}"
    return [head, *(f"   | {line}" for line in principle.text.splitlines())]
