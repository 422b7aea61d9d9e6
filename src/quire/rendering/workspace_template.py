"""The template format: blocks of a workspace under the titles of their sections.

The page is put together from parts, never by replacing words in a template, so that no text can be
read as a placeholder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quire.core.types import BLOCK_PREFIX, Frame, Passage, Piece, RenderSpec
from quire.rendering.escape import (
    NO_CONTENT,
    escape_author,
    escape_block,
    escape_line,
    escape_message,
    escape_name,
    escape_paragraph,
    escape_place,
    fence,
)
from quire.rendering.page import section_name

CONVERSATION = "Conversation"
INSTRUCTIONS = "Instructions"
CODE = "code"
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
        items = [
            _block_text(passage) for passage in passages if section_name(passage) == section.name
        ]
        parts.append(f"### {escape_line(section.title)}\n" + ("\n\n".join(items) or NO_CONTENT))
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
    """Return the line above a block: its page and its type, and its author if that is another."""
    candidate = piece.candidate
    kind = escape_line(candidate.chunk.kind.removeprefix(BLOCK_PREFIX))
    place = [escape_name(crumb, "[]") for crumb in candidate.crumbs[-1:]]
    if not candidate.chunk.kind.startswith(BLOCK_PREFIX):
        place = [escape_place(candidate.chunk.path, candidate.chunk.lines[0], "[]")]
    elif OVERDUE in candidate.signals:
        kind += ", overdue"
    if candidate.author:
        kind += f", by {escape_author(candidate.author)}"
    return "".join(f"[{name}] " for name in place) + f"[{kind}]\n"


def message_text(speaker: str, text: str, speakers: Iterable[str] = ()) -> str:
    """Return one message of a conversation between some speakers."""
    colons = [at for at, char in enumerate(speaker) if char == ":"]
    return f"{escape_name(speaker, extra=colons)}: {escape_message(text, speakers)}"


def _block_text(passage: Passage) -> str:
    kind = passage.first.candidate.chunk.kind.removeprefix(BLOCK_PREFIX)
    text = "\n".join(run.text.strip("\n") for run in passage.runs)
    if kind == CODE:
        ticks = fence(text)
        return f"{block_heading(passage.first)}{ticks}\n{text}\n{ticks}"
    return block_heading(passage.first) + escape_block(text)
