"""How is what does not fit told in fewer words?

A recipe that cuts by `summarize` is packed once to see what must be cut, and to how much. A writer
is asked for all of it at once, and it is packed again with what was written. The receipt keeps the
summaries, so that a replay asks nobody; without a writer, sentences are chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from quire.core.protocols import TextWriter
from quire.core.types import SUMMARY, Failure, WriteResult, WriteTask
from quire.pipeline import measure
from quire.pipeline.draft import Draft
from quire.pipeline.retrieve import Retrieved

WRITER = "writer"
NO_WRITER = (
    "`summarize` needs a language model ([writer] in quire.toml): sentences were chosen instead"
)


def summarized(
    gathered: Retrieved, draft: Draft, open_writer: Callable[[], TextWriter | None]
) -> Retrieved:
    """Add summaries of what a draft had to cut; without any, say why."""
    wanted = measure.cut_short(draft)
    if not wanted:
        return gathered
    writer = open_writer()
    if writer is None:
        return replace(gathered, notes=(*gathered.notes, NO_WRITER))
    orders = [
        WriteTask(SUMMARY, (text,), draft.request.query, room) for text, room in wanted.items()
    ]
    made = {
        text: _shorter(text, wording)
        for text, wording in zip(wanted, writer.write(orders), strict=True)
    }
    failed = {Failure(WRITER, wording.reason) for wording in made.values() if not wording.text}
    failed |= {*gathered.failed}
    return replace(
        gathered,
        # In the order in which a replay will tell them.
        failed=tuple(sorted(failed, key=lambda one: (one.source, one.reason))),
        writer=writer.name,
        summaries={
            measure.named(text): wording.text for text, wording in made.items() if wording.text
        },
    )


def _shorter(text: str, wording: WriteResult) -> WriteResult:
    """Refuse a summary that saves nothing."""
    if len(measure.MARK) + len(wording.text) < len(text):
        return wording
    return WriteResult("", "a summary is not shorter than what it is of")
