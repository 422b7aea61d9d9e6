"""The commands `quire model`: which embedding model makes the vectors, and whether it is right."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from quire.cli import output
from quire.cli.options import CONTEXT, Common, as_json_option, common
from quire.errors import NoStoreError


@click.group(context_settings=CONTEXT)
def model() -> None:
    """List, choose and check the embedding model.

    A model turns texts into vectors, so that a question finds texts in other words. The one
    that comes with Quire knows English.
    """


@model.command("list")
@common
def list_(options: Common) -> None:
    """List the models, and the one that made the store's vectors."""
    from quire import config
    from quire.indexing.models import list_models

    settings = config.load(Path())
    output.announce(settings.notes)
    choices = list_models(settings.embed)
    held = _find_held(options)
    if options.as_json:
        output.print_json({"models": [asdict(choice) for choice in choices], "store": held})
        return
    for choice in choices:
        output.say(f"{'*' if choice.in_use else ' '} {choice.name}  {choice.about}")
    if held is not None and held["model"]:
        output.say(f"the store holds {output.number(held['vectors'], 'vector')} of {held['model']}")


@model.command()
@click.argument("name")
@as_json_option
def use(*, name: str, as_json: bool) -> None:
    """Use another model in this project.

    NAME is `quire-en-2`, the model that comes with Quire; `none`, to search by words alone; or a
    folder with a model.onnx and a tokenizer.json, and a query_prefix.txt if something stands before
    questions. Writes [embed] of the project's quire.toml; `quire index --reembed` then makes the
    vectors.
    """
    from quire import config
    from quire.config.edit import set_keys
    from quire.indexing.models import describe_folder, find_settings
    from quire.system import platform

    values = find_settings(name)
    file = config.load(Path()).root / config.FILE
    text = file.read_text("utf-8") if file.is_file() else ""
    platform.replace_file(file, set_keys(text, "embed", values).encode(), platform.SHARED)
    if as_json:
        output.print_json({"wrote": str(file), "model": name})
        return
    told = ", ".join(f"{key} = {value}" for key, value in values.items() if value is not None)
    output.say(f"{config.FILE}: [embed] {told}")
    if values["folder"]:
        for text in describe_folder(values["folder"]):
            output.note(text)
        output.say("a model in a folder is run only in a project that you trust: `quire trust`")
    if values["provider"] == "local":
        output.say("`quire index --reembed` makes the vectors")


@model.command()
@click.argument("name", required=False)
@as_json_option
def check(*, name: str | None, as_json: bool) -> None:
    """Load a model, check its files and its vectors, and time it.

    NAME is as in `quire model use` (default: the model of this project). The model that comes with
    Quire must have the files and make the vectors that are known; exits with 1 if it does not.
    """
    from quire import config
    from quire.indexing.models import check_model, find_settings

    settings = config.load(Path()).embed
    if name is not None:
        values: dict[str, Any] = find_settings(name)
        settings = replace(settings, **values)
    found = check_model(settings)
    if as_json:
        output.print_json(asdict(found))
    else:
        output.say(
            f"{found.model}: {found.dimensions} dimensions, {found.milliseconds} ms a sentence"
        )
        output.say(f"vectors: {_describe_deviation(found.deviation)}")
    sys.exit(0 if found.is_right else 1)


def _find_held(options: Common) -> dict[str, Any] | None:
    """Return the model and the number of vectors of the store; None where there is no store."""
    try:
        with options.open() as quire:
            found = quire.status()
    except NoStoreError:
        return None
    return {"model": found.model, "vectors": found.vectors}


def _describe_deviation(deviation: int | None) -> str:
    if deviation is None:
        return "what they should be is known of the model that comes with Quire alone"
    if deviation == 0:
        return "as they should be, to the byte"
    if deviation == 1:
        return "as they should be; this processor rounds some numbers differently, by one"
    return f"wrong, some numbers by {deviation}: is onnxruntime the one that Quire names?"
