"""The entity formats: functions, classes and sections as Markdown, XML or plain text.

Each entity has a heading (its name and place), its summary and its text. Whatever a text contains
(back-ticks, angle brackets, quotes), the format around it stays intact: fences grow, lines that
could pass for a heading are escaped, and so are characters that XML does not allow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from quire.core.graphemes import last_boundary
from quire.core.serialize import HIDDEN
from quire.core.types import (
    OUTLINE,
    SIGNATURE,
    Candidate,
    Entity,
    Frame,
    Passage,
    RenderSpec,
    Run,
    category_of,
)
from quire.rendering.escape import (
    GAP,
    TRUNCATED,
    escape_gaps,
    escape_line,
    escape_place,
    escape_plain,
    escape_prose,
    escape_start,
    escape_summary,
    fence,
    gap_mark,
    restore_marks,
)
from quire.rendering.names import first_words, is_virtual

TITLES = {
    "code": "Relevant Code",
    "documentation": "Related Documentation",
    "conversation": "Previous Conversations",
    "other": "Other Context",
}
_WORD_END = re.compile(r"(?<=\S)\s")
SUMMARY_WORDS = 8
"""A text that has so many words of a summary, the first ones, is taken to hold it."""
_WORD = re.compile(r"\w+")
_HIDDEN = re.compile(f"[{HIDDEN}]")
_INVALID_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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

    It ends with a line in the last third of what fits, else with a word, else with a character.
    """
    if not cap or len(text) <= cap:
        return text
    near = cap - cap // 3
    end = text.rfind("\n", near, cap + 1)
    if end < 0:
        end = max((match.start() for match in _WORD_END.finditer(text, near, cap + 1)), default=-1)
    return text[: last_boundary(text, cap) if end < 0 else end].rstrip()


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


# --- the text of an entity, by level -------------------------------------------------------------


def markdown_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return the text inside the fence; the summary is rendered before it."""
    entity = entity_of(candidate)
    if level == OUTLINE:
        return ""
    if not _shows_text(candidate, spec):
        return entity.summary
    if level == SIGNATURE:
        return entity.signature
    return truncate(full_text(candidate, spec.cap), spec.cap)


def single_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return the one text that represents an entity: its summary, or else a piece of it.

    A summary describes the beginning of an entity: a chunk from further down is shown itself.
    """
    entity = entity_of(candidate)
    if level == OUTLINE:
        return ""
    if level == SIGNATURE:
        return "" if entity.summary else entity.signature
    shows_text = _shows_text(candidate, spec)
    summary = entity.summary if holds_beginning(candidate, entity) or not shows_text else ""
    if not shows_text:
        return truncate(summary or entity.signature, spec.cap)
    if candidate.unit is not None:
        described = (entity.signature, entity.summary)
        summary = "" if candidate.unit.outline or not all(described) else "\n".join(described)
    return truncate(summary or full_text(candidate, spec.cap), spec.cap)


def _shows_text(candidate: Candidate, spec: RenderSpec) -> bool:
    """Tell whether the text of an entity is shown.

    A recipe may leave out what code contains. What is no code and has no summary has nothing else.
    """
    return spec.content or (category_of(candidate) != "code" and not entity_of(candidate).summary)


# --- markdown ------------------------------------------------------------------------------------


def render_markdown(passages: Sequence[Passage], spec: RenderSpec, _: Frame) -> str:
    """Render entities under headings, their code in fences that name the language."""
    sections = [
        "\n\n".join(
            [
                *([f"## {title}"] if title else []),
                *(_markdown_entity(passage, spec) for passage in group),
            ]
        )
        for title, group in _by_category(passages, spec)
    ]
    footer = [
        f"- {escape_start(escape_line(entity.qualified))} ({_place(passage, '()')})"
        for entity, passage in _sources(passages, spec)
    ]
    whole = "\n\n---\n\n".join(sections)
    return "\n\n".join([whole, "\n".join(["---", "**Sources:**", *footer])]) if footer else whole


def _markdown_entity(passage: Passage, spec: RenderSpec) -> str:
    piece = passage.first
    entity = entity_of(piece.candidate)
    parts = [f"### {escape_line(entity.qualified)}\n*{escape_start(_place(passage))}*"]
    if piece.level == OUTLINE:
        return parts[0]
    text = _text(passage, escape_gaps)
    if entity.summary and not (spec.content and _says(text, entity.summary)):
        parts.append(escape_summary(entity.summary))
    if not spec.content and not entity.summary and text:
        parts.append(escape_prose(text))
    elif spec.content and text:
        ticks = fence(text)
        cut = [TRUNCATED] if passage.runs[-1].is_cut_off else []
        fenced = [f"{ticks}{piece.candidate.language}", text.rstrip("\n"), *cut, ticks]
        parts.append("\n".join(fenced))
    return "\n\n".join(parts)


def _says(text: str, summary: str) -> bool:
    """Tell whether a text has the first words of a summary."""
    words = _WORD.findall(summary)[:SUMMARY_WORDS]
    return bool(words) and f" {' '.join(words)} " in f" {' '.join(_WORD.findall(text))} "


# --- xml -----------------------------------------------------------------------------------------


def render_xml(passages: Sequence[Passage], spec: RenderSpec, _: Frame) -> str:
    """Render entities as elements under one root, grouped in sections."""
    lines = ["<context>"]
    for title, group in _by_category(passages, spec):
        if title:
            lines.append(f"<section name={_attribute(title)}>")
        lines += [_xml_entity(passage) for passage in group]
        if title:
            lines.append("</section>")
    sources = [
        f"  <source name={_attribute(escape_line(entity.qualified))}"
        f" type={_attribute(entity.kind)} />"
        for entity, _ in _sources(passages, spec)
    ]
    if sources:
        lines += ["<sources>", *sources, "</sources>"]
    return "\n".join([*lines, "</context>"])


def _xml_entity(passage: Passage) -> str:
    entity = entity_of(passage.first.candidate)
    line = _line(passage)
    attributes = [f"name={_attribute(entity.qualified)}", f"type={_attribute(entity.kind)}"]
    if not _is_virtual(passage):
        attributes.append(f"file={_attribute(passage.path)}")
        if line:
            attributes.append(f'line="{line}"')
    start = f"<entity {' '.join(attributes)}"
    text = _marked_text(passage, lambda text: escape_gaps(_escape_invalid(text)))
    if not text:
        return f"{start} />"
    return f"{start}>\n{_escape_xml(text)}\n</entity>"


def _attribute(text: str) -> str:
    from xml.sax.saxutils import quoteattr  # nosec B406  # writes XML; late: it loads a web client

    return _HIDDEN.sub(lambda match: f"&#{ord(match[0])};", quoteattr(_escape_invalid(text)))


def _escape_xml(text: str) -> str:
    from xml.sax.saxutils import escape  # nosec B406  # writes XML; late: it loads a web client

    return escape(_escape_invalid(text), {"\r": "&#13;"})


def _escape_invalid(text: str) -> str:
    """Escape the characters that XML cannot contain."""
    return _INVALID_IN_XML.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


# --- plain ---------------------------------------------------------------------------------------


def render_plain(passages: Sequence[Passage], spec: RenderSpec, _: Frame) -> str:
    """Render entities as their name, their place and one text each."""
    sections = [
        "\n\n".join(
            [
                *([f"=== {title} ==="] if title else []),
                *(_plain_entity(passage) for passage in group),
            ]
        )
        for title, group in _by_category(passages, spec)
    ]
    whole = "\n\n---\n\n".join(sections)
    footer = [f"  - {escape_line(entity.qualified)}" for entity, _ in _sources(passages, spec)]
    return "\n\n".join([whole, "\n".join(["Sources:", *footer])]) if footer else whole


def _plain_entity(passage: Passage) -> str:
    entity = entity_of(passage.first.candidate)
    place = entity.kind
    if not _is_virtual(passage):
        place = f"{escape_place(passage.path, 0, '[]')}:{_line(passage)}"
    text = _marked_text(passage, escape_plain).rstrip("\n")
    head = f"{escape_line(entity.qualified)} [{place}]"
    return f"{head}\n{text}" if text else head


# --- shared by all formats -----------------------------------------------------------------------


def _by_category(passages: Sequence[Passage], spec: RenderSpec) -> list[tuple[str, list[Passage]]]:
    if not spec.groups:
        return [("", list(passages))] if passages else []
    by_category = groupby(passages, key=lambda passage: category_of(passage.first.candidate))
    return [(TITLES[name], list(group)) for name, group in by_category]


def _sources(passages: Sequence[Passage], spec: RenderSpec) -> list[tuple[Entity, Passage]]:
    """Return the first few entities, each with its passage."""
    return [(entity_of(passage.first.candidate), passage) for passage in passages[: spec.sources]]


def _place(passage: Passage, brackets: str = "") -> str:
    if _is_virtual(passage):
        return entity_of(passage.first.candidate).kind
    return escape_place(passage.path, _line(passage), brackets)


def _line(passage: Passage) -> int:
    return first_line(passage.first.candidate)


def _is_virtual(passage: Passage) -> bool:
    """Tell whether a passage is not from a file of the project: a commit, a memory."""
    return is_virtual(passage.path) or not passage.path


def _text(passage: Passage, escape: Callable[[str], str]) -> str:
    """Join the runs of an entity, with a mark where text between them is left out."""
    escaped = ((run, escape(run.text.strip("\n"))) for run in passage.runs)
    first, *others = (
        restore_marks(text) if run.pieces[-1].is_extract else text for run, text in escaped
    )
    marks = (gap_mark(run.lines[0]) for run in passage.runs[1:])
    return "\n".join([first, *(line for pair in zip(marks, others, strict=True) for line in pair)])


def _marked_text(passage: Passage, escape: Callable[[str], str]) -> str:
    """Return the text of an entity, with a mark at its end if it is cut off."""
    text = _text(passage, escape)
    return f"{text}\n{GAP}" if _is_cut_off(passage.runs[-1]) else text


def _is_cut_off(run: Run) -> bool:
    """Tell whether a run ends before its text does, or before the summary that stands for it."""
    entity = entity_of(run.pieces[-1].candidate)
    wholes = (entity.summary, f"{entity.signature}\n{entity.summary}")
    if not run.text or run.text in wholes:
        return False
    return run.is_cut_off or any(whole.startswith(run.text) for whole in wholes)
