"""Notes: why an answer may hold less than its caller expects.

Nothing failed, and yet a misspelled kind or a date that no record has leaves little or nothing to
find. Notes count only what the viewer may read. A name in backticks is an option, which an
interface may write in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType

from quire import rendering
from quire.core import conditions
from quire.core.globs import Globs
from quire.core.languages import detect_language, language_name
from quire.core.metadata import DATE, FLAG, NUMBER, TEXT
from quire.core.protocols import View
from quire.core.types import AccessRule, Filter, Recipe, Request
from quire.core.types.options import OPTIONS
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved
from quire.pipeline.sections import filter_of
from quire.retrieval import get_collector

NO_NAMES: Mapping[str, str] = MappingProxyType({})
_LINE = re.compile(r":\d+\Z")
MAX_COUNTED = 20_000
"""In a view of more chunks than this, records without a date are not counted for a note's sake."""
MAX_NAMED = 10
"""How many files that have changed a note names."""
_KIND_NAMES = {TEXT: "texts", NUMBER: "numbers", FLAG: "true or false", DATE: "dates"}
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
    if where.paths and not kinds and not view.count(Filter(paths=where.paths)):
        notes.append(f"no record has a path that passes `paths` ({', '.join(where.paths)})")
    if where.since is not None or where.until is not None:
        notes += _undated(view, where)
    if where.where:
        notes += _condition_notes(view, where)
    return notes


def _condition_notes(view: View, where: Filter) -> list[str]:
    """Name the keys of a condition that no readable record has, or say that nothing passes it."""
    known = view.metadata_keys()
    notes = []
    condition = conditions.parse(where.where)
    for key in sorted(conditions.keys_of(condition) - {*known}):
        near = get_close_matches(key, known, n=1)
        listed = ", ".join(known[:MAX_NAMED]) + (", ..." if len(known) > MAX_NAMED else "")
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {listed or 'none'}"
        notes.append(f"no record has metadata under {key!r}; {hint}")
    notes += _kind_notes(view, condition, known)
    if not view.count(Filter(where=where.where, alive_at=where.alive_at)):
        notes.append(f"no record passes `where` ({where.where})")
    return notes


def _kind_notes(view: View, condition: conditions.Condition, known: Collection[str]) -> list[str]:
    """Name the comparisons with a value of a kind that no readable record has under the key."""
    asked = {
        (each.key, each.kind) for each in conditions.comparisons_of(condition) if each.key in known
    }
    notes = []
    for key, kind in sorted(asked):
        kinds = view.metadata_kinds(key)
        if kind not in kinds:
            there = ", ".join(_KIND_NAMES[each] for each in kinds) or "empty lists"
            notes.append(
                f"`where` compares {key!r} with {_KIND_NAMES[kind]}, and no record has such a "
                f"value under it; there are: {there}"
            )
    return notes


def context_notes(view: View, resolved: ResolvedRequest, retrieved: Retrieved) -> list[str]:
    """Name the options of a context that have no effect, and what its filter leaves out."""
    recipe, request = resolved.recipe, resolved.request
    kinds = {chunk.kind for chunk in retrieved.chunks.values()}
    notes = filter_notes(view, filter_of(request), kinds)
    dates = [record.modified for record in retrieved.records.values()]
    if recipe.rank.recent and dates and all(date is None for date in dates):
        notes.append(f"no candidate has a date, so none is preferred as recent; {DATE_HINT}")
    notes += [
        *_without_effect(request, recipe),
        *resolved.notes,
        *_other_language(view, request.query),
        *_stale_sources(request, retrieved),
    ]
    if recipe.fit.order == "stable" and not request.previous:
        notes.append("`order` is stable, and `previous` names no context whose order to keep")
    return notes


def _other_language(view: View, query: str) -> list[str]:
    """Say that a question is in a language in which the viewer can read nothing."""
    code = detect_language(query)
    if not code or code in view.languages():
        return []
    text = (
        f"the question is in {language_name(code)}, and no text here is known to be: words find "
        "only what is written in its language; ask in that of the texts, or set a model of "
        "several languages"
    )
    return [text]


def _stale_sources(request: Request, retrieved: Retrieved) -> list[str]:
    records = retrieved.records.values()
    return stale_notes(
        request.stale,
        {record.path: rendering.imported_from(record, with_line=False) for record in records},
    )


def stale_notes(stale: Sequence[tuple[str, str]], names: Mapping[str, str] = NO_NAMES) -> list[str]:
    """Name the sources whose files are not as they were indexed; imported ones by their names."""
    if not stale:
        return []
    # Several blocks of one file are one name.
    pairs = dict.fromkeys(
        (_LINE.sub("", names.get(path, "")) or path, state) for path, state in stale
    )
    listed = [f"{name} ({state})" for name, state in pairs]
    named = listed[:MAX_NAMED]
    more = len(listed) - len(named)
    named += [f"{more} more"] if more else []
    return [f"not as on disk: {', '.join(named)}; `quire index` reads what has changed"]


def _without_effect(request: Request, recipe: Recipe) -> list[str]:
    read = {name for source in recipe.sources for name in get_collector(source).reads}
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
