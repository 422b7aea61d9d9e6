"""Words of a page that come from no source: titles of the recipe, the request, failures.

Rendering a page again from its sources shows nothing about these: whoever writes a receipt writes
them as well. Those of a recipe that comes with Quire are known, so that others under its name are
noticed. The rest is named, so that nobody takes it for the words of a source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quire.core.types import Failure, Recipe, Request
from quire.pipeline import recipe as recipes

QUERY = "{query}"
SHOW_QUERY = ("template",)
"""The formats that end with the question."""


def find_altered_words(recipe: Recipe, request: Request) -> list[str]:
    """Return what a recipe says in other words than the shipped one of its name."""
    if recipe.name not in recipes.shipped():
        return []
    shipped = recipes.load(recipe.name)
    titles = {section.name: section.title for section in shipped.sections}
    pairs = [
        ("render.title", recipe.render.title, shipped.render.title.replace(QUERY, request.query)),
        ("render.footer", recipe.render.footer, shipped.render.footer),
        ("render.notice", recipe.render.notice, shipped.render.notice),
        *(
            (f"sections.{section.name}.title", section.title, titles.get(section.name))
            for section in recipe.sections
        ),
    ]
    return [
        f"its recipe is not the {recipe.name!r} that comes with Quire: {name} is {given!r:.80}"
        for name, given, expected in pairs
        if given != expected
    ]


def name_own_words(recipe: Recipe, request: Request, failed: Sequence[Failure]) -> tuple[str, ...]:
    """Name the words of a page that are taken from its receipt."""
    return tuple(_own_words(recipe, request, failed))


def _own_words(recipe: Recipe, request: Request, failed: Sequence[Failure]) -> Iterator[str]:
    if recipe.name not in recipes.shipped():
        yield f"the titles of the recipe {recipe.name!r}"
    if recipe.render.format in SHOW_QUERY or request.query in recipe.render.title:
        yield "the question"
    if request.system:
        yield "the instructions"
    if request.history:
        yield "the conversation"
    if request.situation:
        yield "the situation"
    if failed:
        yield "why sources failed"
    if request.stale:
        yield "which sources had changed on disk"
