"""The table of options agrees with everything that is made from it."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any, get_type_hints

import click
import pytest

from quire.cli.context_options import parse_options
from quire.core.types import Filter, Options, Recipe, Request
from quire.core.types.option_spec import NOT_TYPED
from quire.core.types.options import BY_SETTING, FILTERS, OPTIONS, name_options
from quire.errors import InputError
from quire.mcp import schemas
from quire.pipeline import recipe as recipes
from quire.pipeline.effects import EFFECTS
from quire.pipeline.request import resolve
from quire.pipeline.sections import filter_of

RECORDED = {name for name, option in OPTIONS.items() if option.recorded}


def command() -> click.Command:
    from quire.cli.main import main

    return main.commands["assemble"]


def test_every_option_is_in_the_table() -> None:
    assert set(OPTIONS) == set(Options.__annotations__)
    for name, option in OPTIONS.items():
        assert option.name == name
        assert option.help.endswith("."), name
        assert option.expected, name


def test_what_receipts_record_is_a_field_of_the_request() -> None:
    assert {item.name for item in fields(Request)} == RECORDED | {
        "query", "model", "stale", "alive_at",
    }  # fmt: skip
    for option in OPTIONS.values():
        assert not (option.recorded and option.setting), "a setting is recorded with its recipe"
        assert option.used_by is None or option.recorded


def test_every_filter_is_a_field_of_the_filter() -> None:
    assert {item.name for item in fields(Filter)} == {*FILTERS, "alive_at"}
    assert {name for name in FILTERS if OPTIONS[name].recorded} == set(FILTERS)


def test_every_setting_is_one_of_a_recipe() -> None:
    recipe = recipes.load("documents")
    hints = get_type_hints(Recipe)
    for setting, option in BY_SETTING.items():
        part, name = setting.split(".")
        assert part in hints
        value = getattr(getattr(recipe, part), name)
        assert option.accepts(list(value) if isinstance(value, tuple) else value), setting


def test_every_option_of_rendering_says_when_it_has_an_effect() -> None:
    """An option that a format ignores is told, not swallowed; the format itself always counts."""
    rendering = {option.name for setting, option in BY_SETTING.items() if "render." in setting}
    assert rendering - {"format"} <= EFFECTS.keys()


def test_every_option_has_a_flag_of_its_own() -> None:
    typed = {item.name: item for item in command().params if isinstance(item, click.Option)}
    for name, option in OPTIONS.items():
        if option.form == NOT_TYPED:
            assert name not in typed
        else:
            assert option.flag in typed[name].opts
            assert typed[name].help == option.help
    flags = [option.flag for option in OPTIONS.values()]
    assert len(set(flags)) == len(flags)


def test_nothing_typed_is_no_option() -> None:
    from quire.cli.main import main

    context = main.make_context("quire", ["assemble", "x"], resilient_parsing=True)
    typed = command().make_context("assemble", ["x"], parent=context).params
    assert parse_options(typed) == {}


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ("--soft --metadata --exact", {"hard": False, "metadata": True, "exact": True}),
        ("--no-groups --content", {"groups": False, "content": True}),
        ("--levels full,outline", {"levels": ["full", "outline"]}),
        ("--reserve none --shares a=1,b=2", {"reserve": {}, "shares": {"a": 1, "b": 2}}),
        ("--kind code --path *.md --since 2026-01-31", {"kinds": ("code",), "paths": ("*.md",)}),
        ("--prefer-recent 5 --dedup 0.5 --cap 0", {"recent": 5, "dedup": 0.5, "cap": 0}),
    ],
)
def test_what_is_typed_becomes_options(arguments: str, options: dict[str, Any]) -> None:
    context = command().make_context("assemble", ["x", *arguments.split()])
    made = parse_options(context.params)
    since = {"since": "2026-01-31"} if "--since" in arguments else {}
    assert made == {**options, **since}
    resolve("x", {**made, "recipe": "documents"} if "shares" not in options else {})


def test_the_schema_of_tools_is_made_from_the_table() -> None:
    taken = schemas.context_arguments()
    assert json.loads(json.dumps(taken)) == taken
    assert set(taken) == {"query"} | {
        schemas.argument_name(name) for name, option in OPTIONS.items() if option.tool
    }
    assert taken["max_tokens"]["type"] == "integer"
    assert taken["since"]["type"] == "string"
    assert set(schemas.FILTER_ARGUMENTS) == set(FILTERS) - {"shared_only"}
    given = {"query": "x", "max_tokens": 5, "kinds": ["code"]}
    assert schemas.context_options(given) == {"budget": 5, "kinds": ["code"]}


@pytest.mark.parametrize(
    ("name", "near"),
    [("bugdet", "budget"), ("path", "paths"), ("allow-empty", "allow_empty"), ("kind", "kinds")],
)
def test_a_wrong_name_is_refused_with_the_nearest_right_one(name: str, near: str) -> None:
    with pytest.raises(
        InputError, match=f"unknown option '{name}'; did you mean '{near}'"
    ) as error:
        resolve("x", {name: 1})  # type: ignore[misc]  # that is the point
    assert (error.value.value, error.value.allowed) == (name, tuple(OPTIONS))


def test_filters_are_plain_options() -> None:
    request = resolve(
        "x", {"kinds": ["code"], "paths": ["docs/**"], "since": 5, "until": None}
    ).request
    assert filter_of(request) == Filter(("code",), ("docs/**",), 5)
    dated = resolve("x", {"since": "1970-01-02", "until": "1970-01-02"}).request
    assert (dated.since, dated.until) == (86_400, 2 * 86_400 - 1)


def test_an_error_names_the_option_that_was_given_and_else_the_setting() -> None:
    wrong = replace(recipes.load("documents"), name="mine")
    wrong = replace(wrong, fit=replace(wrong.fit, pack="x"))
    with pytest.raises(InputError) as error:
        resolve("x", {"recipe": wrong})
    assert error.value.field == "fit.pack"
    with pytest.raises(InputError) as error:
        resolve("x", {"recipe": wrong, "pack": "y"})
    assert error.value.field == "pack"


def test_notes_name_options_as_their_interface_does() -> None:
    text = "raise `budget` with `quire index` or `nothing`"
    assert name_options(text, lambda option: option.flag) == (
        "raise --budget with `quire index` or `nothing`"
    )
