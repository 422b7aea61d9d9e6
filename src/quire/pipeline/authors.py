"""Who wrote what: the authors that a page names, and what a request leaves out."""

from __future__ import annotations

from collections.abc import Iterable

from quire.core.protocols import View
from quire.core.types import Chunk

STATED_KINDS = ("memory", "experience", "block")
"""Kinds of records that users state; the author of a file or a commit is a part of its text."""


def find_authors(view: View, chunks: Iterable[Chunk]) -> dict[str, str]:
    """Return the authors, by record, of what other users than the viewer and the owner wrote."""
    stated = {chunk.record_id for chunk in chunks if chunk.kind.partition(".")[0] in STATED_KINDS}
    return {
        record.id: record.author
        for record in view.records(sorted(stated))
        if record.author and record.author != view.viewer.name
    }
