"""How is a context said?

A format is one function from passages to text, and one that tells which words stand for a candidate
at a level of detail. What is counted and hashed is what such a function returns, to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quire.core.types import FULL, SIGNATURE, Candidate, Frame, Passage, Piece, RenderSpec, Run
from quire.errors import InputError
from quire.rendering import entities, page, situation, workspace_template
from quire.rendering.entities import entity_of
from quire.rendering.escape import one_line, unmarked

Say = Callable[[Sequence[Passage], RenderSpec, Frame], str]
Show = Callable[[Candidate, RenderSpec, str], str]
Shorten = Callable[[Candidate, RenderSpec], Callable[[page.Cut], str]]
NO_FRAME = Frame()


def markers(passages: Sequence[Passage], spec: RenderSpec, _: Frame = NO_FRAME) -> str:
    """Say each document under a `[DOC: path]` line, a blank line before the next one."""
    return "\n".join(
        marker(passage.path) + "".join(_said(run, spec) for run in passage.runs)
        for passage in passages
    )


def marker(path: str) -> str:
    """Give the line that names a document: one line, whatever a file may be called."""
    return f"[DOC: {one_line(path)}]\n"


def as_json(passages: Sequence[Passage], spec: RenderSpec, _: Frame = NO_FRAME) -> str:
    """Say the documents as JSON: path, and for each run its lines and text."""
    documents = [
        {
            "path": passage.path,
            "runs": [
                {"lines": list(run.lines), "text": run.text}
                | ({"title": _title(run), "score": _score(run)} if spec.metadata else {})
                for run in passage.runs
            ],
        }
        for passage in passages
    ]
    return json.dumps({"documents": documents}, ensure_ascii=False, separators=(",", ":"))


def shown_as_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Give a candidate's text, or how its entity is declared and what it says of itself."""
    if level == FULL:
        return entities.capped(candidate.chunk.text, spec.cap)
    entity = entity_of(candidate)
    named = entity.signature or entity.qualified
    told = [named, entity.summary] if level == SIGNATURE and entity.summary else [named]
    return "\n".join(told) + "\n"


@dataclass(frozen=True, slots=True)
class Format:
    """A way of saying a context, and the words that it has for a candidate."""

    say: Say
    show: Show = shown_as_text
    entities: bool = False
    """It names the entities that pieces are a part of."""
    empty: str | None = ""
    """What is said where there is nothing to say; None: it knows itself."""
    shorten: Shorten | None = None
    """Cuts what it says of a candidate, for those that say each in words of its own."""
    paged: bool = False
    """It says pieces under the titles of sections."""
    head: Callable[[Piece], str] | None = None
    """Gives what is said once for the group of a piece; None: it is seen by saying it."""


FORMATS: dict[str, Format] = {
    "markers": Format(markers, head=lambda piece: marker(piece.candidate.chunk.path)),
    "json": Format(as_json, empty='{"documents":[]}'),
    "markdown": Format(entities.markdown, entities.shown_in_markdown, entities=True),
    "xml": Format(entities.xml, entities.shown_alone, entities=True, empty="<context>\n</context>"),
    "plain": Format(entities.plain, entities.shown_alone, entities=True),
    "page": Format(
        page.page,
        page.shown,
        entities=True,
        empty=None,
        shorten=page.shortened,
        paged=True,
        head=lambda _: "",
    ),
    "situation": Format(
        situation.situation,
        situation.shown,
        entities=True,
        empty=None,
        shorten=situation.shortened,
        paged=True,
        head=lambda _: "",
    ),
    "template": Format(
        workspace_template.template, empty=None, paged=True, head=workspace_template.head
    ),
}


def render(passages: Sequence[Passage], spec: RenderSpec, frame: Frame = NO_FRAME) -> str:
    """Say passages in the format that was asked for."""
    chosen = format_of(spec)
    if not passages and chosen.empty is not None:
        return chosen.empty
    return chosen.say(passages, spec, frame)


def shown(candidate: Candidate, spec: RenderSpec, level: str = FULL) -> str:
    """Give the words that stand for a candidate at a level of detail, headings aside."""
    return format_of(spec).show(candidate, spec, level)


def heading(piece: Piece, spec: RenderSpec) -> str:
    """Give what is said once for the group of a piece, beside its texts."""
    head = format_of(spec).head
    if head is not None:
        return head(piece)
    chunk = piece.candidate.chunk
    bare = Piece(piece.candidate, 0, "", level=piece.level)
    run = Run((bare,), "", chunk.lines)
    plain = RenderSpec(spec.format, metadata=spec.metadata, content=spec.content)
    return render([Passage(chunk.record_id, chunk.path, (run,))], plain)


def format_of(spec: RenderSpec) -> Format:
    """Look a format up by its name."""
    if spec.format not in FORMATS:
        raise InputError(f"{spec.format!r} is no format; there are {', '.join(sorted(FORMATS))}")
    return FORMATS[spec.format]


def _said(run: Run, spec: RenderSpec) -> str:
    # A run ends in one line end, whatever its source ended in.
    text = unmarked(run.text.strip("\n")) + "\n"
    if not spec.metadata:
        return text
    first, last = run.lines
    place = f"lines {first}-{last}, " if first else ""
    title = f", {_title(run)}" if _title(run) else ""
    return f"({place}score {_score(run)}{title})\n{text}"


def _title(run: Run) -> str:
    return run.pieces[0].candidate.chunk.title


def _score(run: Run) -> int:
    return max(piece.candidate.score for piece in run.pieces)
