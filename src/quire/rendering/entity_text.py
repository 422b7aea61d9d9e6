"""The text that a candidate is shown by: of its entity, at a level of detail, up to a cap."""

from __future__ import annotations

from quire.core.sentences import cut_text
from quire.core.signatures import shorten_signature
from quire.core.types import OUTLINE, SIGNATURE, Candidate, Entity, RenderSpec, category_of
from quire.rendering.cut_code import mark_cut, shorten_comment, whole_lines
from quire.rendering.escape import GAP
from quire.rendering.names import first_words, is_virtual
from quire.rendering.prose import is_prose


def entity_of(candidate: Candidate) -> Entity:
    """Return the entity that a candidate belongs to; if none is known, its whole record."""
    if candidate.entity is not None:
        return candidate.entity
    chunk = candidate.chunk
    kind = "file" if chunk.kind == "code" else chunk.kind
    name = chunk.path.rpartition("/")[2]
    if is_virtual(chunk.path):
        title = "" if candidate.record is None else candidate.record.title
        name = first_words(title or chunk.title or chunk.text)
        kind = kind.partition(".")[0] if kind.startswith("experience.") else kind
    return Entity(kind, name, name, 0, chunk.end, (1, chunk.lines[1]))


def truncate(text: str, cap: int) -> str:
    """Return the beginning of a text, at most so many characters of it; 0: all of it.

    It ends with a line or a sentence in the last third of what fits, else with a word.
    """
    return cut_text(text, cap) if cap else text


def first_line(candidate: Candidate) -> int:
    """Return the first line of what a candidate is shown as; 0 if its text has no lines."""
    return candidate.chunk.lines[0] if candidate.unit is None else candidate.unit.line


def full_text(candidate: Candidate, cap: int = 0) -> str:
    """Return the text of a candidate, or of the unit of code that it is shown as, uncut.

    A class or module that exceeds the cap is shown by the declarations of its members.
    """
    unit = candidate.unit
    if unit is None:
        return candidate.chunk.text
    return unit.outline if unit.outline and cap and len(unit.text) > cap else unit.text


def capped(text: str, cap: int) -> str:
    """Return the beginning of a text likewise, with a mark behind it if that is not all."""
    short = truncate(text, cap)
    return short if len(short) == len(text) else f"{short}\n{GAP}"


def holds_beginning(candidate: Candidate, entity: Entity) -> bool:
    """Tell whether a candidate's text contains the beginning of its entity."""
    return candidate.chunk.start <= entity.start < candidate.chunk.end


# --- by level of detail --------------------------------------------------------------------------


def markdown_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return the text inside the fence; the summary is rendered before it."""
    entity = entity_of(candidate)
    if level == OUTLINE:
        return ""
    if not _shows_text(candidate, spec):
        return entity.summary
    if level == SIGNATURE:
        return entity.signature
    return _capped_text(candidate, spec.cap)


def single_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return the one text that represents an entity: prose itself, code by what it says of itself.

    A summary describes the beginning of an entity: a chunk from further down is shown itself. The
    summary of prose is its first paragraph, which stands for it where the text is too long.
    """
    entity = entity_of(candidate)
    begins = holds_beginning(candidate, entity)
    if level == OUTLINE:
        return ""
    if level == SIGNATURE:
        if begins and is_prose(candidate):
            return entity.summary
        is_outlined = candidate.unit is not None and bool(candidate.unit.outline)
        is_described = is_outlined and begins and bool(entity.summary and entity.signature)
        return f"{entity.signature}\n{entity.summary}" if is_described else entity.signature
    if not _shows_text(candidate, spec):
        return truncate(entity.summary or entity.signature, spec.cap)
    summary = entity.summary if begins and not is_prose(candidate) else ""
    if candidate.unit is not None:
        described = (entity.signature, entity.summary)
        summary = "" if candidate.unit.outline or not all(described) else "\n".join(described)
    return truncate(summary, spec.cap) if summary else _capped_text(candidate, spec.cap)


def _capped_text(candidate: Candidate, cap: int) -> str:
    """Return the beginning of a candidate's text; code ends with a line, after its declaration.

    An experience is not capped: its lesson, the reason to show it, stands at its end.
    """
    if candidate.chunk.kind.startswith("experience"):
        return candidate.chunk.text
    text = full_text(candidate, cap)
    short = truncate(text, cap)
    if candidate.unit is None or len(short) == len(text):
        return short
    signature = entity_of(candidate).signature
    brief = shorten_comment(text, candidate.language, cap)
    if brief != text:
        short = whole_lines(brief, truncate(brief, cap), signature)
        return mark_cut(brief, short, candidate.language, " ")
    return whole_lines(text, short, signature) or shorten_signature(signature, cap)


def _shows_text(candidate: Candidate, spec: RenderSpec) -> bool:
    """Tell whether the text of an entity is shown.

    A recipe may leave out what code contains. What is no code and has no summary has nothing else.
    """
    return spec.content or (category_of(candidate) != "code" and not entity_of(candidate).summary)
