"""Map a codebase: the definitions that matter most, as many as fit a budget.

Definitions are ranked by PageRank over the graph of references, among what the viewer may read, and
counted as they are rendered. Tests, generated and vendored code count less, as in the recipe
`documents`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quire import ranking, rendering
from quire.core.paths import is_under
from quire.core.protocols import Counter, View
from quire.core.types import NO_FILTER, Outline
from quire.errors import BudgetTooSmallError
from quire.ingest import ROLE
from quire.pipeline import recipe as recipes
from quire.pipeline.features import ALL_OF_IT
from quire.pipeline.validate import DEFAULT_RECIPE
from quire.rendering.codemap import Entry

BATCH_SIZE = 500
"""How many outlines are read at a time."""
MAX_TRIES = 64
"""How many more definitions are tried after the first that does not fit."""


@dataclass(frozen=True, slots=True)
class CodeMap:
    """A map of a codebase: its text, what it costs, and how much of the code it shows."""

    text: str
    tokens: int
    budget: int
    shown: int
    """Definitions in the map."""
    definitions: int
    """Definitions that could have been shown."""
    files: int
    state_root: str
    notes: tuple[str, ...] = ()


def map_definitions(
    view: View, under: Sequence[str], budget: int, counter: Counter
) -> tuple[CodeMap, frozenset[str]]:
    """Map the definitions below some paths; return the map and the records that it shows."""
    paths, roles, outlines = _read_outlines(view)
    ranks = ranking.rank_definitions(outlines, paths)
    percents = recipes.load(DEFAULT_RECIPE).rank.roles
    definitions = [
        (record, place)
        for record, outline in outlines.items()
        if any(is_under(paths[record], part) for part in under)
        for place in range(len(outline.entities))
        if ranking.is_definition(outline, place) and not _is_local_type(outline, place)
    ]
    definitions.sort(
        key=lambda item: (
            -ranks.get(item, 0) * percents.get(roles[item[0]], ALL_OF_IT),
            paths[item[0]],
            item,
        )
    )
    entries: list[Entry] = [(paths[record], record, place) for record, place in definitions]
    chosen = _select_fitting(entries, outlines, budget, counter)
    text = rendering.render_codemap(chosen, outlines)
    if entries and not chosen:
        least = min(counter.count(rendering.render_codemap([entry], outlines)) for entry in entries)
        raise BudgetTooSmallError(
            f"not even one definition fits: at least {least} tokens are needed, not {budget}",
            field="budget",
            value=budget,
            hint=f"raise {{budget}} to {least}",
        )
    notes = (
        []
        if entries
        else ["there is no definition to show: no code here that this viewer may read"]
    )
    if counter.note:
        notes.append(counter.note)
    records = frozenset(record for _, record, _ in chosen)
    result = CodeMap(
        text=text,
        tokens=counter.count(text),
        budget=budget,
        shown=len(chosen),
        definitions=len(entries),
        files=len(records),
        state_root=view.roots().state,
        notes=tuple(notes),
    )
    return result, records


def _is_local_type(outline: Outline, place: int) -> bool:
    """Tell whether a definition is an alias of a type within a function, which nobody else sees."""
    entity = outline.entities[place]
    is_alias, parent = entity.kind == "type", entity.parent
    while is_alias and parent is not None:
        if outline.entities[parent].kind in {"function", "method"}:
            return True
        parent = outline.entities[parent].parent
    return False


def _read_outlines(view: View) -> tuple[dict[str, str], dict[str, str], dict[str, Outline]]:
    """Read the paths, roles and outlines of all code that the viewer may read, by path."""
    records = [record for record in view.listing(NO_FILTER) if record.kind == "code"]
    paths = {record.id: record.path for record in records}
    roles = {record.id: str(record.attrs.get(ROLE, "")) for record in records}
    names = list(paths)
    outlines: dict[str, Outline] = {}
    for at in range(0, len(names), BATCH_SIZE):
        outlines |= view.outlines(names[at : at + BATCH_SIZE])
    return paths, roles, {name: outlines[name] for name in names if name in outlines}


def _select_fitting(
    entries: Sequence[Entry], outlines: Mapping[str, Outline], budget: int, counter: Counter
) -> list[Entry]:
    """Select as many of the first entries as fit, then those of the next that still do."""

    def fits(chosen: Sequence[Entry]) -> bool:
        return counter.count(rendering.render_codemap(chosen, outlines)) <= budget

    # A line costs at least one token, so no more than that many can fit.
    low, high = 0, min(len(entries), budget)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(entries[:middle]):
            low = middle
        else:
            high = middle - 1
    chosen = list(entries[:low])
    for entry in entries[low : low + MAX_TRIES]:
        if fits([*chosen, entry]):
            chosen.append(entry)
    return chosen
