"""The template format: blocks of a workspace under the titles of their sections.

The page is put together from parts, never by replacing words in a template, so that no text can be
read as a placeholder.
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.core.types import BLOCK_PREFIX, Frame, Passage, Piece, RenderSpec
from quire.rendering.escape import escape_line, escape_paragraph, fence
from quire.rendering.page import section_name

NO_CONTENT = "_No relevant content found._"
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
        parts.append(f"### {INSTRUCTIONS}\n{escape_paragraph(frame.system)}")
    for section in frame.sections:
        items = [
            _block_text(passage) for passage in passages if section_name(passage) == section.name
        ]
        parts.append(f"### {escape_line(section.title)}\n" + ("\n\n".join(items) or NO_CONTENT))
    if frame.history:
        messages = "\n\n".join(message_text(speaker, text) for speaker, text in frame.history)
        parts.append(f"### {CONVERSATION}\n{messages}")
    if frame.query:
        parts.append(f"---\n\nUser Query: {escape_paragraph(frame.query)}")
    return "\n\n".join(parts)


def block_heading(piece: Piece) -> str:
    """Return the line above a block: its page and its type."""
    candidate = piece.candidate
    crumbs = [*candidate.crumbs[-1:]]
    kind = candidate.chunk.kind.removeprefix(BLOCK_PREFIX)
    if not candidate.chunk.kind.startswith(BLOCK_PREFIX):
        first = candidate.chunk.lines[0]
        place = candidate.chunk.path + (f":{first}" if first else "")
        return f"[{escape_line(place)}] [{escape_line(kind)}]\n"
    overdue = ", overdue" if OVERDUE in candidate.signals else ""
    return (
        "".join(f"[{escape_line(crumb)}] " for crumb in crumbs)
        + f"[{escape_line(kind)}{overdue}]\n"
    )


def message_text(speaker: str, text: str) -> str:
    """Return one message of a conversation."""
    return f"{escape_line(speaker)}: {escape_paragraph(text)}"


def _block_text(passage: Passage) -> str:
    kind = passage.first.candidate.chunk.kind.removeprefix(BLOCK_PREFIX)
    text = "\n".join(run.text.strip("\n") for run in passage.runs)
    if kind == CODE:
        ticks = fence(text)
        return f"{block_heading(passage.first)}{ticks}\n{text}\n{ticks}"
    return block_heading(passage.first) + escape_paragraph(text)
