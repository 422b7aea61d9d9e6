"""Load recipes: by the name of a shipped one, or from a TOML file.

`extends` names the recipe that another one starts from. Settings that the new one does not name
stay as they are there; a source or section set to `false` is left out. New sections come last;
`first` names sections that come before the others.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from quire.core import hashing, toml
from quire.core.types import Intent, Recipe, Section, SourceSpec
from quire.errors import ConfigError, InputError
from quire.retrieval import VECTOR_COLLECTORS

WORDS_FLOOR = 100
"""The highest floor of relevance where it is estimated from words alone, in thousandths."""
_TERM = re.compile(r"\{(\w+)\}")
PARTS = ("budget", "rank", "fit", "render")
UNNAMED = "custom"
"""The name of a recipe that is given as a mapping without one."""
MAX_EXTENDS = 8
"""How many recipes may extend one another in a row."""


@cache
def shipped() -> tuple[str, ...]:
    """List the recipes that come with Quire."""
    folder = resources.files("quire.recipes")
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load(name: str) -> Recipe:
    """Load a recipe by its name or from a file."""
    return _load(name, Path(), ())


def from_mapping(table: Mapping[str, Any]) -> Recipe:
    """Read a recipe from the settings that a TOML file would hold, and its `name`."""
    settings = toml.as_table("recipe", table)
    name = toml.read_text("recipe: name", settings.pop("name", UNNAMED))
    base = Recipe(name=name)
    if "extends" in settings:
        parent = toml.read_text("recipe: extends", settings["extends"])
        base = replace(_load(parent, Path(), ()), name=name)
    return _extended("recipe", base, settings)


def recipe_hash(recipe: Recipe) -> str:
    """Hash the settings of a recipe."""
    return hashing.digest("recipe", json.dumps(asdict(recipe), sort_keys=True)).hex()


def from_data(data: Mapping[str, Any]) -> Recipe:
    """Read a recipe from the plain data that a receipt holds."""
    try:
        name, settings = data["name"], {key: data[key] for key in data if key != "name"}
        return _extended("recipe", Recipe(name=toml.read_text("recipe: name", name)), settings)
    except (KeyError, TypeError, ConfigError) as error:
        raise InputError(f"its recipe cannot be read: {error}", place="receipt") from error


def fill(recipe: Recipe, terms: Mapping[str, str]) -> Recipe:
    """Replace the terms in braces; a section with an unknown term is left out."""
    sections = tuple(
        replace(
            section,
            query=_replace_terms(section.query, terms),
            paths=tuple(_replace_terms(path, terms) for path in section.paths),
        )
        for section in recipe.sections
        if all(name in terms for name in terms_of(section))
    )
    title = _replace_terms(recipe.render.title, terms)
    return replace(recipe, sections=sections, render=replace(recipe.render, title=title))


def by_words(recipe: Recipe) -> Recipe:
    """Return the recipe without semantic search, so that no model is needed.

    Words tell less of relevance than vectors, so its floor is lower (docs/pages.md).
    """
    return replace(
        recipe,
        rank=replace(recipe.rank, floor=min(recipe.rank.floor, WORDS_FLOOR)),
        sources={
            name: spec for name, spec in recipe.sources.items() if name not in VECTOR_COLLECTORS
        },
        sections=tuple(
            replace(
                section,
                sources=tuple(name for name in section.sources if name not in VECTOR_COLLECTORS),
            )
            for section in recipe.sections
            if not section.sources or not VECTOR_COLLECTORS.issuperset(section.sources)
        ),
    )


def terms_of(section: Section) -> list[str]:
    """List the terms in braces that a section contains."""
    return [name for text in (section.query, *section.paths) for name in _TERM.findall(text)]


def _replace_terms(text: str, terms: Mapping[str, str]) -> str:
    """Replace terms in one pass: braces inside a value are not terms."""
    return _TERM.sub(lambda match: terms.get(match[1], match[0]), text)


def _load(name: str, folder: Path, chain: tuple[str, ...]) -> Recipe:
    if name in chain or len(chain) >= MAX_EXTENDS:
        raise ConfigError(
            f"recipes extend each other in a circle: {' > '.join((*chain, name))}",
            field="recipe",
            value=name,
        )
    if name in shipped():
        place, table = f"recipe {name}", _shipped(name)
    else:
        path = folder / name
        if not _is_file(path):
            raise InputError(
                f"unknown recipe {name!r}",
                field="extends" if chain else "recipe",
                value=name,
                allowed=shipped(),
                hint="or name a TOML file",
                place=chain[-1] if chain else "",
            )
        place, table, folder = str(path), toml.read_file(path), path.parent
    base = Recipe(name=Path(name).stem)
    if "extends" in table:
        parent = _load(
            toml.read_text(f"{place}: extends", table["extends"]), folder, (*chain, name)
        )
        base = replace(parent, name=base.name)
    return _extended(place, base, table)


@cache
def _shipped(name: str) -> Mapping[str, Any]:
    """Read a shipped recipe once: a cached context is returned in less time than parsing takes."""
    source = resources.files("quire.recipes").joinpath(f"{name}.toml")
    return tomllib.loads(source.read_text("utf-8"))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for any file
        return False


def _extended(place: str, base: Recipe, table: Mapping[str, Any]) -> Recipe:
    known = ("extends", "about", "first", "sources", "sections", "intents", *PARTS)
    for key in table:
        if key not in known:
            toml.reject_key(place, key, known)
    changes: dict[str, Any] = {
        part: toml.fill(f"{place}: [{part}]", getattr(base, part), table[part])
        for part in PARTS
        if part in table
    }
    if "about" in table:
        changes["about"] = toml.check_value(f"{place}: about", "str", table["about"])
    if "sources" in table:
        changes["sources"] = _sources(place, base, table["sources"])
    if "sections" in table:
        changes["sections"] = _sections(place, base, table["sections"])
    if "first" in table:
        sections = changes.get("sections", base.sections)
        changes["sections"] = _first(place, sections, table["first"])
    if "intents" in table:
        intents = toml.read_table(f"{place}: [intents]", table["intents"])
        changes["intents"] = {
            **base.intents,
            **{
                name: toml.fill(f"{place}: [intents.{name}]", Intent(), spec)
                for name, spec in intents.items()
            },
        }
    return replace(base, **changes)


def _sources(place: str, base: Recipe, table: Any) -> dict[str, SourceSpec]:
    """Read sources by name; `false` leaves one of the base out."""
    specs = toml.read_table(f"{place}: [sources]", table)
    dropped = {name for name, spec in specs.items() if spec is False}
    for name in sorted(dropped):
        _check_dropped(f"{place}: [sources]", name, base.sources)
    named = {
        name: toml.fill(f"{place}: [sources.{name}]", base.sources.get(name, SourceSpec()), spec)
        for name, spec in specs.items()
        if name not in dropped
    }
    return {
        **{name: spec for name, spec in base.sources.items() if name not in dropped},
        **named,
    }


def _sections(place: str, base: Recipe, data: Any) -> tuple[Section, ...]:
    """Read sections by name, or the list of them that a receipt holds; new ones come last."""
    specs: dict[str, Any]
    if isinstance(data, list):
        tables = [toml.read_table(f"{place}: sections", table) for table in data]
        specs = {
            toml.read_text(f"{place}: sections: name", table.get("name")): table for table in tables
        }
    else:
        specs = dict(toml.read_table(f"{place}: [sections]", data))
    sections = {section.name: section for section in base.sections}
    for name, spec in specs.items():
        if spec is False:
            _check_dropped(f"{place}: [sections]", name, sections)
    for name, spec in specs.items():
        if spec is False:
            del sections[name]
            continue
        section = sections.get(name, Section(name, title=name.capitalize()))
        filled = toml.fill(f"{place}: [sections.{name}]", section, spec)
        sections[name] = replace(filled, name=name)
    return tuple(sections.values())


def _first(place: str, sections: tuple[Section, ...], data: Any) -> tuple[Section, ...]:
    """Return sections with some of them, given by their names, before the others."""
    names = toml.check_value(f"{place}: first", "tuple[str, ...]", data)
    by_name = {section.name: section for section in sections}
    for name in names:
        if name not in by_name:
            raise ConfigError(
                f"first names a section that the recipe does not have: {name!r}",
                field="first",
                value=name,
                allowed=by_name,
                place=place,
            )
    rest = (section for section in sections if section.name not in names)
    return (*(by_name[name] for name in dict.fromkeys(names)), *rest)


def _check_dropped(place: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise ConfigError(
            f"{name} = false leaves out what the recipe does not have",
            value=name,
            allowed=known,
            place=place,
        )
