"""Candidates: chunks with everything that was retrieved about them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from quire import rendering
from quire.core.paths import is_named
from quire.core.types import BLOCK_PREFIX, WHOLE, Candidate, Chunk, Entity, Outline, Unit
from quire.pipeline.draft import Draft
from quire.pipeline.preamble import is_preamble
from quire.pipeline.units import find_unit
from quire.store.index import analyzer

CODE, DOCUMENT = "code", "document"
TITLE_KINDS = (f"{BLOCK_PREFIX}page", f"{BLOCK_PREFIX}heading")
IMPORT_WORDS = frozenset(analyzer.tokenize("import export public license copyright"))
"""Words of a query that asks for what stands at the top of files."""
NO_BODY = re.compile(
    r"""(?>(?:
    [ \t]*+(?=\n|\Z)
    | [ ]{0,3}\#{1,6}[ \t][^\n]*+                               # a heading
    | \S[^\n]*+\n(?:={3,}+|-{3,}+|~{3,}+|\^{3,}+|"{3,}+|\*{3,}+)  # one that is underlined
    | \([\w.:-]++\)= | \.\.[ ]_[^\n]*+ | <a[ ][^>\n]*+>(?:</a>)?  # an anchor
    | <!--(?:(?!-->)[^\n])*+-->                                 # a comment
    | [`~:]{3,}+(?:\{[\w:-]++\}[ \t]*+\S*+)?                    # a directive, of a word or less
    | [ \t]*+\.\.[ ][\w-]++(?::[\w-]++)*+::[ \t]*+\S*+ | [ \t]*+:[\w-]++:[^\n]*+
    )[ \t]*+(?:\n|\Z))++""",
    re.VERBOSE,
)
"""Lines of Markdown and reStructuredText that say nothing of what follows them but its title."""


def make_candidate(draft: Draft, chunk: Chunk, score: int, signals: Mapping[str, int]) -> Candidate:
    """Return a chunk as a candidate, with everything that was retrieved about it."""
    return Candidate(
        chunk,
        score,
        signals,
        record=draft.records.get(chunk.record_id),
        crumbs=draft.crumbs.get(chunk.record_id, ()),
        heading=draft.headings.get(chunk.record_id, ""),
        place=draft.places.get(chunk.record_id, ()),
        relations=draft.relations.get(chunk.record_id, ()),
        recurs=draft.recurring.get(chunk.record_id, 0),
        reading=draft.reading.get(chunk.record_id),
        context=draft.contexts.get(chunk.record_id),
        section=draft.recipe.section(draft.sections.get(chunk.id, "")),
        author=draft.authors.get(chunk.record_id, ""),
    )


def add_entity(draft: Draft, candidate: Candidate) -> Candidate:
    """Return a candidate with the entity that it belongs to; code with the unit it is shown as."""
    chunk, known = candidate.chunk, draft.cache.entities
    if chunk.id not in known:
        outline = draft.outlines.get(chunk.record_id)
        if outline is None:
            return candidate
        known[chunk.id] = _find_entity(outline, chunk, draft.request.query)
    entity, unit, language = known[chunk.id]
    if unit is None:
        return replace(candidate, entity=entity)
    return replace(candidate, entity=entity, unit=unit, language=language)


def _find_entity(outline: Outline, chunk: Chunk, query: str) -> tuple[Entity, Unit | None, str]:
    """Return the entity that a chunk belongs to; of code the unit and the language as well."""
    if chunk.kind != CODE:
        entity = outline.innermost(chunk.start, chunk.end, alone=True)
        if entity is outline.entities[WHOLE] and outline.is_named_before(chunk.start):
            # Neither the name nor the summary of another section may stand above this one.
            name = chunk.path.rpartition("/")[2]
            entity = replace(entity, name=name, qualified=name, summary="")
        return entity, None, ""
    unit = find_unit(outline, chunk, query)
    return unit.entity, unit, str(outline.entities[WHOLE].attrs.get("language", ""))


def is_title_alone(draft: Draft, candidate: Candidate) -> bool:
    """Tell whether a candidate is the title of a page or a part of one and says nothing else.

    A page of items shows what stands under a title; a workspace lists such titles on its own.
    """
    form, chunk = rendering.get_format(draft.recipe.render), candidate.chunk
    if chunk.kind not in TITLE_KINDS or not (form.sections and form.entities):
        return False
    return "\n" not in chunk.text.strip() and chunk.record_id not in draft.features.included


def is_heading_alone(draft: Draft, candidate: Candidate) -> bool:
    """Tell whether a candidate is a heading of a document, with anchors or directives at most.

    Where pieces are shown as entities, under the headings that they stand under; not if the query
    names the file.
    """
    chunk = candidate.chunk
    if chunk.kind != DOCUMENT or not rendering.get_format(draft.recipe.render).entities:
        return False
    if NO_BODY.fullmatch(chunk.text) is None or is_named(draft.request.query, chunk.path):
        return False
    return chunk.record_id not in draft.features.included


def is_list_of_names(draft: Draft, candidate: Candidate) -> bool:
    """Tell whether a candidate holds only imports and names to export, which answer nothing.

    Where pieces are shown as entities; not if the query names the file or asks for such names.
    """
    chunk, query = candidate.chunk, draft.request.query
    if chunk.kind != CODE or not rendering.get_format(draft.recipe.render).entities:
        return False
    if chunk.record_id not in draft.outlines or not is_preamble(chunk):
        return False
    is_asked = not IMPORT_WORDS.isdisjoint(analyzer.tokenize(query)) or is_named(query, chunk.path)
    return not is_asked and candidate.chunk.record_id not in draft.features.included
