"""What is an assistant told, and how much of it?

Whatever is told comes from the store, as the viewer may read it. By words alone unless it is asked
otherwise: a process for each prompt has no time to load a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from quire.errors import InputError, NoStoreError
from quire.integrations.clients import POST_TOOL, PROMPT, SESSION_START, Client
from quire.integrations.hooks import failures, sessions
from quire.integrations.hooks.payloads import HookEvent

if TYPE_CHECKING:
    from quire.config import Config
    from quire.core.types import Recipe
    from quire.engine import Quire

MOST = 10_000
"""Characters, as clients count them: a sign beyond the first plane counts twice."""
CUT = "\n\n[cut here: an assistant is told at most 10,000 characters at a time]"
COUNTER = "approx"
"""Four bytes a token: what counts here is length, and a vocabulary takes longer to load."""
BUDGET = 2400
QUESTION = 2000
"""Characters that are looked at of a prompt, at its beginning and at its end."""
MEMORIES = 20
MEMORY = 300
"""Characters of a memory at the start of a session."""
HEADS: Mapping[str, str] = {
    SESSION_START: "From this project's Quire store: what holds here, and what is remembered.",
    PROMPT: "From this project's Quire store, found for this prompt; check before relying on it.",
    POST_TOOL: "From this project's Quire store, since a test or build has just failed: what went "
    "wrong before, and why.",
}


@dataclass(frozen=True, slots=True)
class Asking:
    """Whose store is asked, as whom, and how."""

    store: str | None = None
    space: str | None = None
    viewer: str | None = None
    embed: bool = False


def page(client: Client, event: str, told: HookEvent, asking: Asking) -> str:
    """Give what an assistant is told at an event; mostly nothing after a tool."""
    failed = event == POST_TOOL and failures.failed(
        told.command,
        told.output,
        code=told.code,
        told=told.failed,
        interrupted=told.interrupted,
    )
    if event == POST_TOOL and not failed:
        return ""
    settings = _settings(told.place, asking)
    if event == POST_TOOL:
        if not told.session:
            raise InputError("the client names no session, so which failure is the first?")
        if not sessions.is_first(settings.root, told.session):
            return ""
    with _opened(told.place, asking) as quire:
        made = _PAGES[event](quire, client, told, asking)
    return shortened(f"{HEADS[event]}\n\n{made}") if made.strip() else ""


def shortened(text: str, most: int = MOST) -> str:
    """Cut a text at the end of a paragraph, a line or a sign, and say so."""
    if _length(text) <= most:
        return text
    from quire.core.graphemes import last_cut

    room = most - _length(CUT)
    end, length = 0, 0
    for sign in text:
        length += _length(sign)
        if length > room:
            break
        end += 1
    for mark in ("\n\n", "\n"):
        at = text.rfind(mark, end // 2, end)
        if at > 0:
            return text[:at].rstrip() + CUT
    return text[: last_cut(text, end)] + CUT


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "replace")) // 2


def _settings(place: str, asking: Asking) -> Config:
    """Look for a store before the engine is loaded: most folders have none."""
    from quire import config

    settings = config.load(
        Path(place or "."), store=None if asking.store is None else Path(asking.store)
    )
    if not settings.store.is_file():
        raise NoStoreError(f"there is no store at {settings.store}: `quire index` makes one")
    return settings


def _opened(place: str, asking: Asking) -> Quire:
    from quire.engine import open_quire

    quire = open_quire(place or ".", store=asking.store, space=asking.space, create=False)
    judge = quire.config.judge
    if judge.provider == "semantic" and not asking.embed:  # it would load the model
        quire.config = replace(quire.config, judge=replace(judge, provider="none"))
    return quire


def _session_start(quire: Quire, client: Client, told: HookEvent, asking: Asking) -> str:
    """Tell which contexts hold, but for those that the client reads itself, and what matters."""
    return "\n\n".join(
        part for part in (_contexts(quire, client, told, asking), _memories(quire, asking)) if part
    )


def _contexts(quire: Quire, client: Client, told: HookEvent, asking: Asking) -> str:
    from quire.core.types import Filter

    known = quire.documents.list(
        Filter(paths=tuple(f"**/{name}" for name in client.reads)), viewer=asking.viewer
    )
    context = quire.assemble(
        SESSION_START,
        recipe=_recipe("situation", asking),
        types=["contexts"],
        situation={"event": SESSION_START},
        base=_base(quire.root(), told.place),
        exclude=[record.id for record in known],
        viewer=asking.viewer,
        budget=BUDGET,
        model=COUNTER,
        allow_empty=True,
    )
    return context.text if context.sources else ""


def _memories(quire: Quire, asking: Asking) -> str:
    from quire.core.graphemes import last_cut

    found = sorted(
        quire.memories.list(viewer=asking.viewer),
        key=lambda one: (-one.importance, -(one.edited or one.created), one.id),
    )
    lines = []
    for one in found[:MEMORIES]:
        said = " ".join(one.content.split())
        short = said if len(said) <= MEMORY else f"{said[: last_cut(said, MEMORY)]} …"
        lines.append(f"- {short} ({one.category})")
    if not lines:
        return ""
    if len(found) > MEMORIES:
        lines.append(f"- … and {len(found) - MEMORIES} more of less importance")
    return "\n".join(["## Memories", "", *lines])


def _prompt(quire: Quire, client: Client, told: HookEvent, asking: Asking) -> str:  # noqa: ARG001  # as all pages
    question = told.prompt.strip()
    if len(question) > 2 * QUESTION:
        question = f"{question[:QUESTION]}\n{question[-QUESTION:]}"
    if not question:
        return ""
    context = quire.assemble(
        question,
        recipe=_recipe("agent", asking),
        viewer=asking.viewer,
        budget=BUDGET,
        model=COUNTER,
        allow_empty=True,
    )
    return context.text if context.sources else ""


def _post_tool(quire: Quire, client: Client, told: HookEvent, asking: Asking) -> str:  # noqa: ARG001  # as all pages
    """Tell what went wrong before in the domain at hand; if nothing did, whenever one debugged."""
    at_hand = failures.domain_of(told.command, told.output)
    for domain in dict.fromkeys((at_hand, failures.DEFAULT_DOMAIN)):
        context = quire.agent.premortem(
            domain, budget=BUDGET, model=COUNTER, viewer=asking.viewer, meaning=asking.embed
        )
        if context.sources:
            return context.text
    return ""


def _recipe(name: str, asking: Asking) -> Recipe:
    from quire.pipeline import recipe as recipes

    loaded = recipes.load(name)
    return loaded if asking.embed else recipes.by_words(loaded)


def _base(root: Path, place: str) -> str:
    """Name the folder in which the assistant works, as the store names it."""
    folder = Path(place or ".").resolve()
    return folder.relative_to(root).as_posix() if folder.is_relative_to(root) else "."


_PAGES: Mapping[str, Callable[[Quire, Client, HookEvent, Asking], str]] = {
    SESSION_START: _session_start,
    PROMPT: _prompt,
    POST_TOOL: _post_tool,
}
