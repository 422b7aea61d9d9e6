"""The command for one question about files that have no store."""

from __future__ import annotations

import subprocess  # nosec B404
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.options import as_json_option, model_option, read_argument
from quire.cli.results import print_context, print_redacted, print_skipped
from quire.errors import InputError
from quire.system import platform

if TYPE_CHECKING:
    from quire.core.types import Context

CLIPBOARDS = (
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
    ("pbcopy",),
    ("clip.exe",),
)
COPY_SECONDS = 10
SEARCH_OFF = "semantic search is off"


@click.command()
@click.argument("words", nargs=-1, metavar="[SOURCE] QUERY")
@click.option("--budget", type=int, default=8000, show_default=True, help="Size in tokens.")
@click.option(
    "--root", "roots", multiple=True, metavar="SOURCE", help="A source, or another; repeatable."
)
@click.option("--include", multiple=True, metavar="GLOB", help="Take only these files; repeatable.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these out; repeatable.")
@click.option("--recipe", default="documents", show_default=True, help="Recipe name or file.")
@click.option("--format", "form", metavar="NAME", help="Format of the context.")
@click.option("--embed", is_flag=True, help="Search by meaning, too; this takes longer.")
@click.option("--copy", is_flag=True, help="Copy the context to the clipboard instead.")
@click.option("--dry-run", is_flag=True, help="Print what would go in, and an estimated cost.")
@model_option
@as_json_option
def pack(
    *,
    words: tuple[str, ...],
    budget: int,
    roots: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    recipe: str,
    form: str | None,
    embed: bool,
    copy: bool,
    dry_run: bool,
    model: str | None,
    as_json: bool,
) -> None:
    """Assemble a context from a folder or archive, without a store.

    Nothing is set up and nothing is left behind. SOURCE is a folder, a zip or tar file, or a git
    bundle; with --root there may be several, and each file is named by its source. QUERY `-` reads
    standard input. `quire pack --root A --root B QUERY` names all sources alike.
    """
    from quire.cli.progress import show_progress
    from quire.engine import open_quire
    from quire.indexing.one_shot import STORE, gather

    sources, query = _sources_and_query(words, roots)
    question = read_argument(query)
    options: dict[str, Any] = {"budget": budget, "reserve": {}, "recipe": recipe}
    options |= {"format": form} if form else {}
    options |= {"model": model} if model else {}
    with (
        gather(sources, include=include, exclude=exclude) as (folder, skipped),
        open_quire(folder, store=folder.parent / STORE) as quire,
    ):
        with show_progress() as report:
            result = quire.index([folder], embed=embed, history=0, report=report)
        print_skipped([*skipped, *result.skipped])
        print_redacted(result.redacted)
        if not result.chunks:
            chosen = "check --include and --exclude" if include or exclude else ""
            raise InputError("no file to read was found", hint=chosen)
        context = quire.assemble(question, **options)
    if not embed:  # which the user decided
        notes = tuple(note for note in context.notes if not note.startswith(SEARCH_OFF))
        context = replace(context, notes=notes)
    if dry_run:
        _print_dry_run(context, as_json=as_json)
    elif copy:
        _copy(context.text)
        pieces = output.number(len(context.sources), "piece")
        output.say(f"copied {output.number(context.tokens, 'token')}, {pieces}")
    else:
        print_context(context, as_json=as_json)


def _sources_and_query(
    words: tuple[str, ...], roots: tuple[str, ...]
) -> tuple[tuple[str, ...], str]:
    """Tell the sources from the question, which is the last of what was typed."""
    *named, query = words or ("",)
    if not query.strip():
        raise click.UsageError("Missing argument 'QUERY'.")
    if len(named) > 1:
        raise click.UsageError(
            f"{len(words)} arguments, but at most a source and a question are taken: put the "
            "question in quotes, and --root before each further source."
        )
    if not named and not roots:
        raise click.UsageError("Missing argument 'SOURCE': a folder, an archive or a git bundle.")
    return (*named, *roots), query


def _print_dry_run(context: Context, *, as_json: bool) -> None:
    from quire.cli.prices import NOTED, estimate_costs

    costs = estimate_costs(context.tokens)
    tree = _build_tree((source.path, source.tokens) for source in context.sources)
    if as_json:
        output.print_json(
            {
                "tokens": context.tokens,
                "files": {path: tokens for path, _, tokens, is_file in tree if is_file},
                "cost": {cost.model: round(cost.dollars, 6) for cost in costs},
                "prices_of": NOTED,
            }
        )
        return
    width = max((len(f"{tokens:,}") for _, _, tokens, _ in tree), default=1)
    for path, depth, tokens, is_file in tree:
        name = path.rpartition("/")[2] + ("" if is_file else "/")
        output.say(f"{tokens:>{width},}  {'  ' * depth}{name}")
    output.say(f"{context.tokens:,} tokens in all, with titles")
    told = ", ".join(f"{cost.model} ${cost.dollars:.4f}" for cost in costs)
    output.say(f"as input, by list prices of {NOTED}: {told}")


def _build_tree(sizes: Iterable[tuple[str, int]]) -> list[tuple[str, int, int, bool]]:
    """Return (path, depth, tokens, whether it is a file) of the files and the folders above."""
    totals: dict[str, int] = {}
    files = set()
    for path, tokens in sizes:
        files.add(path)
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            above = "/".join(parts[:end])
            totals[above] = totals.get(above, 0) + tokens
    return [
        (path, path.count("/"), totals[path], path in files)
        for path in sorted(totals, key=lambda path: path.split("/"))
    ]


def _copy(text: str) -> None:
    for program, *arguments in CLIPBOARDS:
        if place := platform.find_program(program):
            done = subprocess.run(  # nosec B603  # noqa: S603 - one of the programs above
                [place, *arguments], input=text.encode(), timeout=COPY_SECONDS, check=False
            )
            if done.returncode == 0:
                return
    names = ", ".join(program for program, *_ in CLIPBOARDS)
    raise InputError("there is no clipboard to copy to", hint=f"install one of {names}")
