"""Commands about documents that are not files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.options import CONTEXT, Common, common, drop_none, with_share, with_viewer
from quire.cli.progress import show_progress
from quire.cli.results import print_put_summary, print_redacted, print_synced
from quire.core.metadata import read_value
from quire.errors import InputError

if TYPE_CHECKING:
    from quire.core.types import Facet, Record

path_argument = click.argument("path")
meta_option = click.option(
    "--meta",
    multiple=True,
    metavar="KEY=VALUE",
    help="Metadata to filter by; repeatable. 3, 2.5, true, 2026-01-31 and [a, b] are what they "
    'look like, "3" is a text.',
)
expires_option = click.option(
    "--expires", metavar="DATE", help="Last day, or the moment, at which it is shown."
)


@click.command()
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--jsonl", is_flag=True, help="Each line of FILE is an object: a document a line.")
@click.option(
    "--path",
    metavar="PATH",
    help="Its name in the store, such as crm/42 (default: the name of FILE). With --jsonl and "
    "--template, with members of the object in braces: crm/{id}.",
)
@click.option(
    "--template",
    metavar="TEXT",
    help="Text of an object, with its members in braces: '{title}: {body}'; \\n is a line end.",
)
@click.option("--type", "type_", metavar="TYPE", help="text, markdown, html, pdf, chat, json, ...")
@click.option("--title", help="Its title.")
@click.option("--author", help="Who wrote it.")
@click.option("--modified", metavar="DATE", help="When it was written.")
@meta_option
@expires_option
@with_share
@click.option("--no-embed", is_flag=True, help="With --jsonl: compute no vectors now.")
@click.option("--skip-errors", is_flag=True, help="With --jsonl: leave out what cannot be added.")
@with_viewer
def add(
    options: Common,
    *,
    files: tuple[str, ...],
    jsonl: bool,
    path: str | None,
    template: str | None,
    type_: str | None,
    meta: tuple[str, ...],
    share: tuple[str, ...],
    no_embed: bool,
    skip_errors: bool,
    **stated: str | None,
) -> None:
    """Add documents that are not files of the project.

    FILE `-` reads standard input. What is added at a path replaces what was added there before;
    `quire index` leaves it alone. Lines of --jsonl are objects with `content` and `path`, and
    `title`, `metadata`, `expires`, `share`, ... if you like; with --template, any objects.
    """
    if not files:
        raise InputError("no file is named", hint="name one, or `-` for standard input")
    stated_all: dict[str, Any] = {
        **drop_none(**stated),
        **drop_none(type=type_),
        **({} if template is None else {"template": template.replace("\\n", "\n")}),
        **({"share": share} if share else {}),
        **({"metadata": parse_metadata(meta)} if meta else {}),
    }
    if jsonl:
        if template is not None and path is None:
            raise InputError("is missing", field="path", hint="such as crm/{id}")
        _add_lines(options, files, path, stated_all, embed=not no_embed, skip_errors=skip_errors)
        return
    if path is not None and len(files) > 1:
        raise InputError("names one document", field="path", hint="add the files one by one")
    if path is None and "-" in files:
        raise InputError("standard input has no name", hint="name it with {path}")
    with options.open_to_write() as quire:
        results = [
            quire.documents.put(
                _content(file, template),
                path=path or Path(file).name,
                viewer=options.viewer,
                **stated_all,
            )
            for file in files
        ]
    if options.as_json:
        output.print_json({"documents": results})
        return
    for result in results:
        output.print_notes(result.notes)
        print_redacted(result.redacted)
        output.say(f"{result.state} {result.path}")


def _add_lines(
    options: Common,
    files: Sequence[str],
    path: str | None,
    common: dict[str, Any],
    *,
    embed: bool,
    skip_errors: bool,
) -> None:
    with options.open_to_write() as quire, show_progress() as report:
        summary = quire.documents.put_many(
            (document for file in files for document in _lines(file, path, common)),
            embed=embed,
            skip_errors=skip_errors,
            report=report,
            viewer=options.viewer,
        )
    print_put_summary(summary, as_json=options.as_json)


def _lines(
    file: str, path: str | None, common: dict[str, Any]
) -> Iterator[dict[str, Any] | InputError]:
    """Yield the documents of a file, one a line; it is never read as a whole."""
    try:
        stream = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115 - below
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from error
    name = "standard input" if file == "-" else file
    with stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                try:
                    yield _of_line(line, f"{name}, line {number}", path, common)
                except InputError as error:  # which may be left out
                    yield error


def _of_line(line: bytes, place: str, path: str | None, common: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a line."""
    from quire.indexing.document_content import of_row

    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", place=place) from error
    if not isinstance(data, dict):
        raise InputError(f"expected an object, not {data!r:.80}", place=place)
    if "template" in common:
        return {**common, "content": data, "path": of_row(path or "", data, "path", place)}
    stated, more = data.get("metadata", {}), common.get("metadata", {})
    if not isinstance(stated, dict):  # which is refused with the others
        return {**common, **data}
    return {**data, **common, "metadata": {**stated, **more}}


def _unreadable(file: str, error: Exception) -> InputError:
    reason = error.strerror if isinstance(error, OSError) else error
    return InputError(f"{file} cannot be read: {reason}", value=file)


def _content(file: str, template: str | None) -> Any:
    if file == "-":
        data = sys.stdin.buffer.read()
    else:
        try:
            data = Path(file).read_bytes()
        except (OSError, ValueError) as error:
            raise _unreadable(file, error) from error
    if template is None:
        return data
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", place=file) from error


def parse_metadata(pairs: Sequence[str]) -> dict[str, Any]:
    """Read metadata as they are typed: `team=north`, `tags=[a, b]`."""
    metadata: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise InputError(f"expected KEY=VALUE, not {pair!r}", field="meta", value=pair)
        text = text.strip()
        is_list = text.startswith("[") and text.endswith("]")
        metadata[key.strip()] = (
            [str(read_value(item)) for item in text[1:-1].split(",") if item.strip()]
            if is_list
            else read_value(text)
        )
    return metadata


@click.group(context_settings=CONTEXT)
def document() -> None:
    """Add, list, change and delete documents beside files.

    They are texts that are not files of the project. Only its author and the owner can change a
    document.
    """


document.add_command(add, "add")


@document.command("list")
@click.option("--where", default="", metavar="CONDITION", help='Only these: team = "north".')
@click.option("--all", "everything", is_flag=True, help="Also files and other records.")
@click.option("--expired", is_flag=True, help="Also what has expired.")
@with_viewer
def list_documents(options: Common, *, where: str, everything: bool, expired: bool) -> None:
    """List the documents that are not files, by path."""
    with options.open() as quire:
        records = quire.documents.list(
            where, put_only=not everything, expired=expired, viewer=options.viewer
        )
    output.print_list("documents", records, _line, "no documents", as_json=options.as_json)


@document.command()
@path_argument
@with_viewer
def show(options: Common, *, path: str) -> None:
    """Show a document, a file or a commit, with its metadata."""
    with options.open() as quire:
        found = quire.documents.get(path, viewer=options.viewer)
    output.print_record(found, "text", as_json=options.as_json)


document.add_command(show, "get")


@document.command()
@path_argument
@meta_option
@click.option("--unset", multiple=True, metavar="KEY", help="Metadata to remove; repeatable.")
@click.option("--title", help="Another title.")
@expires_option
@with_share
@with_viewer
def edit(
    options: Common,
    *,
    path: str,
    meta: tuple[str, ...],
    unset: tuple[str, ...],
    title: str | None,
    expires: str | None,
    share: tuple[str, ...],
) -> None:
    """Change what is known of a document; its text stays.

    --expires never lets it stay for good.
    """
    changes: dict[str, Any] = {**drop_none(title=title), **({"share": share} if share else {})}
    if meta or unset:
        changes["metadata"] = {**dict.fromkeys(unset), **parse_metadata(meta)}
    if expires is not None:
        changes["expires"] = None if expires == "never" else expires
    with options.open() as quire:
        changed = quire.documents.update(path, viewer=options.viewer, **changes)
    output.print_list("documents", [changed], _line, "no documents", as_json=options.as_json)


@document.command()
@click.argument("paths", nargs=-1, required=True)
@with_viewer
def delete(options: Common, *, paths: tuple[str, ...]) -> None:
    """Delete documents, all or none; files stay as they are.

    `quire purge PATH` also removes every byte of one from the store file.
    """
    with options.open() as quire:
        quire.documents.delete(*paths, viewer=options.viewer)
    if options.as_json:
        output.print_json({"deleted": list(paths)})
        return
    for path in paths:
        output.say(f"deleted {path}")


@click.command()
@click.argument("names", nargs=-1, metavar="[SOURCE]...")
@click.option("--full", is_flag=True, help="Read from the beginning; remove what is gone there.")
@click.option("--drop", is_flag=True, help="Remove all documents of these sources instead.")
@click.option("--no-embed", is_flag=True, help="Compute no vectors now.")
@common
def sync(
    options: Common, *, names: tuple[str, ...], full: bool, drop: bool, no_embed: bool
) -> None:
    """Bring documents up to date with the sources in quire.toml.

    A run that was interrupted goes on where it was. Without SOURCE, all are read. A source that
    fails, or a row that is wrong, is named and ends none of the others; the exit code is 1 then.
    """
    from quire.core.types import PutSummary

    if drop and not names:
        raise InputError("name the sources whose documents are removed", field="drop")
    with options.open_to_write() as quire, show_progress() as report:
        if drop:
            summaries = {
                name: PutSummary(removed=quire.documents.drop_source(name)) for name in names
            }
        else:
            summaries = quire.documents.sync(names, full=full, embed=not no_embed, report=report)
    if options.as_json:
        output.print_json({"sources": summaries})
    else:
        for name, summary in summaries.items():
            print_synced(name, summary)
    sys.exit(0 if all(summary.complete for summary in summaries.values()) else 1)


def _line(record: Record) -> str:
    stated = "; ".join(f"{key} = {_value(value)}" for key, value in record.metadata.items())
    return f"{record.path}  {record.title}{f'  ({stated})' if stated else ''}"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def print_facets(facets: Sequence[Facet]) -> None:
    """Print the values of metadata, a line for each key."""
    for facet in facets:
        values = ", ".join(f"{_value(value)} ({count})" for value, count in facet.values)
        more = facet.distinct - len(facet.values)
        output.say(
            f"{facet.key}: {output.number(facet.records, 'record')}; {values}"
            f"{f', {more} more' if more else ''}"
        )
    if not facets:
        output.note("no record has metadata")
