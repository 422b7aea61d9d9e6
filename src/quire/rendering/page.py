"""The page format: items of several kinds, each rendered in its own way, under titles.

A memory is rendered differently from a commit. The text of an item has a head and a tail, which
stay, and a body between them, which may be cut; a note then says where to find all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from quire.core.types import (
    BLOCK_PREFIX,
    DATA_NOTICE,
    Candidate,
    Frame,
    Passage,
    Record,
    RenderSpec,
    format_time,
)
from quire.rendering.context_item import context_text
from quire.rendering.entities import capped, entity_of, first_line, full_text, truncate
from quire.rendering.escape import (
    code_span,
    escape_author,
    escape_cut,
    escape_field,
    escape_item,
    escape_line,
    escape_name,
    escape_paragraph,
    escape_place,
    fence,
)

CONTEXTS = "contexts"
"""The section of contexts that apply, in recipes that have one."""
MAX_FILES = 5
SHORT_SHA = 7
ELLIPSIS = "..."
MAX_WARNING_LENGTH = 200
_COUNTS = re.compile(r"\{(?:items|sections|experiences)\}")

Cut = Callable[[str], str]
"""Returns the beginning of a text."""


@dataclass(frozen=True, slots=True)
class ItemText:
    """The text of one item."""

    head: str
    body: str
    """The part that may be cut, escaped."""
    tail: str = ""
    source: str = ""
    """Where to find all of it, if it is cut."""
    escape: Callable[[str], str] | None = escape_item
    """Escapes a line of the body that a cut or a summary made; None: the body is in a fence."""
    language: str = ""
    """What the fence names."""
    to_cut: str = ""
    """The body with what matters most first, for cuts that keep the beginning; empty: the body."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How items of a kind are rendered, and their metadata."""

    text: Callable[[Candidate, Record, RenderSpec], ItemText]
    metadata: Callable[[Candidate, Record], dict[str, object]]


def render_page(passages: Sequence[Passage], spec: RenderSpec, frame: Frame) -> str:
    """Render items under the titles of their sections; empty sections are left out."""
    if not passages and not frame.warnings:
        return ""
    parts = [f"# {escape_line(spec.title)}"] if spec.title else []
    parts += [f"> **Missing**: {warning_text(warning)}" for warning in frame.warnings]
    used = 0
    quoted = False
    for section in frame.sections:
        items = [
            passage_text(passage) for passage in passages if section_name(passage) == section.name
        ]
        if items:
            used += 1
            if spec.notice and not quoted and section.name != CONTEXTS:
                quoted = True  # contexts, which come first, are the project's own instructions
                parts.append(DATA_NOTICE)
            parts += [f"## {escape_line(section.title)}"] if section.title else []
            parts += items
    if spec.footer:
        parts.append(f"---\n*{_footer(passages, spec, used)}*")
    return "\n\n".join(parts)


def item_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return the text of a candidate; of a context, at a level of detail."""
    if candidate.context is not None:
        return context_text(candidate.context, level)
    text = _item_text(candidate, spec)
    return text.head + _framed(text, text.body) + text.tail


def shortener(candidate: Candidate, spec: RenderSpec) -> Callable[[Cut], str]:
    """Return a function that renders a candidate with a cut body and says where to find it."""
    text = _item_text(candidate, spec)
    note = f"truncated, {text.source}" if text.source else "truncated"
    end = f"{text.tail}\n\n*({note})*"

    whole = text.to_cut or text.body

    def shorten(cut: Cut) -> str:
        body = cut(whole).rstrip(". ")
        if text.escape is not None:
            body = escape_cut(body, whole, text.escape)
        elif body and whole.startswith(f"{body}\n"):
            body += "\n"  # code is cut between lines
        return text.head + _framed(text, body + ELLIPSIS) + end

    return shorten


def _framed(text: ItemText, body: str) -> str:
    """Return the body of an item, or what a cut made of it, in its fence if it has one."""
    if text.escape is not None:
        return body
    ticks = max(fence(text.body), fence(body), key=len)
    return f"{ticks}{text.language}\n{body}\n{ticks}"


def item_metadata(candidate: Candidate) -> dict[str, object]:
    """Return the metadata of a candidate, as its kind has it."""
    record = _record(candidate)
    return _kind(record).metadata(candidate, record)


def warning_text(text: str) -> str:
    """Return a warning in few words: the items need the room, and `failed` holds all of it."""
    line = escape_line(text)
    short = (
        line if len(line) <= MAX_WARNING_LENGTH else truncate(line, MAX_WARNING_LENGTH) + ELLIPSIS
    )
    return escape_paragraph(short)


def passage_text(passage: Passage) -> str:
    """Return the text of one item."""
    return "\n".join(run.text.strip("\n") for run in passage.runs)


def section_name(passage: Passage) -> str:
    """Return the name of the section that an item belongs to."""
    section = passage.first.candidate.section
    return "" if section is None else section.name


def _footer(passages: Sequence[Passage], spec: RenderSpec, used: int) -> str:
    counts = {
        "{items}": _count(len(passages), "item"),
        "{sections}": _count(used, "source"),
        "{experiences}": _count(_count_experiences(passages), "past experience"),
    }
    return _COUNTS.sub(lambda match: counts[match[0]], escape_line(spec.footer))


def _count_experiences(passages: Sequence[Passage]) -> int:
    """Count the experiences behind a page: those on it, and those that its values come from.

    A value names the members that have no access list of their own, and how many there are in all:
    where it names fewer, they are counted as if they were among the others.
    """
    records = [_record(passage.first.candidate) for passage in passages]
    paths = {record.path for record in records if record.kind == "experience"}
    values = [record for record in records if record.kind == "value"]
    paths.update(path for record in values for path in record.paths)
    return max([len(paths), *(int(record.attrs.get("size", 0)) for record in values)])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _item_text(candidate: Candidate, spec: RenderSpec) -> ItemText:
    record = _record(candidate)
    return _kind(record).text(candidate, record, spec)


def _kind(record: Record) -> Kind:
    """Return the row of a record's kind; the part of a kind after a dot does not matter here."""
    return KINDS.get(record.kind.partition(".")[0], OTHER)


def _record(candidate: Candidate) -> Record:
    chunk = candidate.chunk
    return candidate.record or Record(chunk.record_id, chunk.kind, chunk.path)


def _by(candidate: Candidate) -> str:
    """Name the author of what another user than the viewer wrote."""
    return f" by {escape_author(candidate.author)}" if candidate.author else ""


# --- memories ------------------------------------------------------------------------------------


def _memory(candidate: Candidate, record: Record, _: RenderSpec) -> ItemText:
    category, importance = record.attrs.get("category", "fact"), _share(record, "importance")
    return ItemText(
        f"**Memory**{_by(candidate)}: ",
        escape_item(candidate.chunk.text),
        f"\n*Category: {escape_line(str(category))}, Importance: {importance}*",
        f"memory ID: {record.id}",
    )


def _memory_metadata(_: Candidate, record: Record) -> dict[str, object]:
    return {
        "id": record.id,
        "category": record.attrs.get("category"),
        "importance": _share(record, "importance"),
        "created_at": format_time(record.modified),
    }


# --- code ----------------------------------------------------------------------------------------


def _code(candidate: Candidate, record: Record, spec: RenderSpec) -> ItemText:
    entity = entity_of(candidate)
    place = f"{escape_place(record.path, 0)}:{first_line(candidate)}"
    name = code_span(escape_line(entity.qualified))
    return ItemText(
        f"**{entity.kind.capitalize()}** {name} in {code_span(place)}\n",
        _code_text(candidate, spec).strip("\n"),
        source=f"see full at {place}",
        escape=None,
        language=candidate.language,
    )


def _code_text(candidate: Candidate, spec: RenderSpec) -> str:
    """Return the declaration and docstring of a unit of code, or its text."""
    unit, entity = candidate.unit, entity_of(candidate)
    if spec.content or unit is None or entity.parent is None:
        return capped(full_text(candidate, spec.cap), spec.cap)
    if unit.outline:
        declaration, _, members = unit.outline.partition("\n")
        return "\n".join(filter(None, (declaration, entity.summary, members)))
    described = "\n".join(filter(None, (entity.signature, entity.summary)))
    return described or capped(unit.text, spec.cap)


def _code_metadata(candidate: Candidate, record: Record) -> dict[str, object]:
    entity = entity_of(candidate)
    is_part = candidate.entity is not None and entity.parent is not None
    return {
        "file_path": record.path,
        "start_line": first_line(candidate),
        "end_line": entity.lines[1] if is_part else candidate.chunk.lines[1],
        "language": candidate.language,
        "qualified_name": entity.qualified,
    }


# --- experiences ---------------------------------------------------------------------------------

EXPERIENCE_FIELDS: Mapping[str, str] = {
    "goal": "Goal",
    "hypothesis": "Hypothesis",
    "action": "Action",
    "prediction": "Prediction",
    "outcome": "Outcome",
    "surprise": "Surprise",
    "root_cause": "Root cause",
    "lesson": "Lesson",
}
"""The fields of an experience that can be shown, in this order, with their labels."""
UNSTATED = "unstated"
"""The strategy of an experience that states none."""
FIRST_FIELDS = ("goal", "outcome", "lesson")
"""What a cut keeps first: without its outcome, a hypothesis misleads."""
DEFAULT_FIELDS = tuple(name for name in EXPERIENCE_FIELDS if name != "root_cause")


def _experience(candidate: Candidate, record: Record, _: RenderSpec) -> ItemText:
    names = (candidate.section.show if candidate.section else ()) or DEFAULT_FIELDS
    texts = {name: text for name in names if (text := _experience_field(record, name)).strip()}
    labels = dict(EXPERIENCE_FIELDS)
    imported = bool(record.attrs.get("source"))
    if imported:  # a post-mortem has no goal of its own, and its fields are sentences of one text
        labels["goal"] = "Incident"
    shown = tuple(labels.values())
    lines = {
        name: f"- **{labels[name]}**: {_indent(text, shown)}"
        for name, text in texts.items()
        if not imported
        or not any(_is_part_of(text, other) for at, other in texts.items() if at != name)
    }
    first = [name for name in FIRST_FIELDS if name in lines]
    approach = [str(record.attrs.get(name, "")) for name in ("domain", "strategy")]
    title = " | ".join(escape_line(name) for name in approach if name not in {"", UNSTATED})
    return ItemText(
        f"**Experience**{_by(candidate)}: {title}\n",
        "\n".join(lines.values()),
        to_cut="\n".join(lines[name] for name in dict.fromkeys((*first, *lines))),
        source=f"full experience ID: {record.id}",
        escape=partial(escape_field, labels=shown),
    )


def _experience_field(record: Record, name: str) -> str:
    text = str(record.attrs.get(name, ""))
    if name == "outcome" and text and (result := record.attrs.get("result")):
        return f"{text} - {result}"
    return text


def _is_part_of(text: str, other: str) -> bool:
    """Tell whether a longer field contains a text: a post-mortem's goal is its beginning."""
    return len(text) < len(other) and text.strip().removesuffix("…").rstrip() in other


def _indent(text: str, labels: tuple[str, ...]) -> str:
    return escape_field(text, labels).replace("\n", "\n  ")


def _experience_metadata(_: Candidate, record: Record) -> dict[str, object]:
    return {
        "id": record.id,
        "domain": record.attrs.get("domain"),
        "strategy": record.attrs.get("strategy"),
        "outcome_status": record.attrs.get("outcome"),
        "confidence_tier": record.attrs.get("tier"),
        "iteration_count": record.attrs.get("iterations"),
    }


# --- values --------------------------------------------------------------------------------------


def _value(candidate: Candidate, record: Record, _: RenderSpec) -> ItemText:
    axis, size = record.attrs.get("axis"), record.attrs.get("size")
    return ItemText(
        f"**Value** ({escape_line(str(axis))}, cluster size: {size}):\n",
        escape_item(candidate.chunk.text),
        source=f"value ID: {record.id}",
    )


def _value_metadata(_: Candidate, record: Record) -> dict[str, object]:
    return {
        "id": record.id,
        "axis": record.attrs.get("axis"),
        "cluster_id": record.attrs.get("cluster_id"),
        "cluster_size": record.attrs.get("size"),
        "similarity_to_centroid": _share(record, "similarity"),
    }


# --- commits -------------------------------------------------------------------------------------


def _commit(candidate: Candidate, record: Record, _: RenderSpec) -> ItemText:
    sha = str(record.attrs.get("sha", ""))
    entity = entity_of(candidate)
    message = "\n".join(part for part in (record.title, entity.summary.strip("\n")) if part)
    files = ", ".join(escape_name(path) for path in record.paths[:MAX_FILES])
    more = f" and {len(record.paths) - MAX_FILES} more" if record.paths[MAX_FILES:] else ""
    return ItemText(
        f"**Commit** `{sha[:SHORT_SHA]}` by {escape_line(record.author or 'unknown')} "
        f"on {_moment(record)}\n",
        escape_item(message),
        f"\n*Files: {files}{more}*" if files else "",
        f"see `git show {sha[:SHORT_SHA]}`",
    )


def _moment(record: Record) -> str:
    """Return the day and the minute of a commit, in UTC."""
    at = format_time(record.modified)
    return "an unknown day" if at is None else at[: len("2020-05-12T14:03")].replace("T", " ")


def _commit_metadata(_: Candidate, record: Record) -> dict[str, object]:
    return {
        "sha": record.attrs.get("sha"),
        "author": record.author,
        "timestamp": format_time(record.modified),
        "files_changed": list(record.paths),
        "insertions": record.attrs.get("insertions"),
        "deletions": record.attrs.get("deletions"),
    }


# --- everything else -----------------------------------------------------------------------------


def _other(candidate: Candidate, record: Record, spec: RenderSpec) -> ItemText:
    place = escape_place(record.path, candidate.chunk.lines[0])
    return ItemText(
        f"**{escape_line(record.kind).capitalize()}** {code_span(place)}\n",
        escape_item(capped(candidate.chunk.text, spec.cap)),
        source=f"see full at {place}",
    )


def _other_metadata(candidate: Candidate, record: Record) -> dict[str, object]:
    first, last = candidate.chunk.lines
    return {"id": record.id, "path": record.path, "start_line": first, "end_line": last}


def _block(candidate: Candidate, record: Record, spec: RenderSpec) -> ItemText:
    kind = record.kind.removeprefix(BLOCK_PREFIX).replace("_", " ").capitalize()
    page = f" on {code_span(escape_line(candidate.crumbs[-1]))}" if candidate.crumbs else ""
    return ItemText(
        f"**{escape_line(kind)}**{_by(candidate)}{page}\n",
        escape_item(capped(candidate.chunk.text, spec.cap).strip()),
        source=f"block ID: {record.id}",
    )


def _block_metadata(candidate: Candidate, record: Record) -> dict[str, object]:
    return {
        "id": record.id,
        "type": record.kind.removeprefix(BLOCK_PREFIX),
        "page_title": candidate.crumbs[-1] if candidate.crumbs else None,
        "path": list(candidate.crumbs),
        "last_modified": format_time(record.modified),
    }


def _share(record: Record, name: str) -> float:
    return int(record.attrs.get(name, 0)) / 1000


OTHER = Kind(_other, _other_metadata)
KINDS: Mapping[str, Kind] = {
    "memory": Kind(_memory, _memory_metadata),
    "code": Kind(_code, _code_metadata),
    "experience": Kind(_experience, _experience_metadata),
    "value": Kind(_value, _value_metadata),
    "commit": Kind(_commit, _commit_metadata),
    "block": Kind(_block, _block_metadata),
}
"""A kind of item is one row: how it is rendered, and its metadata."""
