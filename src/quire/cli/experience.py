"""How are experiences recorded, and principles seen, on the command line?"""

from __future__ import annotations

import click

from quire.cli import output
from quire.cli.options import CONTEXT, Command, common, opened, sharing, viewed, writing
from quire.core import serialize
from quire.core.types import Experience, Written
from quire.system.clock import now

TITLE_LENGTH = 80


def attempt(command: Command) -> Command:
    """Give a command the options that say what is tried."""
    for option in (
        click.option("--prediction", metavar="TEXT", help="What should be seen if it holds."),
        click.option("--action", metavar="TEXT", help="What is done to find out."),
        click.option("--hypothesis", metavar="TEXT", help="What is believed."),
        click.option("--strategy", metavar="NAME", help="How it is gone about."),
    ):
        command = option(command)
    return command


@click.group(context_settings=CONTEXT)
def experience() -> None:
    """Record what is tried and how it ends: start, update, resolve.

    Only its author and the owner may change an experience.
    """


@experience.command()
@click.argument("goal")
@click.option("--domain", required=True, metavar="NAME", help="debugging, feature, testing, …")
@attempt
@sharing
@writing
@common
def start(
    *,
    goal: str,
    domain: str,
    strategy: str | None,
    hypothesis: str | None,
    action: str | None,
    prediction: str | None,
    share: tuple[str, ...],
    allow_secret: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Begin to record an attempt to reach GOAL.

    What is not known yet can be said by `update`. An unknown domain or strategy is answered with
    all that there are.
    """
    stated = {} if strategy is None else {"strategy": strategy}
    with opened(store, space, create=space is None) as quire:
        written = quire.experiences.start(
            goal,
            at=now(),
            domain=domain,
            hypothesis=hypothesis or "",
            action=action or "",
            prediction=prediction or "",
            share=share,
            viewer=viewer,
            allow_secret=allow_secret,
            **stated,
        )
    _written(written, "started", as_json=as_json)


@experience.command()
@click.argument("name", metavar="ID")
@click.option("--goal", metavar="TEXT", help="Another goal.")
@click.option("--domain", metavar="NAME", help="Another domain.")
@attempt
@writing
@common
def update(
    *,
    name: str,
    goal: str | None,
    domain: str | None,
    strategy: str | None,
    hypothesis: str | None,
    action: str | None,
    prediction: str | None,
    allow_secret: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Go on with an open experience.

    A hypothesis, action or prediction in place of an earlier one counts as another iteration.
    """
    with opened(store, space) as quire:
        written = quire.experiences.update(
            name,
            at=now(),
            goal=goal,
            domain=domain,
            strategy=strategy,
            hypothesis=hypothesis,
            action=action,
            prediction=prediction,
            viewer=viewer,
            allow_secret=allow_secret,
        )
    _written(written, "updated", as_json=as_json)


@experience.command()
@click.argument("name", metavar="ID")
@click.argument("outcome")
@click.option("--result", metavar="TEXT", help="What was seen.")
@click.option("--surprise", metavar="TEXT", help="What nobody expected.")
@click.option("--root-cause", metavar="TEXT", help="Why the hypothesis failed.")
@click.option("--lesson", metavar="TEXT", help="What worked, what to do next time.")
@writing
@common
def resolve(
    *,
    name: str,
    outcome: str,
    result: str | None,
    surprise: str | None,
    root_cause: str | None,
    lesson: str | None,
    allow_secret: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """End an open experience: OUTCOME is confirmed, falsified or abandoned.

    With a result and a lesson (and, if falsified, the root cause) it counts as gold, with a result
    as silver, else as bronze.
    """
    with opened(store, space) as quire:
        written = quire.experiences.resolve(
            name,
            outcome,
            at=now(),
            result=result or "",
            surprise=surprise or "",
            root_cause=root_cause or "",
            lesson=lesson or "",
            viewer=viewer,
            allow_secret=allow_secret,
        )
    _written(written, f"resolved ({written.value.tier})", as_json=as_json)


@experience.command("list")
@click.option("--domain", metavar="NAME", help="Only of this domain.")
@click.option("--strategy", metavar="NAME", help="Only of this strategy.")
@click.option("--outcome", metavar="NAME", help="Only open, confirmed, falsified or abandoned.")
@viewed
@common
def list_experiences(
    *,
    domain: str | None,
    strategy: str | None,
    outcome: str | None,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """List experiences, the oldest first."""
    with opened(store, space) as quire:
        found = quire.experiences.list(
            domain=domain, strategy=strategy, outcome=outcome, viewer=viewer
        )
    if as_json:
        click.echo(serialize.json_text({"experiences": found}))
        return
    for one in found:
        tier = f" ({one.tier})" if one.tier else ""
        goal = " ".join(one.goal.split())[:TITLE_LENGTH]
        output.say(f"{one.id}  {one.domain} | {one.strategy}  {one.outcome}{tier}  {goal}")
    if not found:
        output.note("no experience is recorded")


@experience.command()
@click.argument("name", metavar="ID")
@viewed
@common
def show(
    *, name: str, viewer: str | None, store: str | None, space: str | None, as_json: bool
) -> None:
    """Show one experience with all that is known of it."""
    with opened(store, space) as quire:
        found = quire.experiences.get(name, viewer=viewer)
    if as_json:
        click.echo(serialize.json_text(found))
        return
    told = serialize.to_plain(found)
    output.pairs({key: value for key, value in told.items() if value not in (None, "")})


@click.command()
@click.option("--refresh", is_flag=True, help="Make all values anew from the experiences.")
@click.option("--axis", help="Only of this axis: full, strategy, surprise or root_cause.")
@viewed
@common
def values(
    *,
    refresh: bool,
    axis: str | None,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """List the principles that experiences with the same readers have in common."""
    with opened(store, space) as quire:
        notes = quire.principles.refresh(viewer=viewer).notes if refresh else ()
        found = quire.principles.list(axis=axis, viewer=viewer)
    if as_json:
        told = {"values": found, "notes": notes}
        click.echo(serialize.json_text(told))
        return
    output.notes(notes)
    for one in found:
        head = f"{one.axis}, {one.size} experiences, similarity {one.similarity / 1000}"
        output.say(f"{head}, worded by {one.worded_by}" if one.is_written else head)
        for line in one.text.splitlines():
            output.say(f"   | {line}")
    if not found and not notes:
        output.note("there are no values yet; `quire values --refresh` makes them")


@click.group("import", context_settings=CONTEXT)
def import_() -> None:
    """Take in what was written elsewhere: blocks, folders of pages, post-mortems."""


@import_.command("postmortems")
@click.argument("folder", metavar="DIR")
@sharing
@writing
@common
def import_postmortems(
    *,
    folder: str,
    share: tuple[str, ...],
    allow_secret: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Make a falsified experience of each post-mortem (Markdown) in DIR.

    Run it again at will: what has not changed is left alone, what has replaces what was made of it.
    Files that are no post-mortems are listed with a reason.
    """
    with opened(store, space, create=space is None) as quire:
        result = quire.experiences.import_postmortems(
            folder, share=share, viewer=viewer, allow_secret=allow_secret
        )
    output.imported(result, "experiences", as_json=as_json)


LEARNING = (experience, values, import_)


def _written(written: Written[Experience], deed: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(serialize.json_text(written))
        return
    output.notes(written.notes)
    output.say(f"{deed} {written.value.id}")
