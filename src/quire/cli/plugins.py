"""The command `quire plugins`: what installed packages offer, and whether it can be used."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from quire.cli import output
from quire.cli.options import CONTEXT, as_json_option


@click.command(context_settings=CONTEXT)
@as_json_option
def plugins(*, as_json: bool) -> None:
    """List the plug-ins of installed packages.

    A package offers collectors, embedders, formats, readers, rerankers or sources by entry points.
    Says of each whether it can be loaded, or why not.
    [plugins] disable of quire.toml switches single ones off, QUIRE_PLUGINS=0 all of them. Exits
    with 1 if one cannot be loaded.
    """
    from quire import config
    from quire.system.entry_points import inspect_plugins

    settings = config.load(Path())
    states = inspect_plugins(settings.plugins.disable)
    if as_json:
        rows = [
            {**asdict(each.plugin), "state": each.state, "reason": each.reason} for each in states
        ]
        output.print_json({"plugins": rows})
    else:
        output.announce(settings.notes)
        for each in states:
            output.say(f"{each.plugin.key}  {each.plugin.package}  {each.state}")
            if each.reason:
                output.say(f"    {each.reason}")
        if not states:
            output.say("no installed package offers a plug-in")
    if any(each.state == "failed" for each in states):
        raise SystemExit(1)
