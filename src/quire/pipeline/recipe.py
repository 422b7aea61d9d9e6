"""Which recipe is meant, and does it say only what a recipe may?

A recipe is looked up among the shipped ones by its name, or read from a TOML file. `extends` names
the one that it starts from; what it does not say stays as it is there, and a source that is `false`
is not asked.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from quire.core import hashing, toml
from quire.core.types import Intent, Recipe, Section, SourceSpec
from quire.errors import ConfigError, InputError
from quire.retrieval import VECTOR_COLLECTORS

_TERM = re.compile(r"\{(\w+)\}")
PARTS = ("budget", "rank", "fit", "render")
DEPTH = 8
"""A recipe may extend one that extends another, so often at most."""


@cache
def shipped() -> tuple[str, ...]:
    """Name the recipes that come with Quire."""
    folder = resources.files("quire.recipes")
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load(name: str) -> Recipe:
    """Load a recipe by its name or from a file."""
    return _load(name, Path(), ())


def recipe_hash(recipe: Recipe) -> str:
    """Name a recipe by what it says."""
    return hashing.digest("recipe", json.dumps(asdict(recipe), sort_keys=True)).hex()


def from_data(data: Mapping[str, Any]) -> Recipe:
    """Read a recipe from the plain data that a receipt holds."""
    place = "the receipt's recipe"
    try:
        name, rest = data["name"], {key: data[key] for key in data if key != "name"}
        recipe = _filled(place, Recipe(name=toml.text(f"{place}: name", name)), rest)
    except (KeyError, TypeError, ConfigError) as error:
        raise InputError(f"{place} cannot be read: {error}") from error
    return recipe


def fill(recipe: Recipe, terms: Mapping[str, str]) -> Recipe:
    """Put terms where a recipe names them in braces; a section that names another is left out."""
    sections = tuple(
        replace(
            section,
            query=_filled_in(section.query, terms),
            paths=tuple(_filled_in(path, terms) for path in section.paths),
        )
        for section in recipe.sections
        if all(name in terms for name in terms_of(section))
    )
    title = _filled_in(recipe.render.title, terms)
    return replace(recipe, sections=sections, render=replace(recipe.render, title=title))


def by_words(recipe: Recipe) -> Recipe:
    """Give a recipe that does not ask for meanings, so that no model is needed."""
    return replace(
        recipe,
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
    """Name the terms that a section has in braces."""
    return [name for text in (section.query, *section.paths) for name in _TERM.findall(text)]


def _filled_in(text: str, terms: Mapping[str, str]) -> str:
    """Put terms in, in one go: what a term holds is not looked at again."""
    return _TERM.sub(lambda found: terms.get(found[1], found[0]), text)


def _load(name: str, folder: Path, chain: tuple[str, ...]) -> Recipe:
    if name in chain or len(chain) >= DEPTH:
        raise ConfigError(f"recipes extend each other in a circle: {' > '.join((*chain, name))}")
    if name in shipped():
        place, table = f"recipe {name}", _shipped(name)
    else:
        path = folder / name
        if not _is_file(path):
            raise InputError(
                f"there is no recipe {name!r}; there are {', '.join(shipped())}, "
                "or name a TOML file"
            )
        place, table, folder = str(path), toml.read(path), path.parent
    base = Recipe(name=Path(name).stem)
    if "extends" in table:
        parent = _load(toml.text(f"{place}: extends", table["extends"]), folder, (*chain, name))
        base = replace(parent, name=base.name)
    return _filled(place, base, table)


@cache
def _shipped(name: str) -> Mapping[str, Any]:
    """Read a shipped recipe; once, for a repeated question is answered in less time than that."""
    source = resources.files("quire.recipes").joinpath(f"{name}.toml")
    return tomllib.loads(source.read_text("utf-8"))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for any file
        return False


def _filled(place: str, base: Recipe, table: Mapping[str, Any]) -> Recipe:
    known = ("extends", "about", "sources", "sections", "intents", *PARTS)
    for key in table:
        if key not in known:
            toml.refused(place, key, known)
    changes: dict[str, Any] = {
        part: toml.filled(f"{place}: [{part}]", getattr(base, part), table[part])
        for part in PARTS
        if part in table
    }
    if "about" in table:
        changes["about"] = toml.checked(f"{place}: about", "str", table["about"])
    if "sources" in table:
        given = toml.mapping(f"{place}: [sources]", table["sources"])
        dropped = {name for name, spec in given.items() if spec is False}
        if unknown := sorted(dropped - set(base.sources)):
            raise ConfigError(f"{place}: [sources] {unknown[0]} = false: it was not asked anyway")
        named = {
            name: toml.filled(
                f"{place}: [sources.{name}]", base.sources.get(name, SourceSpec()), spec
            )
            for name, spec in given.items()
            if name not in dropped
        }
        kept = {name: spec for name, spec in base.sources.items() if name not in dropped}
        changes["sources"] = {**kept, **named}
    if "sections" in table:
        changes["sections"] = _sections(place, base, table["sections"])
    if "intents" in table:
        given = toml.mapping(f"{place}: [intents]", table["intents"])
        changes["intents"] = {
            **base.intents,
            **{
                name: toml.filled(f"{place}: [intents.{name}]", Intent(), spec)
                for name, spec in given.items()
            },
        }
    return replace(base, **changes)


def _sections(place: str, base: Recipe, told: Any) -> tuple[Section, ...]:
    """Read sections by name, or the list of them that a receipt holds; new ones come last."""
    given: dict[str, Any]
    if isinstance(told, list):
        tables_of = [toml.mapping(f"{place}: sections", each) for each in told]
        given = {
            toml.text(f"{place}: sections: name", each.get("name")): each for each in tables_of
        }
    else:
        given = dict(toml.mapping(f"{place}: [sections]", told))
    for name, spec in given.items():
        if spec is False and base.section(name) is None:
            raise ConfigError(f"{place}: [sections] {name} = false: it was not there anyway")
    known = {section.name: section for section in base.sections}
    for name, spec in given.items():
        if spec is False:
            del known[name]
            continue
        section = known.get(name, Section(name, title=name.capitalize()))
        known[name] = replace(toml.filled(f"{place}: [sections.{name}]", section, spec), name=name)
    return tuple(known.values())
