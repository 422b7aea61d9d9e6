"""How is a definition named, declared and described?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.ingest.code_splitter import DEEPEST, HOLDERS
from quire.ingest.grammar import extract
from quire.ingest.grammar.definitions import Captured, Found, Span, leads_above
from quire.ingest.types import EntitySpan, clean_title

TOP = 300
"""A comment that begins before this character may be a licence's."""
PRELUDE = re.compile(r"\s*(?:<\?php\s*|(['\"])use strict\1;?\s*)?")


def parts_of(text: str, found: Captured) -> list[EntitySpan]:
    """Make a part of each definition that has a name and is not nested too deeply."""
    parts: list[EntitySpan] = []
    places: dict[int, int | None] = {}  # by identity: the part that it is, or that is around it
    depths: dict[int, int] = {}
    for one in found.definitions:
        around = None if one.parent is None else places[id(one.parent)]
        depth = 0 if around is None else depths[around] + 1
        if one.name is None or depth >= DEEPEST:
            places[id(one)] = around
            continue
        depths[len(parts)] = depth
        places[id(one)] = len(parts)
        parts.append(_part(text, found, one, around=around, parts=parts))
    return parts


def summary_of_file(text: str, found: Captured, parts: list[EntitySpan]) -> str:
    """Give what a file says of itself: its docstring, or the comment at its top."""
    if found.doc:
        return extract.docstring_text(_at(text, found.doc))
    for run in _runs_at_the_top(text, found):
        if any(part.start <= run[0][0] for part in parts[:1]):
            break  # it speaks of what is below it
        comments = [_at(text, span) for span in run]
        if not extract.is_licence("\n".join(comments)):
            told = [comment for comment in comments if not extract.is_pragma(comment)]
            if summary := extract.comment_text("\n".join(told)):
                return summary
    return ""


def _part(
    text: str, found: Captured, one: Found, *, around: int | None, parts: list[EntitySpan]
) -> EntitySpan:
    assert one.name is not None, "only what has a name becomes a part"
    start, decorators, comment = _above(text, found, one)
    written = _at(text, one.name)
    path = extract.name_path(written) or (clean_title(written),)
    owner = extract.name_path(_at(text, one.owner)) if one.owner else ()
    outer = None if around is None else parts[around]
    belongs = len(path) > 1 or owner or (outer is not None and outer.kind in HOLDERS)
    # In broken syntax a comment above may reach into what came before: parts stay in their order.
    start = min(one.start, max(start, parts[-1].start if parts else 0))
    return EntitySpan(
        kind="method" if one.kind == "function" and belongs else one.kind,
        name=path[-1],
        start=start if outer is None else max(start, outer.start),
        end=one.end,
        parent=around,
        signature=_signature(text, one),
        summary=extract.docstring_text(_at(text, one.doc)) if one.doc else comment,
        decorators=decorators,
        qualified=".".join(name for name in (_qualifier(outer), *owner, *path) if name),
    )


def _qualifier(outer: EntitySpan | None) -> str:
    """Give the name in front of what is inside a part; `typedef struct a {} b` makes no `b.a`."""
    if outer is None:
        return ""
    return outer.qualified.rpartition(".")[0] if outer.kind == "type" else outer.qualified


def _above(text: str, found: Captured, one: Found) -> tuple[int, tuple[str, ...], str]:
    """Read upwards from a definition: where it really begins, its decorators, its comment."""
    start = one.start
    decorators = [extract.signature(_at(text, span)) for span in one.decorators]
    comments: list[str] = []
    for span in leads_above(text, found, one.start):
        written = _at(text, span)
        if span[0] in found.free_decorators:
            decorators.insert(0, extract.signature(written))
        elif extract.speaks_of_the_file(written) or (span[0] < TOP and extract.is_licence(written)):
            break
        elif not extract.is_pragma(written):
            comments.append(written)
        start = span[0]
    return start, tuple(decorators), extract.comment_text("\n".join(reversed(comments)))


def _signature(text: str, one: Found) -> str:
    """Take the declaration without body, decorators and comments."""
    end = one.end if one.body is None else one.body
    end = min(end, one.start + extract.LOOKED_AT)
    if not one.decorators and not one.asides:
        return extract.signature(text[one.start : end])
    kept = []
    at = one.start
    for start, behind in sorted((*one.decorators, *one.asides)):
        if at <= start < end:
            kept.append(text[at:start])
            at = behind
    kept.append(text[at:end])
    return extract.signature(" ".join(kept))


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
