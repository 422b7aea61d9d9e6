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
    category_of,
)
from quire.rendering.escape import (
    GAP,
    TRUNCATED,
    escape_gaps,
    escape_line,
    escape_place,
    escape_plain,
    escape_start,
    escape_summary,
    fence,
)
from quire.rendering.names import first_words, is_virtual

TITLES = {
    "code": "Relevant Code",
    "documentation": "Related Documentation",
    "conversation": "Previous Conversations",
    "other": "Other Context",
}
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
        name = first_words(chunk.title or chunk.text)
    return Entity(kind, name, name, 0, chunk.end, (1, chunk.lines[1]))


def truncate(text: str, cap: int) -> str:
    """Return the beginning of a text, at most so many characters of it; 0: all of it."""
    if not cap or len(text) <= cap:
        return text
    return text[: last_boundary(text, cap)]


def holds_beginning(candidate: Candidate, entity: Entity) -> bool:
    """Tell whether a candidate's text contains the beginning of its entity."""
    return candidate.chunk.start <= entity.start < candidate.chunk.end


# --- the text of an entity, by level -------------------------------------------------------------


def markdown_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return the text inside the fence; the summary is rendered before it."""
    entity = entity_of(candidate)
    if level == OUTLINE:
        return ""
    if not spec.content:
        return entity.summary
    return entity.signature if level == SIGNATURE else truncate(candidate.chunk.text, spec.cap)


def single_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return the one text that represents an entity: its summary, or else a piece of it.

    A summary describes the beginning of an entity: a chunk from further down is shown itself.
    """
    entity = entity_of(candidate)
    if level == OUTLINE:
        return ""
    if level == SIGNATURE:
        return "" if entity.summary else entity.signature
    summary = entity.summary if holds_beginning(candidate, entity) or not spec.content else ""
    if not spec.content:
        return truncate(summary or entity.signature, spec.cap)
    return truncate(summary or candidate.chunk.text, spec.cap)


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
    lines = [f"### {escape_line(entity.qualified)}", f"*{escape_start(_place(passage))}*", ""]
    bare = piece.level == SIGNATURE and not (entity.summary or piece.text)
    if piece.level == OUTLINE or bare:
        return "\n".join(lines[:2])
    if entity.summary:
        lines.append(escape_summary(entity.summary))
    text = _text(passage, escape_gaps)
    if spec.content and text:
        ticks = fence(text)
        lines += ["", ticks + piece.candidate.language, text.rstrip("\n")]
        if _is_shortened(passage):
            lines.append(TRUNCATED)
        lines.append(ticks)
    return "\n".join(lines)


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
    line = passage.runs[0].lines[0]
    attributes = [f"name={_attribute(entity.qualified)}", f"type={_attribute(entity.kind)}"]
    if not _is_virtual(passage):
        attributes.append(f"file={_attribute(passage.path)}")
        if line:
            attributes.append(f'line="{line}"')
    start = f"<entity {' '.join(attributes)}"
    text = _text(passage, lambda text: escape_gaps(_escape_invalid(text)))
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
    text = _text(passage, escape_plain).rstrip("\n")
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
    return passage.runs[0].lines[0]


def _is_virtual(passage: Passage) -> bool:
    """Tell whether a passage is not from a file of the project: a commit, a memory."""
    return is_virtual(passage.path) or not passage.path


def _text(passage: Passage, escape: Callable[[str], str]) -> str:
    """Join the runs of an entity, with a mark where text between them is left out."""
    return f"\n{GAP}\n".join(escape(run.text.strip("\n")) for run in passage.runs)


def _is_shortened(passage: Passage) -> bool:
    """Tell whether the last text is cut off."""
    piece = passage.runs[-1].pieces[-1]
    return not piece.is_described and len(piece.text) < len(piece.candidate.chunk.text)
