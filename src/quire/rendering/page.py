"""The page format: items of several kinds, each rendered in its own way, under titles.

A memory is rendered differently from a commit (`rendering/items.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from quire.core import stored_json
from quire.core.types import (
    DATA_NOTICE,
    SIGNATURE,
    Candidate,
    Frame,
    Passage,
    Piece,
    RenderSpec,
    Run,
)
from quire.rendering.code_item import join_cut_parts
from quire.rendering.context_item import context_text
from quire.rendering.cut_code import find_declaration, mark_cut, shorten_comment, whole_lines
from quire.rendering.entity_text import truncate
from quire.rendering.escape import (
    escape_cut,
    escape_line,
    escape_paragraph,
    fence,
)
from quire.rendering.fenced import NOTEBOOK
from quire.rendering.items import (
    CODE,
    DOCUMENT,
    ItemText,
    document_item,
    further_block,
    further_head,
    kind_of,
    parts_item,
    record_of,
)

CONTEXTS = "contexts"
"""The section of contexts that apply, in recipes that have one."""
ELLIPSIS = "..."
MAX_WARNING_LENGTH = 200
_COUNTS = re.compile(r"\{(?:items|sections|experiences)\}")
_FIELD = re.compile(r"\n(?=- \*\*)")
"""Where a field of an experience begins: the other lines of one are indented."""

_NO_CAP = RenderSpec()

Cut = Callable[[str], str]
"""Returns the beginning of a text."""
CutCode = Callable[[str, tuple[int, int]], str]
"""Returns a part of code, of which it is told where the declaration begins and ends."""


def render_page(passages: Sequence[Passage], spec: RenderSpec, frame: Frame) -> str:
    """Render items under the titles of their sections; empty sections are left out."""
    if not passages and not frame.warnings:
        return ""
    parts = [f"# {escape_line(spec.title)}"] if spec.title else []
    parts += [f"> **Missing**: {warning_text(warning)}" for warning in frame.warnings]
    used = 0
    quoted = False
    for section in frame.sections:
        items = _items([each for each in passages if section_name(each) == section.name])
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


def _items(passages: Sequence[Passage]) -> list[str]:
    """Return the items of a section; the file of blocks that stand together is named once."""
    items = [passage_text(passage) for passage in passages]
    own = [passage.first.candidate for passage in passages]
    for at in range(len(own) - 1, 0, -1):
        items[at] = further_block(items[at], own[at], own[at - 1])
    return items


def item_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return the text of a candidate at a level of detail: of code and contexts there are some."""
    if candidate.context is not None:
        return context_text(candidate.context, level)
    if level == SIGNATURE:
        spec = replace(spec, content=False)
    text = _item_text(candidate, spec)
    return text.head + _framed(text, text.body) + text.tail


def shortener(candidate: Candidate, spec: RenderSpec) -> Callable[[Cut], str]:
    """Return a function that renders a candidate with a cut body and says where to find it."""
    text = _item_text(candidate, spec)
    note = f"truncated, {text.source}" if text.source else "truncated"
    end = f"{text.tail}\n\n*({note})*"

    whole = text.to_cut or text.body
    if text.entity is not None:
        whole = shorten_comment(whole, text.language)

    def shorten(cut: Cut) -> str:
        body = cut(whole).rstrip(". ")
        between = "\n" if body and whole.startswith(f"{body}\n") else ""
        if text.escape is not None:
            body = escape_cut(body, whole, text.escape)
            if between and text.to_cut:
                body = _in_order(body, text.body)
            body += between
        elif text.entity is not None:
            body = whole_lines(whole, body, text.entity.signature)
            return (
                (text.cut_head or text.head)
                + _framed(text, mark_cut(whole, body, text.language))
                + end
            )
        else:
            body += between
        return text.head + _framed(text, body + ELLIPSIS) + end

    return shorten


def excerpt(candidate: Candidate, spec: RenderSpec) -> Callable[[CutCode], str]:
    """Return a function that renders a candidate by a part of its code, which marks its gaps."""
    text = _item_text(candidate, spec)
    signature = "" if text.entity is None else text.entity.signature

    def render(cut: CutCode) -> str:
        body = cut(text.body, find_declaration(text.body, signature))
        return (text.cut_head or text.head) + _framed(text, body) + text.tail

    return render


def _in_order(fields: str, body: str) -> str:
    """Return the fields that a cut kept in the order in which the whole body has them."""
    kept = set(_FIELD.split(fields))
    return "\n".join(field for field in _FIELD.split(body) if field in kept)


def _framed(text: ItemText, body: str) -> str:
    """Return the body of an item, or what a cut made of it, in its fence if it has one."""
    if text.escape is not None:
        return body
    ticks = max(fence(text.body), fence(body), key=len)
    return f"{ticks}{text.language}\n{body}\n{ticks}"


def warning_text(text: str) -> str:
    """Return a warning in few words: the items need the room, and `failed` holds all of it."""
    line = escape_line(text)
    short = (
        line if len(line) <= MAX_WARNING_LENGTH else truncate(line, MAX_WARNING_LENGTH) + ELLIPSIS
    )
    return escape_paragraph(short)


def passage_text(passage: Passage) -> str:
    """Return the text of one item; a document or a definition is named once for all its pieces."""
    kind = passage.first.candidate.chunk.kind
    if len(passage.runs) == 1 or kind not in {CODE, DOCUMENT}:
        return "\n".join(run.text.strip("\n") for run in passage.runs)
    if kind == CODE:
        return _definition_text(passage.runs)
    texts: list[str] = []
    for runs in _adjacent(passage.runs):
        candidate = runs[0].pieces[0].candidate
        head = document_item(candidate, record_of(candidate), _NO_CAP).head
        text = runs[0].text.strip("\n") if len(runs) == 1 else _joined(runs)
        texts.append(further_head(candidate) + text.removeprefix(head) if texts else text)
    return "\n\n".join(texts)


def _definition_text(runs: Sequence[Run]) -> str:
    """Return the parts of one definition as one item, with its declaration once."""
    pieces = [piece for run in runs for piece in run.pieces]
    text = parts_item([piece.candidate for piece in pieces])
    if text is not None and all(piece.is_full for piece in pieces):
        return text.head + _framed(text, text.body)
    fenced = [found for run in runs if (found := _split_fence(run.text)) is not None]
    if text is None or len(fenced) < len(runs):
        return "\n\n".join(run.text.strip("\n") for run in runs)
    body = join_cut_parts([code for code, _ in fenced], [run.pieces[0].candidate for run in runs])
    notes = [note for _, note in fenced if note]
    return "\n\n".join([text.head + _framed(text, body), *dict.fromkeys(notes)])


def _split_fence(text: str) -> tuple[str, str] | None:
    """Return what stands in the first fence of an item, and behind it; None if it has none."""
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if line.startswith("```")), len(lines))
    fence = "".join(lines[start : start + 1])
    fence = fence[: len(fence) - len(fence.lstrip("`"))]
    if fence not in lines[start + 1 :]:
        return None
    end = lines.index(fence, start + 1)
    return "\n".join(lines[start + 1 : end]), "\n".join(lines[end + 1 :]).strip("\n")


def _adjacent(runs: Sequence[Run]) -> list[list[Run]]:
    """Group the pieces of a document that follow each other in it and are shown in full."""
    groups: list[list[Run]] = []
    for run in runs:
        if groups and _continues(groups[-1][-1].pieces[-1], run.pieces[0]):
            groups[-1].append(run)
        else:
            groups.append([run])
    return groups


def _continues(before: Piece, piece: Piece) -> bool:
    """Tell whether a piece is the text behind another one; the cells of a notebook stand alone."""
    return (
        before.candidate.chunk.end == piece.candidate.chunk.start
        and before.is_full
        and piece.is_full
        and record_of(piece.candidate).attrs.get("language") != NOTEBOOK
    )


def _joined(runs: Sequence[Run]) -> str:
    """Return pieces that follow each other as one, as they are in their file."""
    first = runs[0].pieces[0].candidate
    record = record_of(first)
    body = "".join(piece.candidate.chunk.text for run in runs for piece in run.pieces).strip("\n")
    language = str(record.attrs.get("language", ""))
    text = replace(document_item(first, record, _NO_CAP), body=body, language=language)
    return text.head + _framed(text, body)


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
    records = [record_of(passage.first.candidate) for passage in passages]
    paths = {record.path for record in records if record.kind == "experience"}
    values = [record for record in records if record.kind == "value"]
    paths.update(path for record in values for path in record.paths)
    return max([len(paths), *(stored_json.number(record, "size") for record in values)])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _item_text(candidate: Candidate, spec: RenderSpec) -> ItemText:
    record = record_of(candidate)
    return kind_of(record).text(candidate, record, spec)
