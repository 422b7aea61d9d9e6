"""The document formats: texts under `[DOC: path]` markers, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from quire.core.serialize import escape_json
from quire.core.types import FULL, SIGNATURE, Candidate, Frame, Passage, Piece, RenderSpec, Run
from quire.core.types.records import LINE
from quire.rendering.code_item import code_lines, code_text
from quire.rendering.enclosing import name_enclosing
from quire.rendering.entity_text import entity_of, truncate
from quire.rendering.escape import GAP, escape_line, escape_markers, gap_mark, restore_marks
from quire.rendering.names import imported_from, shown_name
from quire.rendering.stale import describe_state


def render_markers(passages: Sequence[Passage], spec: RenderSpec, _: Frame) -> str:
    """Render each document under a `[DOC: path]` line, with a blank line between documents."""
    return "\n".join(
        marker_heading(passage.first, passage.stale) + _passage_text(passage, spec)
        for passage in passages
    )


def marker_heading(piece: Piece, stale: str = "") -> str:
    """Return the line that names a piece's document: one line, whatever the name contains."""
    state = f" ({describe_state(stale)})" if stale else ""
    return f"[DOC: {shown_name(piece.candidate)}{state}]\n"


def render_json(passages: Sequence[Passage], spec: RenderSpec, _: Frame) -> str:
    """Render documents as JSON: the path, and the lines and text of each run.

    A run of which a part is left out has `"truncated": true`; one that shows a definition of code
    has its name and kind, where the recipe shows definitions.
    """
    documents = [
        {
            **_place(passage),
            **({"stale": passage.stale} if passage.stale else {}),
            "runs": [
                _definition(run)
                | {"lines": list(_lines(run)), "text": run.text}
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


def _place(passage: Passage) -> dict[str, object]:
    """Return the path of a passage; of an imported block that of its file, with its line."""
    record = passage.first.candidate.record
    file = imported_from(record, with_line=False)
    if record is None or not file:
        return {"path": passage.path}
    line = record.attrs.get(LINE)
    return {"path": file, "line": line} if line else {"path": file}


def document_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return a candidate's text; of code where definitions are shown, the lines of one.

    At a lower level these are the lines of its declaration. Of what is no code there is no less: a
    heading and the beginning of a section are not what was found.
    """
    if candidate.unit is not None and level in {FULL, SIGNATURE}:
        shown = replace(spec, content=level == FULL)
        return code_text(candidate, shown).strip("\n") + "\n"
    return truncate(candidate.chunk.text, spec.cap) if level == FULL else ""


def _definition(run: Run) -> dict[str, object]:
    """Return the name and kind of the definition that a run shows, and whether all of it."""
    piece = run.pieces[0]
    if piece.candidate.unit is None:
        return {}
    entity = entity_of(piece.candidate)
    level = {} if piece.is_full else {"level": piece.level}
    return {"name": entity.qualified, "kind": entity.kind, **level}


def _lines(run: Run) -> tuple[int, int]:
    """Return the lines of a run; of a definition its own, not those of the chunk around it."""
    candidate = run.pieces[0].candidate
    return run.lines if candidate.unit is None else code_lines(candidate)


def _passage_text(passage: Passage, spec: RenderSpec) -> str:
    """Join the runs of a document; a gap is marked with the line where the next one begins.

    Code that stands in another definition than what is above it says in which.
    """
    texts = [_run_text(passage.runs[0], spec)]
    for before, run in pairwise(passage.runs):
        if not spec.metadata:  # which says the lines of each run, and what they stand in
            above, below = before.pieces[-1].candidate.chunk, run.pieces[0].candidate.chunk
            texts.append(f"{gap_mark(run.lines[0], name_enclosing(below, above))}\n")
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
