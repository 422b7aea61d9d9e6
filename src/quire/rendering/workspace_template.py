"""The template format: blocks of a workspace under the titles of their sections.

The page is put together from parts, never by replacing words in a template, so that no text can be
read as a placeholder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quire.core.types import BLOCK_PREFIX, Candidate, Frame, Passage, Piece, RenderSpec
from quire.core.types.blocks import PAGES
from quire.rendering.escape import (
    GAP,
    NO_CONTENT,
    escape_author,
    escape_block,
    escape_line,
    escape_message,
    escape_name,
    escape_paragraph,
    escape_place,
    escape_title,
    fence,
)
from quire.rendering.page import section_name

CONVERSATION = "Conversation"
INSTRUCTIONS = "Instructions"
CODE, HEADING, ROW = "code", "heading", "db_row"
PATH = " > "
"""Separates a page from a heading on it."""
BLANK = "\n\n"
UNTITLED = "(untitled)"
"""Stands above blocks whose page has no title, or one that the viewer may not read."""
FOCUS = "(focus)"
"""Marks what the user is viewing."""
MAX_TITLE = 300
"""Longer titles are cut, and stand below in full, where they can be cut to the budget."""
MAX_SIGNAL = 1000
"""The structural signal of the focus: it has no distance from itself."""
OVERDUE = "overdue"
"""The signal of a task that is past its due date."""


def render_template(passages: Sequence[Passage], spec: RenderSpec, frame: Frame) -> str:
    """Render passages under the titles of their sections, then the conversation and the query."""
    parts = [f"## {escape_line(spec.title)}"] if spec.title else []
    parts += [
        f"> **Missing**: {escape_paragraph(escape_line(warning))}" for warning in frame.warnings
    ]
    if frame.system:
        parts.append(f"### {INSTRUCTIONS}\n{escape_block(frame.system)}")
    for section in frame.sections:
        own = [passage for passage in passages if section_name(passage) == section.name]
        parts.append(f"### {escape_line(section.title)}\n" + (_render_blocks(own) or NO_CONTENT))
    if frame.history:
        speakers = {speaker for speaker, _ in frame.history}
        messages = "\n\n".join(
            message_text(speaker, text, speakers) for speaker, text in frame.history
        )
        parts.append(f"### {CONVERSATION}\n{messages}")
    if frame.query:
        parts.append(f"---\n\nUser Query: {escape_block(frame.query)}")
    return "\n\n".join(parts)


def block_heading(piece: Piece) -> str:
    """Return the title above blocks: their page and heading, and their author if another."""
    candidate = piece.candidate
    chunk, kind = candidate.chunk, _block_type(candidate)
    if not kind:
        names = [escape_place(chunk.path, chunk.lines[0])]
    elif kind in PAGES:
        pages = candidate.crumbs[-1:] if kind == ROW else ()
        names = [escape_title(_shorten(name)) for name in (*pages, _title(candidate))]
    else:
        own = _title(candidate) if kind == HEADING else candidate.heading
        pages = candidate.crumbs[-1:]
        titles = (*pages, own if (own,) != pages else "")
        names = [escape_title(_shorten(title)) for title in titles if title]
    author = f" [by {escape_author(candidate.author)}]" if candidate.author else ""
    return f"#### {PATH.join(filter(None, names)) or UNTITLED}{author}\n"


def message_text(speaker: str, text: str, speakers: Iterable[str] = ()) -> str:
    """Return one message of a conversation between some speakers."""
    colons = [at for at, char in enumerate(speaker) if char == ":"]
    return f"{escape_name(speaker, extra=colons)}: {escape_message(text, speakers)}"


def _render_blocks(passages: Sequence[Passage]) -> str:
    """Render blocks under the titles of their pages, each title once."""
    titles: dict[str, list[str]] = {}
    for passage in passages:
        texts = titles.setdefault(block_heading(passage.first), [])
        text = _block_text(passage)
        if text:
            texts.append(text)
    return "\n\n".join(
        f"{title}{BLANK.join(texts)}".rstrip("\n") for title, texts in titles.items()
    )


def _block_text(passage: Passage) -> str:
    """Return what is shown of a block below its title, which a page and a heading are."""
    candidate = passage.first.candidate
    text = f"\n{GAP}\n".join(run.text.strip("\n") for run in passage.runs)
    if passage.runs[-1].is_cut_off:
        text += f"\n{GAP}"
    kind = _block_type(candidate)
    if kind == CODE:
        ticks = fence(text)
        return f"{ticks}\n{text}\n{ticks}"
    is_long = len(_title(candidate)) > MAX_TITLE
    if kind == HEADING and not is_long:
        return ""
    focus = candidate.signals.get("structural") == MAX_SIGNAL
    if kind in PAGES and not is_long:
        rest = text if text.startswith(GAP) else text.partition("\n")[2]
        text = f"{FOCUS}\n{rest}".strip("\n") if focus else rest
        focus = False
    late = " (overdue)" if OVERDUE in candidate.signals else ""
    return escape_block(text) + late + (f" {FOCUS}" if focus else "")


def _block_type(candidate: Candidate) -> str:
    """Return the type of a block; empty: it is a part of something else."""
    kind = candidate.chunk.kind
    return kind.removeprefix(BLOCK_PREFIX) if kind.startswith(BLOCK_PREFIX) else ""


def _shorten(title: str) -> str:
    return title if len(title) <= MAX_TITLE else f"{title[:MAX_TITLE].rstrip()} ..."


def _title(candidate: Candidate) -> str:
    return candidate.chunk.text.partition("\n")[0].strip()
