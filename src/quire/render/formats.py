"""How does each format say a context?

A format is one function from blocks to text and one row of `FORMATS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from quire.errors import InputError
from quire.values import Block, RenderSpec, Run

Format = Callable[[Sequence[Block], RenderSpec], str]

_LINE_BREAKING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def markers(blocks: Sequence[Block], spec: RenderSpec) -> str:
    """Say each document under a `[DOC: path]` line, a blank line before the next one."""
    return "\n".join(
        marker(block.path) + "".join(_said(run, spec) for run in block.runs) for block in blocks
    )


def marker(path: str) -> str:
    """Give the line that names a document: one line, whatever a file may be called."""
    told = _LINE_BREAKING.sub(lambda found: found[0].encode("unicode_escape").decode(), path)
    return f"[DOC: {told}]\n"


def as_json(blocks: Sequence[Block], spec: RenderSpec) -> str:
    """Say the documents as JSON: path, and for each run its lines and text."""
    documents = [
        {
            "path": block.path,
            "runs": [
                {"lines": list(run.lines), "text": run.text}
                | ({"title": _title(run), "score": _score(run)} if spec.metadata else {})
                for run in block.runs
            ],
        }
        for block in blocks
    ]
    return json.dumps({"documents": documents}, ensure_ascii=False, separators=(",", ":"))


FORMATS: dict[str, Format] = {"markers": markers, "json": as_json}


def render(blocks: Sequence[Block], spec: RenderSpec) -> str:
    """Say blocks in the format that was asked for."""
    if spec.format not in FORMATS:
        raise InputError(f"{spec.format!r} is no format; there are {', '.join(sorted(FORMATS))}")
    return FORMATS[spec.format](blocks, spec)


def _said(run: Run, spec: RenderSpec) -> str:
    # A run ends in one line end, whatever its source ended in.
    text = run.text.strip("\n") + "\n"
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
