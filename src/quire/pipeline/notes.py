"""Why may an answer hold less than its asker meant?

Nothing failed, and yet a misspelt kind or a date that no record has leaves little or nothing to be
found. A filter that nothing can pass is refused; of the rest the asker is told. All of it is
counted over what the viewer may read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from quire.core.globs import Globs, is_negated
from quire.core.protocols import View
from quire.core.types import AccessRule, Filter, Recipe, Request
from quire.errors import InputError
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved
from quire.pipeline.sections import filter_of
from quire.retrieval import COLLECTORS

COUNTED = 20_000
"""In a view of more chunks than this, records without a date are not counted for a note's sake."""
DATED = (
    "a file gets one from its front matter, from git, or from the disk with "
    "[ingest] use_mtime = true"
)


def check(where: Filter) -> None:
    """Refuse a filter that nothing can pass."""
    if where.paths and all(is_negated(glob) for glob in where.paths):
        raise InputError(
            f"the paths {', '.join(map(repr, where.paths))} only leave out, so that nothing is "
            "left: name what is meant first, as in '**'"
        )


def on_filter(view: View, where: Filter, found: Collection[str]) -> list[str]:
    """Tell which part of a filter leaves out more than may be meant; `found`: the kinds found."""
    missed = [kind for kind in where.kinds if kind not in found]
    there = sorted({record.kind for record in view.listing()}) if missed else []
    notes = [
        f"nothing is of the kind {kind!r}; there are {', '.join(there) or 'none'}"
        for kind in missed
        if kind.partition(".")[0] not in there  # `experience.full` is a part of an experience
    ]
    if where.since is not None or where.until is not None:
        notes += _undated(view, where)
    return notes


def on_context(view: View, asked: ResolvedRequest, gathered: Retrieved) -> list[str]:
    """Tell which options of a context come to nothing, and what its filter leaves out."""
    recipe, request = asked.recipe, asked.request
    kinds = {chunk.kind for chunk in gathered.chunks.values()}
    notes = on_filter(view, filter_of(request), kinds)
    dates = [record.modified for record in gathered.records.values()]
    if recipe.rank.recent and dates and all(date is None for date in dates):
        notes.append(f"nothing that was found has a date, so none is preferred as recent; {DATED}")
    notes += _without_effect(request, recipe)
    if recipe.fit.order == "stable" and not request.previous:
        notes.append("there is no earlier context whose order could be kept")
    return notes


def _without_effect(request: Request, recipe: Recipe) -> list[str]:
    """Tell which options say something that no part of the recipe listens to."""
    read = {option for source in recipe.sources for option in COLLECTORS[source].reads}
    told = {
        "focus": (request.focus, "focus" in read or recipe.rank.weights),
        "include": (request.include, "include" in read),
        "depth": (request.depth, "depth" in read),
        "prefer": (request.prefer, "type" in recipe.rank.weights),
        "situation": (request.situation, "situation" in read),
        "base": (request.base, "base" in read),
        "history": (request.history, recipe.budget.history),
    }
    return [
        f"{name} has no effect: the recipe {recipe.name!r} does not look at it"
        for name, (given, heard) in told.items()
        if given not in (None, (), "") and not heard
    ]


def on_rules(rules: Iterable[AccessRule], paths: Sequence[str]) -> list[str]:
    """Tell which access rules no file falls under."""
    return [
        f"no file in the store matches the rule for {rule.glob!r}"
        for rule in rules
        if not any(map(Globs((rule.glob,)).match, paths))
    ]


def _undated(view: View, where: Filter) -> list[str]:
    if view.coverage().chunks > COUNTED:
        return [f"records without a date are left out; {DATED}"]
    alike = view.listing(Filter(kinds=where.kinds, paths=where.paths))
    count = sum(record.modified is None for record in alike)
    return [f"{count} records without a date are left out; {DATED}"] if count else []
