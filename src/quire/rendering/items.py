"""The items of pages: how a memory, a definition, a commit is rendered, and its metadata.

The text of an item has a head and a tail, which stay, and a body between them, which may be cut; a
note then says where to find all of it. A kind of item is a row of `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from quire.core import stored_json
from quire.core.types import BLOCK_PREFIX, Candidate, Entity, Record, RenderSpec, format_time
from quire.core.types.blocks import PAGES
from quire.core.types.records import LINE
from quire.rendering.code_item import (
    code_label,
    code_lines,
    code_place,
    code_text,
    joined_parts,
    shown_entity,
)
from quire.rendering.entity_text import capped, entity_of
from quire.rendering.escape import (
    code_span,
    escape_author,
    escape_field,
    escape_item,
    escape_line,
    escape_name,
    escape_place,
)
from quire.rendering.fenced import code_language, without_fence
from quire.rendering.names import imported_from, minute_of

CODE, DOCUMENT = "code", "document"
MAX_FILES = 5
SHORT_SHA = 7
SHORT_ID = 8
"""So many digits of an id name a record wherever an id is asked for."""


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
    entity: Entity | None = None
    """The definition that the body shows, if it is code."""
    cut_head: str = ""
    """The head above a cut body, if it is another."""
    to_cut: str = ""
    """The body with what matters most first, for cuts that keep the beginning; empty: the body."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How items of a kind are rendered, and their metadata."""

    text: Callable[[Candidate, Record, RenderSpec], ItemText]
    metadata: Callable[[Candidate, Record], dict[str, object]]


def item_metadata(candidate: Candidate) -> dict[str, object]:
    """Return the metadata of a candidate, as its kind has it."""
    record = record_of(candidate)
    return kind_of(record).metadata(candidate, record)


def kind_of(record: Record) -> Kind:
    """Return the row of a record's kind; the part of a kind after a dot does not matter here."""
    return KINDS.get(record.kind.partition(".")[0], OTHER)


def record_of(candidate: Candidate) -> Record:
    """Return the record of a candidate, or what its chunk says of it."""
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
        f"\n*Category: {escape_line(str(category))}, Importance: {importance}{_times(record)}*"
        f"{_day(record)}",
        f"memory ID: {record.id[:SHORT_ID]}",
    )


def _day(record: Record) -> str:
    """Return the day of a memory: of two that contradict each other, the newer one counts."""
    at = format_time(record.modified)
    return "" if at is None else f" ({at.partition('T')[0]})"


def _times(record: Record) -> str:
    """Return how often a memory was said, and when last, if more than once."""
    count, last = record.attrs.get("count"), record.attrs.get("repeated")
    day = "" if last is None else (format_time(int(last)) or "").partition("T")[0]
    return "" if count is None else f", {count} times, last {day}"


def _memory_metadata(_: Candidate, record: Record) -> dict[str, object]:
    count, last = record.attrs.get("count"), record.attrs.get("repeated")
    repeated = {"count": count, "last_at": format_time(int(last or 0))} if count else {}
    return {
        "id": record.id,
        "category": record.attrs.get("category"),
        "importance": _share(record, "importance"),
        "created_at": format_time(record.modified),
        **repeated,
    }


# --- code ----------------------------------------------------------------------------------------


def _code(candidate: Candidate, _: Record, spec: RenderSpec) -> ItemText:
    return ItemText(
        f"{code_label(candidate, spec)}\n",
        code_text(candidate, spec).strip("\n"),
        source=f"see full at {code_place(candidate, spec)}",
        escape=None,
        language=candidate.language,
        entity=shown_entity(candidate),
        cut_head=f"{code_label(candidate, spec, cut=True)}\n",
    )


def parts_item(candidates: Sequence[Candidate]) -> ItemText | None:
    """Return the text of the parts of one definition; None: there are none."""
    if not candidates:
        return None
    first, last = candidates[0], candidates[-1]
    named = first
    if first.unit is not None and first.unit.lines[0]:
        end = min(last.chunk.lines[1], entity_of(first).lines[1])
        named = replace(first, unit=replace(first.unit, lines=(first.unit.lines[0], end)))
    return ItemText(
        f"{code_label(named, RenderSpec())}\n",
        joined_parts(candidates),
        escape=None,
        language=first.language,
    )


def _code_metadata(candidate: Candidate, record: Record) -> dict[str, object]:
    entity = entity_of(candidate)
    first, last = code_lines(candidate)
    return {
        "file_path": record.path,
        "start_line": first,
        "end_line": last,
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
    times = {"root_cause": f" ({candidate.recurs} times)"} if candidate.recurs else {}
    lines = {
        name: f"- **{labels[name]}**{times.get(name, '')}: {_indent(text, shown)}"
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
        source=f"full experience ID: {record.id[:SHORT_ID]}",
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
        source=f"value ID: {record.id[:SHORT_ID]}",
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
        f"on {minute_of(record) or 'an unknown day'}\n",
        escape_item(message),
        f"\n*Files: {files}{more}*" if files else "",
        f"see `git show {sha[:SHORT_SHA]}`",
    )


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


def document_item(candidate: Candidate, record: Record, spec: RenderSpec) -> ItemText:
    """Return the text of a piece of a document."""
    chunk = candidate.chunk
    place = escape_place(record.path, chunk.lines[0])
    title = f": {escape_line(chunk.title)}" if chunk.title else ""
    text, language = without_fence(chunk.text, str(record.attrs.get("language", "")))
    return ItemText(
        f"**Document** {code_span(place)}{title}\n",
        capped(text, spec.cap).strip("\n"),
        source=f"see full at {place}",
        escape=None,
        language=language,
    )


def further_head(candidate: Candidate) -> str:
    """Return what precedes a further piece of a document that is named above it."""
    chunk = candidate.chunk
    title = f": {escape_line(chunk.title)}" if chunk.title else ""
    return f"Line {chunk.lines[0]}{title}\n" if chunk.lines[0] else ""


def further_block(text: str, candidate: Candidate, before: Candidate) -> str:
    """Return the item of a block below another one of the same file, which is named above it."""
    own, other = candidate.record, before.record
    file = imported_from(own, with_line=False)
    if own is None or not file or imported_from(other, with_line=False) != file:
        return text
    if candidate.author != before.author:
        return text
    head, line = _block(candidate, own, RenderSpec()).head, own.attrs.get(LINE, 0)
    if not line or not text.startswith(head):
        return text
    under = _under(candidate) if candidate.heading != before.heading else ""
    return f"Line {line}{under}\n{text.removeprefix(head)}"


def _other_metadata(candidate: Candidate, record: Record) -> dict[str, object]:
    first, last = candidate.chunk.lines
    return {"id": record.id, "path": record.path, "start_line": first, "end_line": last}


def _block(candidate: Candidate, record: Record, spec: RenderSpec) -> ItemText:
    kind = record.kind.removeprefix(BLOCK_PREFIX)
    file = imported_from(record)
    if file:
        head = f"{code_span(escape_line(file))}{_by(candidate)}{_under(candidate)}\n"
    else:
        title = _page_title(candidate, kind)
        page = f" on {code_span(escape_line(title))}" if title else ""
        head = f"**{escape_line(kind.replace('_', ' ')).capitalize()}**{_by(candidate)}{page}\n"
    text, source = capped(candidate.chunk.text, spec.cap), f"block ID: {record.id}"
    if kind == CODE:
        text = text.strip("\n")
        return ItemText(head, text, source=source, escape=None, language=code_language(record))
    return ItemText(head, escape_item(text.strip()), source=source)


def _under(candidate: Candidate) -> str:
    """Name the heading that a block stands under, unless it is called as its page is."""
    heading = candidate.heading
    return f": {escape_line(heading)}" if heading and heading not in candidate.crumbs[-1:] else ""


def _page_title(candidate: Candidate, kind: str) -> str:
    """Return the title of the page that a block is on; a page says its own."""
    if candidate.crumbs:
        return candidate.crumbs[-1]
    return "" if kind in PAGES else candidate.chunk.title


def _block_metadata(candidate: Candidate, record: Record) -> dict[str, object]:
    return {
        "id": record.id,
        "type": record.kind.removeprefix(BLOCK_PREFIX),
        "page_title": _page_title(candidate, record.kind.removeprefix(BLOCK_PREFIX)) or None,
        "path": list(candidate.crumbs),
        "last_modified": format_time(record.modified),
    }


def _share(record: Record, name: str) -> float:
    return stored_json.number(record, name) / 1000


OTHER = Kind(_other, _other_metadata)
KINDS: Mapping[str, Kind] = {
    "memory": Kind(_memory, _memory_metadata),
    "code": Kind(_code, _code_metadata),
    "experience": Kind(_experience, _experience_metadata),
    "value": Kind(_value, _value_metadata),
    "commit": Kind(_commit, _commit_metadata),
    "block": Kind(_block, _block_metadata),
    DOCUMENT: Kind(document_item, _other_metadata),
}
"""A kind of item is one row: how it is rendered, and its metadata."""
