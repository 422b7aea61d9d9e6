"""Which definitions of a tree does a newcomer need to know first?

The most used definitions of what the viewer may read, as many as the budget holds: ranked over the
graph of who uses whom, counted as they are said, deterministic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quire import ranking, rendering
from quire.core.paths import is_under
from quire.core.protocols import Counter, View
from quire.core.types import NO_FILTER, Outline
from quire.errors import BudgetTooSmallError
from quire.rendering.codemap import Entry

AT_ONCE = 500
"""So many outlines are read at a time."""
TRIED = 64
"""So many more are tried when the first that does not fit was met."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A map of a tree: its text, what it costs, and how much of the tree it shows."""

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


def draw(view: View, under: Sequence[str], budget: int, counter: Counter) -> Mapped:
    """Map the definitions below some paths of a space."""
    paths, outlines = _read(view)
    ranks = ranking.rank_definitions(outlines, paths)
    wanted = [
        (record, place)
        for record, outline in outlines.items()
        if any(is_under(paths[record], part) for part in under)
        for place in range(len(outline.entities))
        if ranking.is_definition(outline, place)
    ]
    wanted.sort(key=lambda each: (-ranks.get(each, 0), paths[each[0]], each))
    entries: list[Entry] = [(paths[record], record, place) for record, place in wanted]
    chosen = _fitting(entries, outlines, budget, counter)
    text = rendering.render_codemap(chosen, outlines)
    if entries and not chosen:
        least = min(counter.count(rendering.render_codemap([entry], outlines)) for entry in entries)
        raise BudgetTooSmallError(
            f"not even one definition fits: at least {least} tokens are needed, not {budget}",
            field="budget",
            value=budget,
            hint=f"raise {{budget}} to {least}",
        )
    notes = [] if entries else ["there is no definition to show: nothing readable here is code"]
    if counter.note:
        notes.append(counter.note)
    return Mapped(
        text=text,
        tokens=counter.count(text),
        budget=budget,
        shown=len(chosen),
        definitions=len(entries),
        files=len({record for _, record, _ in chosen}),
        state_root=view.roots().state,
        notes=tuple(notes),
    )


def _read(view: View) -> tuple[dict[str, str], dict[str, Outline]]:
    """Read all outlines of code that the viewer may read, in the order of their paths."""
    paths = {record.id: record.path for record in view.listing(NO_FILTER) if record.kind == "code"}
    names = list(paths)
    outlines: dict[str, Outline] = {}
    for at in range(0, len(names), AT_ONCE):
        outlines |= view.outlines(names[at : at + AT_ONCE])
    return paths, {name: outlines[name] for name in names if name in outlines}


def _fitting(
    entries: Sequence[Entry], outlines: Mapping[str, Outline], budget: int, counter: Counter
) -> list[Entry]:
    """Take the best ones that fit: as many of the first as possible, then whatever still does."""

    def fits(chosen: Sequence[Entry]) -> bool:
        return counter.count(rendering.render_codemap(chosen, outlines)) <= budget

    # A line costs a token at least, so no more than that many can be in.
    low, high = 0, min(len(entries), budget)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(entries[:middle]):
            low = middle
        else:
            high = middle - 1
    chosen = list(entries[:low])
    for entry in entries[low : low + TRIED]:
        if fits([*chosen, entry]):
            chosen.append(entry)
    return chosen
