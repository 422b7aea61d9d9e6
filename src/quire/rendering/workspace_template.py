"""How is a workspace's context said: what is looked at, what is related, what happened lately?

A template is put together from parts, never by replacing words in it: whatever a text holds stays
as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.core.types import BLOCK, Frame, Passage, Piece, RenderSpec
from quire.rendering.escape import fence, one_line, paragraph
from quire.rendering.page import section_of

NOTHING = "_No relevant content found._"
CONVERSATION = "Conversation"
INSTRUCTIONS = "Instructions"
CODE = "code"
OVERDUE = "overdue"
"""The signal of what is late."""


def template(passages: Sequence[Passage], spec: RenderSpec, frame: Frame) -> str:
    """Say passages under the titles of their sections, then the question."""
    parts = [f"## {one_line(spec.title)}"] if spec.title else []
    parts += [f"> **Missing**: {paragraph(one_line(warning))}" for warning in frame.warnings]
    if frame.system:
        parts.append(f"### {INSTRUCTIONS}\n{paragraph(frame.system)}")
    for section in frame.sections:
        items = [_said(passage) for passage in passages if section_of(passage) == section.name]
        parts.append(f"### {one_line(section.title)}\n" + ("\n\n".join(items) or NOTHING))
    if frame.history:
        told = "\n\n".join(message(who, text) for who, text in frame.history)
        parts.append(f"### {CONVERSATION}\n{told}")
    if frame.query:
        parts.append(f"---\n\nUser Query: {paragraph(frame.query)}")
    return "\n\n".join(parts)


def head(piece: Piece) -> str:
    """Give the line above a block: the page that it stands on, and what it is."""
    candidate = piece.candidate
    crumbs = [*candidate.crumbs[-1:]]
    kind = candidate.chunk.kind.removeprefix(BLOCK)
    if not candidate.chunk.kind.startswith(BLOCK):
        first = candidate.chunk.lines[0]
        place = candidate.chunk.path + (f":{first}" if first else "")
        return f"[{one_line(place)}] [{one_line(kind)}]\n"
    late = ", overdue" if OVERDUE in candidate.signals else ""
    return "".join(f"[{one_line(crumb)}] " for crumb in crumbs) + f"[{one_line(kind)}{late}]\n"


def message(who: str, text: str) -> str:
    """Say one message of a conversation."""
    return f"{one_line(who)}: {paragraph(text)}"


def _said(passage: Passage) -> str:
    kind = passage.first.candidate.chunk.kind.removeprefix(BLOCK)
    text = "\n".join(run.text.strip("\n") for run in passage.runs)
    if kind == CODE:
        around = fence(text)
        return f"{head(passage.first)}{around}\n{text}\n{around}"
    return head(passage.first) + paragraph(text)
