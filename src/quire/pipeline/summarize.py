"""Summaries of texts that do not fit.

A recipe with `cut = "summarize"` is packed once to see what must be cut, and to how many tokens. A
writer summarizes all of it at once, and the context is packed again with the summaries. The receipt
records them, so that a replay needs no writer. Without a writer, sentences are extracted instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from quire.core.protocols import TextWriter
from quire.core.types import SUMMARY, Failure, WriteResult, WriteTask
from quire.pipeline.cuts import SUMMARY_MARK, summary_key, texts_to_summarize
from quire.pipeline.draft import Draft
from quire.pipeline.retrieve import Retrieved

WRITER = "writer"
NO_WRITER = (
    "`summarize` needs a language model ([writer] in quire.toml): sentences were chosen instead"
)


def add_summaries(
    retrieved: Retrieved, draft: Draft, open_writer: Callable[[], TextWriter | None]
) -> Retrieved:
    """Add summaries of what a draft had to cut, or a note that there is no writer."""
    rooms = texts_to_summarize(draft)
    if not rooms:
        return retrieved
    writer = open_writer()
    if writer is None:
        return replace(retrieved, notes=(*retrieved.notes, NO_WRITER))
    tasks = [WriteTask(SUMMARY, (text,), draft.request.query, room) for text, room in rooms.items()]
    summaries = {
        text: _check_length(text, summary)
        for text, summary in zip(rooms, writer.write(tasks), strict=True)
    }
    failed = {Failure(WRITER, summary.reason) for summary in summaries.values() if not summary.text}
    failed |= {*retrieved.failed}
    return replace(
        retrieved,
        # In the order that a replay will have.
        failed=tuple(sorted(failed, key=lambda failure: (failure.source, failure.reason))),
        writer=writer.name,
        summaries={
            summary_key(text): summary.text for text, summary in summaries.items() if summary.text
        },
    )


def _check_length(text: str, summary: WriteResult) -> WriteResult:
    """Refuse a summary that saves nothing."""
    if len(SUMMARY_MARK) + len(summary.text) < len(text):
        return summary
    return WriteResult("", "a summary is not shorter than what it is of")
