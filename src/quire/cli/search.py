"""The command that searches."""

from __future__ import annotations

from typing import Any

import click

from quire.cli.context_options import parse_filters, with_filters
from quire.cli.options import Common, read_argument, with_viewer
from quire.cli.results import print_search_result


@click.command()
@click.argument("query")
@click.option("--k", "-k", default=10, show_default=True, help="Number of results.")
@with_filters
@click.option("--exact", is_flag=True, help="Compare all vectors, even in large stores.")
@click.option("--no-refresh", is_flag=True, help="Do not read files again that changed on disk.")
@with_viewer
def search(
    options: Common, *, query: str, k: int, exact: bool, no_refresh: bool, **filters: Any
) -> None:
    """Search by words and by meaning.

    QUERY `-` reads standard input.
    """
    with options.open() as quire:
        result = quire.search(
            read_argument(query),
            k=k,
            viewer=options.viewer,
            exact=exact,
            refresh=not no_refresh,
            **parse_filters(filters),
        )
    print_search_result(result, as_json=options.as_json)
