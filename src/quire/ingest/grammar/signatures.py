"""Entities of a file: the name, signature and description of each definition."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.ingest.code_splitter import MAX_DEPTH, METHOD_OWNERS
from quire.ingest.grammar import extract
from quire.ingest.grammar.definitions import CapturedDefinition, FileCaptures, Span, find_leading
from quire.ingest.types import EntitySpan, clean_title

LICENCE_WINDOW = 300
"""A comment that begins before this character may be a licence header."""
PRELUDE = re.compile(r"\s*(?:<\?php\s*|(['\"])use strict\1;?\s*)?")


def build_entities(text: str, captures: FileCaptures) -> list[EntitySpan]:
    """Build an entity for each definition that has a name and is not nested too deeply."""
    entities: list[EntitySpan] = []
    indexes: dict[int, int | None] = {}  # by identity: its own entity, or the enclosing one
    depths: dict[int, int] = {}
    for definition in captures.definitions:
        parent = None if definition.parent is None else indexes[id(definition.parent)]
        depth = 0 if parent is None else depths[parent] + 1
        if definition.name is None or depth >= MAX_DEPTH:
            indexes[id(definition)] = parent
            continue
        depths[len(entities)] = depth
        indexes[id(definition)] = len(entities)
        entities.append(_build_entity(text, captures, definition, parent, entities))
    return entities


def summarize_file(text: str, captures: FileCaptures, entities: list[EntitySpan]) -> str:
    """Return what a file says about itself: its docstring, or the comment at its top."""
    if captures.doc:
        return extract.strip_docstring(_slice(text, captures.doc))
    for run in _iter_top_comments(text, captures):
        if any(entity.start <= run[0][0] for entity in entities[:1]):
            break  # it describes the definition below it
        comments = [_slice(text, span).rstrip("\n") for span in run]
        if not extract.is_licence("\n".join(comments)):
            prose = [comment for comment in comments if not extract.is_pragma(comment)]
            if summary := extract.strip_comment("\n".join(prose)):
                return summary
    return ""


def _build_entity(
    text: str,
    captures: FileCaptures,
    definition: CapturedDefinition,
    parent: int | None,
    entities: list[EntitySpan],
) -> EntitySpan:
    assert definition.name is not None, "an entity needs a name"
    start, decorators, comment = _read_leading(text, captures, definition)
    name = _slice(text, definition.name)
    path = extract.split_name(name) or (clean_title(name),)
    owner = extract.split_name(_slice(text, definition.owner)) if definition.owner else ()
    outer = None if parent is None else entities[parent]
    has_owner = len(path) > 1 or owner or (outer is not None and outer.kind in METHOD_OWNERS)
    # In broken syntax a comment above may overlap the entity before: entities stay in order.
    start = min(definition.start, max(start, entities[-1].start if entities else 0))
    doc = extract.strip_docstring(_slice(text, definition.doc)) if definition.doc else comment
    return EntitySpan(
        kind="method" if definition.kind == "function" and has_owner else definition.kind,
        name=path[-1],
        start=start if outer is None else max(start, outer.start),
        end=definition.end,
        parent=parent,
        signature=_extract_signature(text, definition),
        summary=doc,
        decorators=decorators,
        qualified=".".join(name for name in (_qualifier(outer), *owner, *path) if name),
    )


def _qualifier(outer: EntitySpan | None) -> str:
    """Return the qualifier of an entity's members; `typedef struct a {} b` defines no `b.a`."""
    if outer is None:
        return ""
    return outer.qualified.rpartition(".")[0] if outer.kind == "type" else outer.qualified


def _read_leading(
    text: str, captures: FileCaptures, definition: CapturedDefinition
) -> tuple[int, tuple[str, ...], str]:
    """Read upwards from a definition; return where it really starts, decorators and comment."""
    start = definition.start
    decorators = [extract.format_signature(_slice(text, span)) for span in definition.decorators]
    comments: list[str] = []
    for span in find_leading(text, captures, definition.start):
        lead = _slice(text, span)
        if span[0] in captures.free_decorators:
            decorators.insert(0, extract.format_signature(lead))
        elif extract.is_file_comment(lead) or (
            span[0] < LICENCE_WINDOW and extract.is_licence(lead)
        ):
            break
        elif not extract.is_pragma(lead):
            comments.append(lead.rstrip("\n"))  # some grammars count the end of the line to it
        start = span[0]
    return start, tuple(decorators), extract.strip_comment("\n".join(reversed(comments)))


def _extract_signature(text: str, definition: CapturedDefinition) -> str:
    """Return the declaration without its body, decorators and comments."""
    end = definition.end if definition.body is None else definition.body
    if _is_short_expression(text, definition):
        end = definition.end  # `get: ()` says nothing, `get: () => this.value` all of it
    end = min(end, definition.start + extract.MAX_LENGTH)
    if not definition.decorators and not definition.inner_comments:
        return extract.format_signature(text[definition.start : end])
    fragments = []
    position = definition.start
    for start, after in sorted((*definition.decorators, *definition.inner_comments)):
        if position <= start < end:
            fragments.append(text[position:start])
            position = after
    fragments.append(text[position:end])
    return extract.format_signature(" ".join(fragments))


def _is_short_expression(text: str, definition: CapturedDefinition) -> bool:
    """Tell whether a function is one line with a value behind an arrow, or with nothing in it."""
    if definition.body is None or definition.end - definition.start > extract.SIGNATURE_LENGTH:
        return False
    before, body = text[definition.start : definition.body], text[definition.body : definition.end]
    if not before.rstrip().endswith("=>") and not body.startswith("=>"):
        return False
    return "\n" not in before + body and (body == "{}" or not body.startswith("{"))


def _iter_top_comments(text: str, captures: FileCaptures) -> Iterator[list[Span]]:
    """Yield the comments before any code, grouped where they follow each other directly."""
    run: list[Span] = []
    position = 0
    for start, end in captures.leading:
        if start in captures.free_decorators:
            break  # an attribute is code
        gap = text[position:start]
        if not PRELUDE.fullmatch(gap):
            break
        if run and (gap.strip() or gap.count("\n") > 1):
            yield run
            run = []
        run.append((start, end))
        position = end - text.endswith("\n", start, end)
    if run:
        yield run


def _slice(text: str, span: Span) -> str:
    return text[span[0] : span[1]]
