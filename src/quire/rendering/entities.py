"""How is an entity said: in markdown, in xml, in plain text?

Each entity has a heading (its name and where it stands), what it says of itself, and its text.
Whatever a text holds (back-ticks, angle brackets, quotes), the format around it stays whole: fences
grow, what xml does not allow is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from quire.core.graphemes import last_cut
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
from quire.rendering.escape import fence, one_line, paragraph

TITLES = {
    "code": "Relevant Code",
    "documentation": "Related Documentation",
    "conversation": "Previous Conversations",
    "other": "Other Context",
}
NO_FILE = (".git/", ".quire/")
"""Where that is kept which stands in no file of the project's."""
NAME_LENGTH = 60
TRUNCATED = "// ... (truncated)"
GAP = "..."
_BEGINNINGS = frozenset(" `~#<=>+*-|")
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def entity_of(candidate: Candidate) -> Entity:
    """Give the entity that a candidate is a part of; where none is known, its whole record."""
    if candidate.entity is not None:
        return candidate.entity
    chunk = candidate.chunk
    kind = "file" if chunk.kind == "code" else chunk.kind
    name = chunk.path.rpartition("/")[2]
    if chunk.path.startswith(NO_FILE):
        words = " ".join((chunk.title or chunk.text).split())
        name = words if len(words) <= NAME_LENGTH else words[: NAME_LENGTH - 1].rstrip() + "…"
    return Entity(kind, name, name, 0, chunk.end, (1, chunk.lines[1]))


def capped(text: str, cap: int) -> str:
    """Give the beginning of a text, at most so many characters of it; 0: all of it."""
    if not cap or len(text) <= cap:
        return text
    return text[: last_cut(text, cap)]


def holds_beginning(candidate: Candidate, entity: Entity) -> bool:
    """Tell whether a candidate's text holds where its entity begins."""
    return candidate.chunk.start <= entity.start < candidate.chunk.end


# --- what is said of an entity, by level ---------------------------------------------------------


def shown_in_markdown(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Give what stands in the fence; its own words about itself stand before it."""
    entity = entity_of(candidate)
    if level == OUTLINE:
        return ""
    if not spec.content:
        return entity.summary
    return entity.signature if level == SIGNATURE else capped(candidate.chunk.text, spec.cap)


def shown_alone(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Give the one text that stands for an entity: its own words, or else a piece of it.

    What was found further down in it is not what its first words tell: then that is shown.
    """
    entity = entity_of(candidate)
    if level == OUTLINE:
        return ""
    if level == SIGNATURE:
        return "" if entity.summary else entity.signature
    told = entity.summary if holds_beginning(candidate, entity) or not spec.content else ""
    if not spec.content:
        return capped(told or entity.signature, spec.cap)
    return capped(told or candidate.chunk.text, spec.cap)


# --- markdown ------------------------------------------------------------------------------------


def markdown(passages: Sequence[Passage], spec: RenderSpec, _: Frame) -> str:
    """Say entities under headings, their code in fences that name the language."""
    sections = [
        "\n\n".join(
            [
                *([f"## {title}"] if title else []),
                *(_in_markdown(passage, spec) for passage in group),
            ]
        )
        for title, group in _grouped(passages, spec)
    ]
    footer = [f"- {_begun(name)} ({place})" for name, _, place in _sources(passages, spec)]
    whole = "\n\n---\n\n".join(sections)
    return "\n\n".join([whole, "\n".join(["---", "**Sources:**", *footer])]) if footer else whole


def _in_markdown(passage: Passage, spec: RenderSpec) -> str:
    piece = passage.first
    entity = entity_of(piece.candidate)
    lines = [f"### {one_line(entity.qualified)}", f"*{_begun(_place(passage))}*", ""]
    bare = piece.level == SIGNATURE and not (entity.summary or piece.text)
    if piece.level == OUTLINE or bare:
        return "\n".join(lines[:2])
    if entity.summary:
        lines.append(paragraph(entity.summary))
    text = _text(passage)
    if spec.content and text:
        around = fence(text)
        lines += ["", around + piece.candidate.language, text.rstrip("\n")]
        if _is_shortened(passage):
            lines.append(TRUNCATED)
        lines.append(around)
    return "\n".join(lines)


def _begun(name: str) -> str:
    """Write a name that begins a line so that it begins no list or fence."""
    return f"\\{name}" if name[:1] in _BEGINNINGS else name


# --- xml -----------------------------------------------------------------------------------------


def xml(passages: Sequence[Passage], spec: RenderSpec, _: Frame) -> str:
    """Say entities as elements under one root, in closed sections."""
    lines = ["<context>"]
    for title, group in _grouped(passages, spec):
        if title:
            lines.append(f"<section name={_attribute(title)}>")
        lines += [_in_xml(passage) for passage in group]
        if title:
            lines.append("</section>")
    sources = [
        f"  <source name={_attribute(name)} type={_attribute(kind)} />"
        for name, kind, _ in _sources(passages, spec)
    ]
    if sources:
        lines += ["<sources>", *sources, "</sources>"]
    return "\n".join([*lines, "</context>"])


def _in_xml(passage: Passage) -> str:
    entity = entity_of(passage.first.candidate)
    line = passage.runs[0].lines[0]
    attributes = [f"name={_attribute(entity.qualified)}", f"type={_attribute(entity.kind)}"]
    if not _is_elsewhere(passage):
        attributes.append(f"file={_attribute(passage.path)}")
        if line:
            attributes.append(f'line="{line}"')
    start = f"<entity {' '.join(attributes)}"
    text = _text(passage)
    if not text:
        return f"{start} />"
    return f"{start}>\n{_escaped(text)}\n</entity>"


def _attribute(text: str) -> str:
    from xml.sax.saxutils import quoteattr  # late: it loads a web client

    return quoteattr(_allowed(text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _escaped(text: str) -> str:
    from xml.sax.saxutils import escape  # late: it loads a web client

    return escape(_allowed(text), {"\r": "&#13;"})


def _allowed(text: str) -> str:
    """Write out what no xml may hold."""
    return _NOT_IN_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


# --- plain ---------------------------------------------------------------------------------------


def plain(passages: Sequence[Passage], spec: RenderSpec, _: Frame) -> str:
    """Say entities as their name, where they stand, and one text each."""
    sections = [
        "\n\n".join(
            [*([f"=== {title} ==="] if title else []), *(_in_plain(passage) for passage in group)]
        )
        for title, group in _grouped(passages, spec)
    ]
    whole = "\n\n---\n\n".join(sections)
    footer = [f"  - {name}" for name, _, _ in _sources(passages, spec)]
    return "\n\n".join([whole, "\n".join(["Sources:", *footer])]) if footer else whole


def _in_plain(passage: Passage) -> str:
    entity = entity_of(passage.first.candidate)
    place = entity.kind if _is_elsewhere(passage) else f"{one_line(passage.path)}:{_line(passage)}"
    text = _text(passage).rstrip("\n")
    head = f"{one_line(entity.qualified)} [{place}]"
    return f"{head}\n{text}" if text else head


# --- what all of them share ----------------------------------------------------------------------


def _grouped(passages: Sequence[Passage], spec: RenderSpec) -> list[tuple[str, list[Passage]]]:
    if not spec.groups:
        return [("", list(passages))] if passages else []
    by_category = groupby(passages, key=lambda passage: category_of(passage.first.candidate))
    return [(TITLES[name], list(group)) for name, group in by_category]


def _sources(passages: Sequence[Passage], spec: RenderSpec) -> list[tuple[str, str, str]]:
    """Name the first few entities: name, kind, place."""
    found = []
    for passage in passages[: spec.sources]:
        entity = entity_of(passage.first.candidate)
        found.append((one_line(entity.qualified), entity.kind, _place(passage)))
    return found


def _place(passage: Passage) -> str:
    if _is_elsewhere(passage):
        return entity_of(passage.first.candidate).kind
    line = _line(passage)
    return f"{one_line(passage.path)}:{line}" if line else one_line(passage.path)


def _line(passage: Passage) -> int:
    return passage.runs[0].lines[0]


def _is_elsewhere(passage: Passage) -> bool:
    """Tell whether it stands in no file: a commit, a memory."""
    return passage.path.startswith(NO_FILE) or not passage.path


def _text(passage: Passage) -> str:
    """Join what is shown of an entity; what lies between two stretches is marked as left out."""
    return f"\n{GAP}\n".join(run.text.strip("\n") for run in passage.runs)


def _is_shortened(passage: Passage) -> bool:
    """Tell whether the last text shown goes on."""
    piece = passage.runs[-1].pieces[-1]
    return not piece.described and len(piece.text) < len(piece.candidate.chunk.text)
