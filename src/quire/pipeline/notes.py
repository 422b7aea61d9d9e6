"""Notes: why an answer may hold less than its caller expects.

Nothing failed, and yet a misspelled kind or a date that no record has leaves little or nothing to
find. Notes count only what the viewer may read. A name in backticks is an option, which an
interface may write in its own way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from quire.core.globs import Globs
from quire.core.protocols import View
from quire.core.types import AccessRule, Filter, Recipe, Request
from quire.core.types.options import OPTIONS
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved
from quire.pipeline.sections import filter_of
from quire.retrieval import COLLECTORS

MAX_COUNTED = 20_000
"""In a view of more chunks than this, records without a date are not counted for a note's sake."""
DATE_HINT = (
    "a file gets one from its front matter, from git, or from the disk with "
    "[ingest] use_mtime = true"
)


def filter_notes(view: View, where: Filter, kinds: Collection[str]) -> list[str]:
    """Name the parts of a filter that leave out more than may be meant; `kinds` are those found."""
    missing = [kind for kind in where.kinds if kind not in kinds]
    stored = sorted({record.kind for record in view.listing()}) if missing else []
    notes = [
        f"no record is of the kind {kind!r}; the store has {', '.join(stored) or 'none'}"
        for kind in missing
        if kind.partition(".")[0] not in stored  # `experience.full` is a part of an experience
    ]
    if where.since is not None or where.until is not None:
        notes += _undated(view, where)
    return notes


def context_notes(view: View, resolved: ResolvedRequest, retrieved: Retrieved) -> list[str]:
    """Name the options of a context that have no effect, and what its filter leaves out."""
    recipe, request = resolved.recipe, resolved.request
    kinds = {chunk.kind for chunk in retrieved.chunks.values()}
    notes = filter_notes(view, filter_of(request), kinds)
    dates = [record.modified for record in retrieved.records.values()]
    if recipe.rank.recent and dates and all(date is None for date in dates):
        notes.append(f"no candidate has a date, so none is preferred as recent; {DATE_HINT}")
    notes += _without_effect(request, recipe)
    if recipe.fit.order == "stable" and not request.previous:
        notes.append("`order` is stable, and `previous` names no context whose order to keep")
    return notes


def _without_effect(request: Request, recipe: Recipe) -> list[str]:
    read = {name for source in recipe.sources for name in COLLECTORS[source].reads}
    return [
        f"`{option.name}` has no effect with the recipe {recipe.name!r}"
        for option in OPTIONS.values()
        if option.used_by is not None
        and getattr(request, option.name) not in (None, (), "")
        and option.name not in read
        and not option.used_by(recipe)
    ]


def rule_notes(rules: Iterable[AccessRule], paths: Sequence[str]) -> list[str]:
    """Name the access rules that apply to no file."""
    return [
        f"no file in the store matches the rule for {rule.glob!r}"
        for rule in rules
        if not any(map(Globs((rule.glob,)).match, paths))
    ]


def _undated(view: View, where: Filter) -> list[str]:
    if view.coverage().chunks > MAX_COUNTED:
        return [f"records without a date are left out; {DATE_HINT}"]
    records = view.listing(Filter(kinds=where.kinds, paths=where.paths))
    count = sum(record.modified is None for record in records)
    return [f"{count} records without a date are left out; {DATE_HINT}"] if count else []
