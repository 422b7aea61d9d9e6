"""The document formats: texts under `[DOC: path]` markers, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from quire.core.serialize import escape_json
from quire.core.types import FULL, SIGNATURE, Candidate, Frame, Passage, Piece, RenderSpec, Run
from quire.rendering.entities import entity_of, truncate
from quire.rendering.escape import GAP, escape_line, escape_markers, gap_mark, restore_marks
from quire.rendering.names import shown_name


def render_markers(passages: Sequence[Passage], spec: RenderSpec, _: Frame) -> str:
    """Render each document under a `[DOC: path]` line, with a blank line between documents."""
    return "\n".join(
        marker_heading(passage.first) + _passage_text(passage, spec) for passage in passages
    )


def marker_heading(piece: Piece) -> str:
    """Return the line that names a piece's document: one line, whatever the name contains."""
    return f"[DOC: {shown_name(piece.candidate)}]\n"


def render_json(passages: Sequence[Passage], spec: RenderSpec, _: Frame) -> str:
    """Render documents as JSON: the path, and the lines and text of each run.

    A run of which a part is left out has `"truncated": true`.
    """
    documents = [
        {
            "path": passage.path,
            "runs": [
                {"lines": list(run.lines), "text": run.text}
                | ({"truncated": True} if run.is_cut_off or run.pieces[-1].is_extract else {})
                | ({"title": _title(run), "score": _score(run)} if spec.metadata else {})
                for run in passage.runs
            ],
        }
        for passage in passages
    ]
    return escape_json(
        json.dumps({"documents": documents}, ensure_ascii=False, separators=(",", ":"))
    )


def document_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return a candidate's text, or at a lower level its signature and summary."""
    if level == FULL:
        return truncate(candidate.chunk.text, spec.cap)
    entity = entity_of(candidate)
    name = entity.signature or entity.qualified
    lines = [name, entity.summary] if level == SIGNATURE and entity.summary else [name]
    return "\n".join(lines) + "\n"


def _passage_text(passage: Passage, spec: RenderSpec) -> str:
    """Join the runs of a document; a gap is marked with the line where the next one begins."""
    first, *others = passage.runs
    texts = [_run_text(first, spec)]
    for run in others:
        if not spec.metadata:  # which says the lines of each run
            texts.append(f"{gap_mark(run.lines[0])}\n")
        texts.append(_run_text(run, spec))
    return "".join(texts)


def _run_text(run: Run, spec: RenderSpec) -> str:
    # A run ends in one line end, however its source ends.
    text = escape_markers(run.text.strip("\n"), metadata=spec.metadata) + "\n"
    if run.pieces[-1].is_extract:
        text = restore_marks(text)
    if run.is_cut_off:
        text += f"{GAP}\n"
    if not spec.metadata:
        return text
    first, last = run.lines
    lines = f"lines {first}-{last}, " if first else ""
    title = f", {escape_line(_title(run))}" if _title(run) else ""
    return f"({lines}score {_score(run)}{title})\n{text}"


def _title(run: Run) -> str:
    return run.pieces[0].candidate.chunk.title


def _score(run: Run) -> int:
    return max(piece.candidate.score for piece in run.pieces)
