"""The pages that hooks inject into an assistant.

A page holds only what the viewer may read. Hooks search by words alone unless told otherwise: a
process for each prompt has no time to load a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from quire.errors import InputError, NoStoreError
from quire.integrations.clients import POST_TOOL, PROMPT, SESSION_START, Client
from quire.integrations.hooks import failures, sessions
from quire.integrations.hooks.payloads import HookEvent
from quire.integrations.hooks.prompts import asks_for_something, is_about

if TYPE_CHECKING:
    from quire.config import Config
    from quire.core.types import Context, Memory, Recipe
    from quire.engine import Quire

MAX_LENGTH = 10_000
"""UTF-16 code units, which is how clients count characters."""
CUT_NOTE = "\n\n[cut here: an assistant is told at most 10,000 characters at a time]"
COUNTER = "approx"
"""Four bytes a token: only the length matters here, and a vocabulary takes longer to load."""
BUDGET = 2400
PROMPT_EXCERPT = 2000
"""Characters of a long prompt that are searched for, at its start and at its end."""
REMEMBERED = ("memories", "experiences", "values")
"""The sections of a page that hold what is remembered."""
MAX_MEMORIES = 20
MEMORY_LENGTH = 300
"""Characters of a memory at the start of a session."""
HEADINGS: Mapping[str, str] = {
    SESSION_START: "From this project's Quire store: what holds here, and what is remembered.",
    PROMPT: "From this project's Quire store, found for this prompt; check before relying on it.",
    POST_TOOL: "From this project's Quire store, since a test or build has just failed: what went "
    "wrong before, and why.",
}


@dataclass(frozen=True, slots=True)
class HookOptions:
    """Which store a hook reads, as whom, and whether it searches by meaning."""

    store: str | None = None
    space: str | None = None
    viewer: str | None = None
    embed: bool = False
    all_viewers: bool = False
    """Whether to include what other users wrote for themselves, where the owner reads."""

    @property
    def shared_only(self) -> bool:
        """Whether to leave that out."""
        return not self.all_viewers


@dataclass(frozen=True, slots=True)
class Page:
    """The text for an assistant, empty if there is nothing to say, and notes for its user."""

    text: str = ""
    notes: tuple[str, ...] = ()


def build(client: Client, event: str, payload: HookEvent, options: HookOptions) -> Page:
    """Build the page for an event.

    Settings of a project that is not trusted are left out by the configuration: a hook runs as soon
    as a project is opened, and must not ask a judge, an embedder or a writer of its choice.
    """
    if event == PROMPT and not asks_for_something(_query(payload)):
        return Page()  # before anything is loaded: many prompts are of this kind
    if event == POST_TOOL and payload.edited:
        _read_edited(payload, options)
        return Page()
    failed = event == POST_TOOL and failures.failed_tool(
        payload.command,
        payload.output,
        exit_code=payload.exit_code,
        reported=payload.failed,
        interrupted=payload.interrupted,
    )
    if event == POST_TOOL and not failed:
        return Page()
    settings = _settings(payload.folder, options)
    if event == POST_TOOL:
        if not payload.session:
            raise InputError("the client sent no session id, so the first failure is unknown")
        if not sessions.mark_first_failure(settings.root, payload.session):
            return Page()
    with _open(payload.folder, options) as quire:
        notes = quire.notes
        body = _PAGES[event](quire, client, payload, options)
    return Page(shorten(f"{HEADINGS[event]}\n\n{body}") if body.strip() else "", notes)


def shorten(text: str, limit: int = MAX_LENGTH) -> str:
    """Cut a text at the end of a paragraph, a line or a character, and append a note."""
    if _length(text) <= limit:
        return text
    from quire.core.graphemes import last_boundary

    room = limit - _length(CUT_NOTE)
    end, length = 0, 0
    for char in text:
        length += _length(char)
        if length > room:
            break
        end += 1
    for separator in ("\n\n", "\n"):
        at = text.rfind(separator, end // 2, end)
        if at > 0:
            return text[:at].rstrip() + CUT_NOTE
    return text[: last_boundary(text, end)] + CUT_NOTE


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "replace")) // 2


def _settings(folder: str, options: HookOptions) -> Config:
    """Load the settings and require a store before the engine is loaded: most folders have none."""
    from quire import config

    settings = config.load(Path(folder or "."), store=options.store)
    if not settings.server and not settings.store.is_file():
        raise NoStoreError(f"no store at {settings.store}", hint="create one with `quire index`")
    return settings


def _open(folder: str, options: HookOptions) -> Quire:
    from quire.engine import open_quire

    quire = open_quire(folder or ".", store=options.store, space=options.space, create=False)
    judge = quire.config.judge
    if judge.provider == "semantic" and not options.embed:  # it would load the model
        quire.config = replace(quire.config, judge=replace(judge, provider="none"))
    return quire


def _read_edited(payload: HookEvent, options: HookOptions) -> None:
    """Read the files again that the assistant has just written, if the hook may write."""
    from quire.indexing import background

    try:
        settings = _settings(payload.folder, options)
    except NoStoreError:  # nothing was indexed here
        return
    folder = Path(payload.folder or ".").absolute()
    paths = [path for name in payload.edited if not (path := folder / name).is_dir()]
    inside = [path for path in paths if path.resolve().is_relative_to(settings.root.resolve())]
    if not inside or options.viewer is not None:
        return
    with _open(payload.folder, options) as quire:
        if quire.config.viewer is None:
            result = quire.documents.read_again(inside)
            background.embed_later(quire.config, quire.root(), result)


def _session_start(quire: Quire, client: Client, payload: HookEvent, options: HookOptions) -> str:
    """Return the context files that apply, without those the client reads, and the memories.

    A session also starts again when the assistant has shortened or cleared its conversation.
    """
    if payload.session:
        with suppress(OSError):
            sessions.forget_told(quire.root(), payload.session)
    parts = (_context_files(quire, client, payload, options), _memories(quire, options))
    return "\n\n".join(part for part in parts if part)


def _context_files(quire: Quire, client: Client, payload: HookEvent, options: HookOptions) -> str:
    from quire.core.types import Filter

    known = quire.documents.list(
        Filter(paths=tuple(f"**/{name}" for name in client.context_files)), viewer=options.viewer
    )
    context = quire.assemble(
        SESSION_START,
        recipe=_recipe("situation", options),
        types=["contexts"],
        situation={"event": SESSION_START},
        base=_base(quire.root(), payload.folder),
        exclude=[record.id for record in known],
        viewer=options.viewer,
        budget=BUDGET,
        model=COUNTER,
        allow_empty=True,
        shared_only=options.shared_only,
    )
    return context.text if context.sources else ""


def _last(memory: Memory) -> int:
    return memory.repeated or memory.edited or memory.created


def _memories(quire: Quire, options: HookOptions) -> str:
    from quire.core.sentences import cut_text
    from quire.core.serialize import printable
    from quire.core.types import DATA_NOTICE

    viewer = options.viewer or quire.config.viewer
    memories = sorted(
        quire.memories.list(viewer=options.viewer, shared_only=options.shared_only),
        key=lambda memory: (-memory.importance, -_last(memory), memory.id),
    )
    lines = []
    for memory in memories[:MAX_MEMORIES]:
        text = " ".join(memory.content.split())
        if len(text) > MEMORY_LENGTH:
            text = f"{cut_text(text, MEMORY_LENGTH)} …"
        by = "" if memory.author in {None, viewer} else f", by {memory.author}"
        # The store may have come with the project: nothing in it breaks the line.
        lines.append(printable(" ".join(f"- {text} ({memory.category}{by})".split())))
    if not lines:
        return ""
    if len(memories) > MAX_MEMORIES:
        lines.append(f"- … and {len(memories) - MAX_MEMORIES} more of less importance")
    return "\n".join(["## Memories", "", DATA_NOTICE, "", *lines])


def _prompt(quire: Quire, client: Client, payload: HookEvent, options: HookOptions) -> str:  # noqa: ARG001  # the signature of all pages
    query = _query(payload)
    context = quire.assemble(
        query,
        recipe=_recipe("agent", options),
        viewer=options.viewer,
        budget=BUDGET,
        model=COUNTER,
        allow_empty=True,
        shared_only=options.shared_only,
    )
    if not context.sources or not (
        options.embed or is_about(query, context.text, _names_on(context), _remembered_on(context))
    ):
        return ""
    told = [f"{chunk.chunk_id} {chunk.text}" for chunk in context.chunks]
    if payload.session and _was_told(quire.root(), payload.session, told):
        return ""
    return context.text


def _names_on(context: Context) -> Iterator[str]:
    """Yield what things on a page are called: folders, files, headings, definitions."""
    for source in context.sources:
        yield from source.path.rpartition(".")[0].split("/")
        yield from source.title.split(" > ")
        yield from source.name.split(".")


def _remembered_on(context: Context) -> Iterator[str]:
    for source, chunk in zip(context.sources, context.chunks, strict=True):
        if source.section in REMEMBERED:
            yield chunk.text


def _query(payload: HookEvent) -> str:
    """Return what of a prompt is searched for."""
    query = payload.prompt.strip()
    if len(query) > 2 * PROMPT_EXCERPT:
        query = f"{query[:PROMPT_EXCERPT]}\n{query[-PROMPT_EXCERPT:]}"
    return query


def _was_told(root: Path, session: str, pieces: list[str]) -> bool:
    """Tell whether a session was told all of this before; where that cannot be kept, it was not."""
    try:
        return sessions.was_told(root, session, pieces)
    except OSError:
        return False


def _post_tool(quire: Quire, client: Client, payload: HookEvent, options: HookOptions) -> str:  # noqa: ARG001  # the signature of all pages
    """Return past failures of the domain; if there are none, those of debugging in general."""
    likely = failures.guess_domain(payload.command, payload.output)
    for domain in dict.fromkeys((likely, failures.DEFAULT_DOMAIN)):
        context = quire.agent.premortem(
            domain,
            budget=BUDGET,
            model=COUNTER,
            viewer=options.viewer,
            meaning=options.embed,
            shared_only=options.shared_only,
        )
        if context.sources:
            return context.text
    return ""


def _recipe(name: str, options: HookOptions) -> Recipe:
    from quire.pipeline import recipe as recipes

    loaded = recipes.load(name)
    return loaded if options.embed else recipes.by_words(loaded)


def _base(root: Path, folder: str) -> str:
    """Return the folder in which the assistant works, relative to the project's root."""
    path = Path(folder or ".").resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else "."


_PAGES: Mapping[str, Callable[[Quire, Client, HookEvent, HookOptions], str]] = {
    SESSION_START: _session_start,
    PROMPT: _prompt,
    POST_TOOL: _post_tool,
}
