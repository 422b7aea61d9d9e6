"""How is a page said: things of several kinds, each as its kind is said, under titles?

A memory is said in other words than a commit. What is said of an item has a head and a tail, which
stay, and a body between them, which may be cut; then a note says where all of it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from quire.core.types import (
    BLOCK,
    Candidate,
    Entity,
    Frame,
    Passage,
    Record,
    RenderSpec,
    written_moment,
)
from quire.rendering.entities import capped, entity_of
from quire.rendering.escape import as_code, fence, one_line, paragraph

FILES_NAMED = 5
SHORT_SHA = 7
MORE = "..."
LONGEST_WARNING = 200
_COUNTS = re.compile(r"\{(?:items|sections|experiences)\}")
_LABEL = re.compile(r"(?m)^[ \t]*(?:\*\*(?=[A-Z]\w*\*\*)|>)")
"""What an item, or a warning, begins with."""
_MARK = re.compile(r"[*>]")

Cut = Callable[[str], str]
"""Gives the beginning of a text."""


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of one item."""

    head: str
    body: str
    tail: str = ""
    where: str = ""
    """Where all of it can be seen, if it is cut."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How things of a kind are said, and what is told of them beside."""

    words: Callable[[Candidate, Record, RenderSpec], Words]
    about: Callable[[Candidate, Record], dict[str, object]]


def page(passages: Sequence[Passage], spec: RenderSpec, frame: Frame) -> str:
    """Say items under the titles of their sections; what is empty is left out."""
    if not passages and not frame.warnings:
        return ""
    parts = [f"# {one_line(spec.title)}"] if spec.title else []
    parts += [f"> **Missing**: {warned(warning)}" for warning in frame.warnings]
    used = 0
    for section in frame.sections:
        items = [said(passage) for passage in passages if section_of(passage) == section.name]
        if items:
            used += 1
            parts += [f"## {one_line(section.title)}"] if section.title else []
            parts += items
    if spec.footer:
        parts.append(f"---\n*{_footer(passages, spec, used)}*")
    return "\n\n".join(parts)


def shown(candidate: Candidate, spec: RenderSpec, _level: str) -> str:
    """Give the words that stand for a candidate."""
    words = _words(candidate, spec)
    return words.head + words.body + words.tail


def shortened(candidate: Candidate, spec: RenderSpec) -> Callable[[Cut], str]:
    """Say how a candidate is worded with less of its body, and where all of it stands."""
    words = _words(candidate, spec)
    note = f"truncated, {words.where}" if words.where else "truncated"
    end = f"{MORE}{words.tail}\n\n*({note})*"
    return lambda cut: words.head + cut(words.body).rstrip(". ") + end


def about(candidate: Candidate) -> dict[str, object]:
    """Tell what a candidate's kind says of it."""
    record = _record(candidate)
    return _kind(record).about(candidate, record)


def warned(text: str) -> str:
    """Say what is missing in few words: the items need the room, and `failed` has all of it."""
    line = one_line(text)
    short = line if len(line) <= LONGEST_WARNING else capped(line, LONGEST_WARNING) + MORE
    return paragraph(short)


def _prose(text: str) -> str:
    """Write a text so that none of its lines looks like a part of the page: a title, an item."""
    return _LABEL.sub(lambda found: _MARK.sub(r"\\\g<0>", found[0]), paragraph(text.strip()))


def said(passage: Passage) -> str:
    """Say one item."""
    return "\n".join(run.text.strip("\n") for run in passage.runs)


def section_of(passage: Passage) -> str:
    """Name the section that an item stands in."""
    section = passage.first.candidate.section
    return "" if section is None else section.name


def _footer(passages: Sequence[Passage], spec: RenderSpec, used: int) -> str:
    lived = {
        passage.record_id
        for passage in passages
        if _record(passage.first.candidate).kind == "experience"
    }
    counts = {
        "{items}": _counted(len(passages), "item"),
        "{sections}": _counted(used, "source"),
        "{experiences}": _counted(len(lived), "past experience"),
    }
    return _COUNTS.sub(lambda found: counts[found[0]], one_line(spec.footer))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _words(candidate: Candidate, spec: RenderSpec) -> Words:
    record = _record(candidate)
    return _kind(record).words(candidate, record, spec)


def _kind(record: Record) -> Kind:
    """Look up how a record's kind is said; what stands after a point is told by the record."""
    return KINDS.get(record.kind.partition(".")[0], OTHER)


def _record(candidate: Candidate) -> Record:
    chunk = candidate.chunk
    return candidate.record or Record(chunk.record_id, chunk.kind, chunk.path)


# --- memories ------------------------------------------------------------------------------------


def _memory(candidate: Candidate, record: Record, _: RenderSpec) -> Words:
    category, importance = record.attrs.get("category", "fact"), _share(record, "importance")
    return Words(
        "**Memory**: ",
        _prose(candidate.chunk.text),
        f"\n*Category: {one_line(str(category))}, Importance: {importance}*",
        f"memory ID: {record.id}",
    )


def _of_memory(_: Candidate, record: Record) -> dict[str, object]:
    return {
        "id": record.id,
        "category": record.attrs.get("category"),
        "importance": _share(record, "importance"),
        "created_at": written_moment(record.modified),
    }


# --- code ----------------------------------------------------------------------------------------


def _code(candidate: Candidate, record: Record, spec: RenderSpec) -> Words:
    entity, line = entity_of(candidate), _line(candidate)
    told = "\n".join(part for part in (entity.signature, entity.summary) if part)
    # What a file says of itself, and even that it has functions, tells little of these.
    described = told and not spec.content and entity.parent is not None
    body = told if described else capped(candidate.chunk.text, spec.cap)
    around = fence(body)
    place = f"{one_line(record.path)}:{line}"
    return Words(
        f"**{entity.kind.capitalize()}** {as_code(entity.qualified)} in {as_code(place)}\n"
        f"{around}{candidate.language}\n",
        body.strip("\n"),
        f"\n{around}",
        f"see full at {place}",
    )


def _of_code(candidate: Candidate, record: Record) -> dict[str, object]:
    entity = entity_of(candidate)
    return {
        "file_path": record.path,
        "start_line": _line(candidate),
        "end_line": _lines(candidate, entity)[1],
        "language": candidate.language,
        "qualified_name": entity.qualified,
    }


def _line(candidate: Candidate) -> int:
    return _lines(candidate, entity_of(candidate))[0]


def _lines(candidate: Candidate, entity: Entity) -> tuple[int, int]:
    """Tell on which lines a unit of code stands; a file's piece stands where it was cut."""
    whole = candidate.entity is None or entity.parent is None
    return candidate.chunk.lines if whole else entity.lines


# --- experiences ---------------------------------------------------------------------------------

PARTS: Mapping[str, str] = {
    "goal": "Goal",
    "hypothesis": "Hypothesis",
    "action": "Action",
    "prediction": "Prediction",
    "outcome": "Outcome",
    "surprise": "Surprise",
    "root_cause": "Root cause",
    "lesson": "Lesson",
}
"""What is told of an experience, in this order. What was imported tells of no goal of ours."""
UNSTATED = "unstated"
"""The strategy of who states none."""
TOLD = tuple(part for part in PARTS if part != "root_cause")


def _experience(candidate: Candidate, record: Record, _: RenderSpec) -> Words:
    wanted = (candidate.section.show if candidate.section else ()) or TOLD
    said = {part: text for part in wanted if (text := _part(record, part))}
    labels = {**PARTS, "goal": "Incident"} if record.attrs.get("source") else PARTS
    lines = [
        f"- **{labels[part]}**: {_indented(text)}"
        for part, text in said.items()
        if not any(_stands_in(text, other) for at, other in said.items() if at != part)
    ]
    tried = [str(record.attrs.get(name, "")) for name in ("domain", "strategy")]
    named = " | ".join(one_line(name) for name in tried if name not in {"", UNSTATED})
    return Words(
        f"**Experience**: {named}\n",
        "\n".join(lines),
        where=f"full experience ID: {record.id}",
    )


def _part(record: Record, part: str) -> str:
    text = str(record.attrs.get(part, ""))
    if part == "outcome" and text and (result := record.attrs.get("result")):
        return f"{text} - {result}"
    return text


def _stands_in(text: str, other: str) -> bool:
    """Tell whether a longer part says it, too: what a post-mortem aims at is how it begins."""
    return len(text) < len(other) and text.strip().removesuffix("…").rstrip() in other


def _indented(text: str) -> str:
    return _prose(text).replace("\n", "\n  ")


def _of_experience(_: Candidate, record: Record) -> dict[str, object]:
    return {
        "id": record.id,
        "domain": record.attrs.get("domain"),
        "strategy": record.attrs.get("strategy"),
        "outcome_status": record.attrs.get("outcome"),
        "confidence_tier": record.attrs.get("tier"),
        "iteration_count": record.attrs.get("iterations"),
    }


# --- values --------------------------------------------------------------------------------------


def _value(candidate: Candidate, record: Record, _: RenderSpec) -> Words:
    axis, size = record.attrs.get("axis"), record.attrs.get("size")
    return Words(
        f"**Value** ({axis}, cluster size: {size}):\n",
        _prose(candidate.chunk.text),
        where=f"value ID: {record.id}",
    )


def _of_value(_: Candidate, record: Record) -> dict[str, object]:
    return {
        "id": record.id,
        "axis": record.attrs.get("axis"),
        "cluster_id": record.attrs.get("cluster_id"),
        "cluster_size": record.attrs.get("size"),
        "similarity_to_centroid": _share(record, "similarity"),
    }


# --- commits -------------------------------------------------------------------------------------


def _commit(candidate: Candidate, record: Record, _: RenderSpec) -> Words:
    sha = str(record.attrs.get("sha", ""))
    entity = entity_of(candidate)
    message = "\n".join(part for part in (record.title, entity.summary.strip("\n")) if part)
    files = ", ".join(one_line(path) for path in record.paths[:FILES_NAMED])
    more = f" and {len(record.paths) - FILES_NAMED} more" if record.paths[FILES_NAMED:] else ""
    return Words(
        f"**Commit** `{sha[:SHORT_SHA]}` by {one_line(record.author or 'unknown')} "
        f"on {_day(record)}\n",
        _prose(message),
        f"\n*Files: {files}{more}*" if files else "",
        f"see `git show {sha[:SHORT_SHA]}`",
    )


def _day(record: Record) -> str:
    return (written_moment(record.modified) or "an unknown day").partition("T")[0]


def _of_commit(_: Candidate, record: Record) -> dict[str, object]:
    return {
        "sha": record.attrs.get("sha"),
        "author": record.author,
        "timestamp": written_moment(record.modified),
        "files_changed": list(record.paths),
        "insertions": record.attrs.get("insertions"),
        "deletions": record.attrs.get("deletions"),
    }


# --- everything else -----------------------------------------------------------------------------


def _other(candidate: Candidate, record: Record, spec: RenderSpec) -> Words:
    line = candidate.chunk.lines[0]
    place = f"{one_line(record.path)}:{line}" if line else one_line(record.path)
    return Words(
        f"**{one_line(record.kind).capitalize()}** {as_code(place)}\n",
        _prose(capped(candidate.chunk.text, spec.cap)),
        where=f"see full at {place}",
    )


def _of_other(candidate: Candidate, record: Record) -> dict[str, object]:
    first, last = candidate.chunk.lines
    return {"id": record.id, "path": record.path, "start_line": first, "end_line": last}


def _block(candidate: Candidate, record: Record, spec: RenderSpec) -> Words:
    kind = record.kind.removeprefix(BLOCK).replace("_", " ").capitalize()
    page = f" on {as_code(candidate.crumbs[-1])}" if candidate.crumbs else ""
    return Words(
        f"**{one_line(kind)}**{page}\n",
        _prose(capped(candidate.chunk.text, spec.cap).strip()),
        where=f"block ID: {record.id}",
    )


def _of_block(candidate: Candidate, record: Record) -> dict[str, object]:
    return {
        "id": record.id,
        "type": record.kind.removeprefix(BLOCK),
        "page_title": candidate.crumbs[-1] if candidate.crumbs else None,
        "path": list(candidate.crumbs),
        "last_modified": written_moment(record.modified),
    }


def _share(record: Record, name: str) -> float:
    return int(record.attrs.get(name, 0)) / 1000


OTHER = Kind(_other, _of_other)
KINDS: Mapping[str, Kind] = {
    "memory": Kind(_memory, _of_memory),
    "code": Kind(_code, _of_code),
    "experience": Kind(_experience, _of_experience),
    "value": Kind(_value, _of_value),
    "commit": Kind(_commit, _of_commit),
    "block": Kind(_block, _of_block),
}
"""A kind of item is one row."""
