"""How is a definition named, declared and described?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.ingest.cutting import DEEPEST, HOLDERS
from quire.ingest.grammar import wording
from quire.ingest.grammar.captured import Captured, Found, Span, leads_above
from quire.ingest.pieces import Part

TOP = 300
"""A comment that begins before this character may be a licence's."""
PRELUDE = re.compile(r"\s*(?:<\?php\s*|(['\"])use strict\1;?\s*)?")

Places = dict[int, int]
"""Where a definition stands among the parts, by its identity."""


def parts_of(text: str, found: Captured) -> tuple[list[Part], Places]:
    """Make a part of each definition that has a name and is not nested too deeply."""
    parts: list[Part] = []
    places: Places = {}
    for one in _named(found):
        around = part_around(one.parent, places)
        places[id(one)] = len(parts)
        parts.append(_part(text, found, one, around, parts))
    return parts, places


def part_around(one: Found | None, places: Places) -> int | None:
    """Find the part that a definition is, or the one around it."""
    while one is not None:
        if (place := places.get(id(one))) is not None:
            return place
        one = one.parent
    return None


def summary_of_file(text: str, found: Captured, parts: list[Part]) -> str:
    """Give what a file says of itself: its docstring, or the comment at its top."""
    if found.whole.doc:
        return wording.docstring_text(_at(text, found.whole.doc))
    for run in _runs_at_the_top(text, found):
        if any(part.start <= run[0][0] for part in parts[:1]):
            break  # it speaks of what is below it
        comments = [_at(text, span) for span in run]
        if not wording.is_licence("\n".join(comments)):
            told = [comment for comment in comments if not wording.is_pragma(comment)]
            if summary := wording.comment_text("\n".join(told)):
                return summary
    return ""


def _named(found: Captured) -> Iterator[Found]:
    depths: dict[int, int] = {}
    for one in found.definitions:
        depth = 0 if one.parent is None else depths[id(one.parent)]
        depths[id(one)] = depth + (one.name is not None)
        if one.name is not None and depth < DEEPEST:
            yield one


def _part(text: str, found: Captured, one: Found, around: int | None, parts: list[Part]) -> Part:
    assert one.name is not None, "only named definitions become parts"
    start, decorators, comment = _above(text, found, one)
    written = _at(text, one.name)
    path = wording.name_path(written) or (written,)
    owner = wording.name_path(_at(text, one.owner)) if one.owner else ()
    outer = None if around is None else parts[around]
    belongs = len(path) > 1 or owner or (outer is not None and outer.kind in HOLDERS)
    return Part(
        kind="method" if one.kind == "function" and belongs else one.kind,
        name=path[-1],
        start=start if outer is None else max(start, outer.start),
        end=one.end,
        parent=around,
        signature=_signature(text, one),
        summary=wording.docstring_text(_at(text, one.doc)) if one.doc else comment,
        decorators=(*decorators, *(wording.signature(_at(text, span)) for span in one.decorators)),
        qualified=".".join(name for name in (_qualifier(outer), *owner, *path) if name),
    )


def _qualifier(outer: Part | None) -> str:
    """Give the name in front of what is inside a part; `typedef struct a {} b` makes no `b.a`."""
    if outer is None:
        return ""
    return outer.qualified.rpartition(".")[0] if outer.kind == "type" else outer.qualified


def _above(text: str, found: Captured, one: Found) -> tuple[int, list[str], str]:
    """Read upwards from a definition: where it really begins, its decorators, its comment."""
    start = one.start
    decorators: list[str] = []
    comments: list[str] = []
    for span in leads_above(text, found, one.start):
        written = _at(text, span)
        if span[0] in found.free_decorators:
            decorators.insert(0, wording.signature(written))
        elif wording.speaks_of_the_file(written) or (span[0] < TOP and wording.is_licence(written)):
            break
        elif not wording.is_pragma(written):
            comments.append(written)
        start = span[0]
    return start, decorators, wording.comment_text("\n".join(reversed(comments)))


def _signature(text: str, one: Found) -> str:
    """Take the declaration without body, decorators and comments."""
    end = one.end if one.body is None else one.body
    end = min(end, one.start + wording.LOOKED_AT)
    if not one.decorators and not one.asides:
        return wording.signature(text[one.start : end])
    kept = []
    at = one.start
    for start, behind in sorted((*one.decorators, *one.asides)):
        if at <= start < end:
            kept.append(text[at:start])
            at = behind
    kept.append(text[at:end])
    return wording.signature(" ".join(kept))


def _runs_at_the_top(text: str, found: Captured) -> Iterator[list[Span]]:
    """Go through the comments before any code, those that follow each other directly together."""
    run: list[Span] = []
    at = 0
    for start, end in found.leads:
        gap = text[at:start]
        if not PRELUDE.fullmatch(gap):
            break
        if run and (gap.strip() or gap.count("\n") > 1):
            yield run
            run = []
        run.append((start, end))
        at = end - text.endswith("\n", start, end)
    if run:
        yield run


def _at(text: str, span: Span) -> str:
    return text[span[0] : span[1]]
