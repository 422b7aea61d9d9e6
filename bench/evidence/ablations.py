"""What is each part of the ranking worth? The default without one thing at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from quire.core.types import Recipe


def _without(source: str) -> Callable[[Recipe], Recipe]:
    def changed(recipe: Recipe) -> Recipe:
        kept = {name: spec for name, spec in recipe.sources.items() if name != source}
        return replace(recipe, sources=kept)

    return changed


def _ranked(**changes: object) -> Callable[[Recipe], Recipe]:
    def changed(recipe: Recipe) -> Recipe:
        return replace(recipe, rank=replace(recipe.rank, **changes))  # type: ignore[arg-type]  # settings by name

    return changed


def _heedless(option: str) -> Callable[[Recipe], Recipe]:
    def changed(recipe: Recipe) -> Recipe:
        kept = {
            name: replace(
                spec, options={key: spec.options[key] for key in spec.options if key != option}
            )
            for name, spec in recipe.sources.items()
        }
        return replace(recipe, sources=kept)

    return changed


ABLATIONS: dict[str, Callable[[Recipe], Recipe]] = {
    "defined": _without("defined"),
    "linked": _without("linked"),
    "semantic": _without("semantic"),
    "lexical": _without("lexical"),
    "reach": _ranked(reach=0),
    "whole": _heedless("whole"),
    "long": _heedless("long"),
    "sum": _ranked(fusion="rrf"),
    "deeper": _ranked(deeper=0),
    "times": _ranked(times=0),
}
"""What can be left out, and the recipe that does without it."""
