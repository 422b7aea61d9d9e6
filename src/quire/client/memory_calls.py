"""What a client sends for memories, experiences, principles and feedback.

Each function has the signature of the method of an open store, and returns a `Call`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quire.client.call import (
    Call,
    Receipt,
    ViewerLike,
    escape_id,
    list_of,
    post,
    read_as,
    read_written,
    receipt_member,
    send_lines,
    viewer_parameter,
)
from quire.core.deserialize import from_plain
from quire.core.types import (
    Experience,
    Feedback,
    ImportResult,
    Memory,
    Principle,
    Written,
)

# --- memories ------------------------------------------------------------------------------------


def list_memories(
    *,
    category: str | None = None,
    history: bool = False,
    shared_only: bool = False,
    viewer: ViewerLike = None,
) -> Call[list[Memory]]:
    """List the current memories, oldest first; with `history` also the superseded ones."""
    options = {"category": category, "history": history, "shared_only": shared_only}
    return list_of("/v1/memories", Memory, {**options, **viewer_parameter(viewer)})


def get_memory(memory_id: str, *, viewer: ViewerLike = None) -> Call[Memory]:
    """Return one memory by its id, or by an unambiguous beginning of it."""
    path = f"/v1/memories/{escape_id(memory_id)}"
    return Call("GET", path, read_as(Memory), parameters=viewer_parameter(viewer))


def add_memory(
    content: str,
    *,
    category: str | None = None,
    importance: float | None = None,
    supersedes: str | None = None,
    share: Sequence[str] = (),
    viewer: ViewerLike = None,
    allow_secret: bool = False,
) -> Call[Written[Memory]]:
    """Add a memory; the one that it supersedes is no longer current."""
    return post(
        "/v1/memories",
        read_written(Memory),
        viewer,
        writes=True,
        content=content,
        category=category,
        importance=importance,
        supersedes=supersedes,
        share=list(share),
        allow_secret=allow_secret,
    )


def edit_memory(
    memory_id: str,
    *,
    content: str | None = None,
    category: str | None = None,
    importance: float | None = None,
    viewer: ViewerLike = None,
    allow_secret: bool = False,
) -> Call[Written[Memory]]:
    """Correct a memory; it keeps its id and its creation time."""
    return post(
        f"/v1/memories/{escape_id(memory_id)}",
        read_written(Memory),
        viewer,
        verb="PATCH",
        writes=True,
        content=content,
        category=category,
        importance=importance,
        allow_secret=allow_secret,
    )


def forget_memory(memory_id: str, *, viewer: ViewerLike = None) -> Call[Written[Memory]]:
    """Delete a memory; an older one that only it superseded is current again."""
    path = f"/v1/memories/{escape_id(memory_id)}"
    return Call(
        "DELETE", path, read_written(Memory), parameters=viewer_parameter(viewer), writes=True
    )


def export_memories(*, viewer: ViewerLike = None) -> Call[list[Memory]]:
    """Return all memories, superseded ones included, as `import_lines` takes them."""
    return list_of("/v1/memories/export", Memory, viewer_parameter(viewer))


def import_memories(
    text: str,
    *,
    share: Sequence[str] = (),
    viewer: ViewerLike = None,
    allow_secret: bool = False,
) -> Call[ImportResult]:
    """Import memories from JSON lines, as `quire memory export` prints them; all or nothing."""
    options = {"share": list(share) or None, "allow_secret": allow_secret}
    return send_lines("/v1/memories/import", read_as(ImportResult), text, options, viewer)


# --- experiences and principles ------------------------------------------------------------------


def list_experiences(
    *,
    domain: str | None = None,
    strategy: str | None = None,
    outcome: str | None = None,
    shared_only: bool = False,
    viewer: ViewerLike = None,
) -> Call[list[Experience]]:
    """List experiences, oldest first."""
    options = {"domain": domain, "strategy": strategy, "outcome": outcome}
    parameters = {**options, "shared_only": shared_only, **viewer_parameter(viewer)}
    return list_of("/v1/experiences", Experience, parameters)


def get_experience(
    experience_id: str, *, shared_only: bool = False, viewer: ViewerLike = None
) -> Call[Experience]:
    """Return one experience by its id, or by an unambiguous beginning of it."""
    path = f"/v1/experiences/{escape_id(experience_id)}"
    parameters = {"shared_only": shared_only, **viewer_parameter(viewer)}
    return Call("GET", path, read_as(Experience), parameters=parameters)


def start_experience(
    goal: str,
    *,
    domain: str,
    strategy: str | None = None,
    hypothesis: str = "",
    action: str = "",
    prediction: str = "",
    share: Sequence[str] = (),
    viewer: ViewerLike = None,
    allow_secret: bool = False,
) -> Call[Written[Experience]]:
    """Start recording an attempt to reach a goal."""
    return post(
        "/v1/experiences",
        read_written(Experience),
        viewer,
        writes=True,
        goal=goal,
        domain=domain,
        strategy=strategy,
        hypothesis=hypothesis,
        action=action,
        prediction=prediction,
        share=list(share),
        allow_secret=allow_secret,
    )


def update_experience(
    experience_id: str,
    *,
    goal: str | None = None,
    domain: str | None = None,
    strategy: str | None = None,
    hypothesis: str | None = None,
    action: str | None = None,
    prediction: str | None = None,
    viewer: ViewerLike = None,
    allow_secret: bool = False,
) -> Call[Written[Experience]]:
    """Continue an open experience; a new hypothesis, action or prediction is an iteration."""
    return post(
        f"/v1/experiences/{escape_id(experience_id)}",
        read_written(Experience),
        viewer,
        verb="PATCH",
        writes=True,
        goal=goal,
        domain=domain,
        strategy=strategy,
        hypothesis=hypothesis,
        action=action,
        prediction=prediction,
        allow_secret=allow_secret,
    )


def resolve_experience(
    experience_id: str,
    outcome: str,
    *,
    result: str = "",
    surprise: str = "",
    root_cause: str = "",
    lesson: str = "",
    viewer: ViewerLike = None,
    allow_secret: bool = False,
) -> Call[Written[Experience]]:
    """End an open experience as `confirmed`, `falsified` or `abandoned`."""
    return post(
        f"/v1/experiences/{escape_id(experience_id)}/resolve",
        read_written(Experience),
        viewer,
        writes=True,
        outcome=outcome,
        result=result,
        surprise=surprise,
        root_cause=root_cause,
        lesson=lesson,
        allow_secret=allow_secret,
    )


def list_principles(*, axis: str | None = None, viewer: ViewerLike = None) -> Call[list[Principle]]:
    """List the principles as last refreshed, by axis, the largest first."""
    return list_of("/v1/values", Principle, {"axis": axis, **viewer_parameter(viewer)})


def refresh_principles(*, viewer: ViewerLike = None) -> Call[Written[tuple[Principle, ...]]]:
    """Derive all principles again from the resolved experiences that the viewer may read."""

    def read(data: Any) -> Written[tuple[Principle, ...]]:
        values = tuple(from_plain(Principle, item) for item in data["values"])
        return Written(values, tuple(data["notes"]))

    return post("/v1/values/refresh", read, viewer, writes=True)


# --- feedback ------------------------------------------------------------------------------------


def list_feedback(*, viewer: ViewerLike = None) -> Call[list[Feedback]]:
    """List the feedback that a viewer may read, oldest first."""
    return list_of("/v1/feedback", Feedback, viewer_parameter(viewer))


def add_feedback(
    receipt: Receipt,
    *,
    useful: Sequence[str] = (),
    useless: Sequence[str] = (),
    share: Sequence[str] = (),
    viewer: ViewerLike = None,
) -> Call[Written[Feedback]]:
    """Record which pieces of a receipt's context helped, and which did not, by id or path."""
    return post(
        "/v1/feedback",
        read_written(Feedback),
        viewer,
        writes=True,
        receipt=receipt_member(receipt),
        useful=list(useful),
        useless=list(useless),
        share=list(share),
    )


def forget_feedback(feedback_id: str, *, viewer: ViewerLike = None) -> Call[None]:
    """Delete feedback."""

    def read(_: Any) -> None:
        return None

    path = f"/v1/feedback/{escape_id(feedback_id)}"
    return Call("DELETE", path, read, parameters=viewer_parameter(viewer), writes=True)
