"""The template format: blocks of a workspace under the titles of their sections.

The page is put together from parts, never by replacing words in a template, so that no text can be
read as a placeholder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import indent

from quire.core.types import BLOCK_PREFIX, Candidate, Frame, Passage, Piece, RenderSpec
from quire.core.types.blocks import PAGES
from quire.rendering.escape import (
    GAP,
    NO_CONTENT,
    escape_author,
    escape_block,
    escape_line,
    escape_listed,
    escape_message,
    escape_name,
    escape_paragraph,
    escape_place,
    escape_title,
    fence,
)
from quire.rendering.fenced import code_language
from quire.rendering.names import is_virtual, shown_name
from quire.rendering.page import section_name

CONVERSATION = "Conversation"
INSTRUCTIONS = "Instructions"
CODE, HEADING, ROW, TODO = "code", "heading", "db_row", "todo"
TASKS = "tasks"
"""The source of tasks."""
INDENT = "  "
"""Stands before a task that belongs to the one above it."""
PATH = " > "
"""Separates a page from a heading on it."""
BLANK = "\n\n"
TITLE, BULLET = "#### ", "- "
"""Precede the title above blocks, and one without any."""
ONLY_TITLES = f"{TITLE}(only titles)"
"""Stands above the titles without blocks."""
UNTITLED = "(untitled)"
"""Stands above blocks whose page has no title, or one that the viewer may not read."""
FOCUS = "(focus{})"
"""Marks what the user is viewing."""
MAX_TITLE = 300
"""Longer titles are cut, and stand below in full, where they can be cut to the budget."""
MAX_SIGNAL = 1000
"""The structural signal of the focus: it has no distance from itself."""
OVERDUE = "overdue"
"""The signal of a task that is past its due date."""


def render_template(passages: Sequence[Passage], spec: RenderSpec, frame: Frame) -> str:
    """Render passages under the titles of their sections, then the conversation and the query."""
    parts = [f"## {escape_line(spec.title)}"] if spec.title else []
    parts += [
        f"> **Missing**: {escape_paragraph(escape_line(warning))}" for warning in frame.warnings
    ]
    if frame.system:
        parts.append(f"### {INSTRUCTIONS}\n{escape_block(frame.system)}")
    counted = _counting_section(passages, frame)
    for section in frame.sections:
        own = [passage for passage in passages if section_name(passage) == section.name]
        blocks = _render_blocks(own) or NO_CONTENT
        parts.append(f"### {escape_line(section.title)}\n{blocks}")
        if section.name == counted:
            parts.append(_count_tasks(passages, frame))
    if frame.history:
        speakers = {speaker for speaker, _ in frame.history}
        messages = "\n\n".join(
            message_text(speaker, text, speakers) for speaker, text in frame.history
        )
        parts.append(f"### {CONVERSATION}\n{messages}")
    if frame.query:
        parts.append(f"---\n\nUser Query: {escape_block(frame.query)}")
    return "\n\n".join(parts)


def block_heading(piece: Piece) -> str:
    """Return the title above blocks: their page and heading, and their author if another."""
    candidate = piece.candidate
    chunk, kind = candidate.chunk, _block_type(candidate)
    if not kind:
        is_file = not is_virtual(chunk.path)
        names = [escape_place(chunk.path, chunk.lines[0]) if is_file else shown_name(candidate)]
    elif kind in PAGES:
        pages = candidate.crumbs[-1:] if kind == ROW else ()
        names = [escape_title(_shorten(name)) for name in (*pages, _title(candidate))]
    else:
        own = _title(candidate) if kind == HEADING else candidate.heading
        pages = candidate.crumbs[-1:]
        titles = (*pages, own if (own,) != pages else "")
        names = [escape_title(_shorten(title)) for title in titles if title]
    author = f" [by {escape_author(candidate.author)}]" if candidate.author else ""
    return f"{TITLE}{PATH.join(filter(None, names)) or UNTITLED}{author}\n"


def message_text(speaker: str, text: str, speakers: Iterable[str] = ()) -> str:
    """Return one message of a conversation between some speakers."""
    colons = [at for at, char in enumerate(speaker) if char == ":"]
    return f"{escape_name(speaker, extra=colons)}: {escape_message(text, speakers)}"


def _render_blocks(passages: Sequence[Passage]) -> str:
    """Render blocks under the titles of their pages, each title once.

    Pages of which nothing but the title is shown are listed at the end.
    """
    titles: dict[str, list[str]] = {}
    above = _pages_above_focus(passages)
    tasks: set[str] = set()
    pages: set[str] = set()
    texts: list[str] = []
    read = 0  # blocks of the viewed page so far
    last = _last_read(passages)
    for passage in passages:
        candidate = passage.first.candidate
        text = _block_text(passage)
        if not text and passage.record_id in above:
            continue  # its title stands beside the focus
        place, total = candidate.reading or (read, 0)
        title = block_heading(passage.first)
        if place > read:
            _mark_gap(texts)
        texts = titles.setdefault(title, [])
        if _block_type(candidate) in PAGES:
            pages.add(title)
        if _block_type(candidate) == TODO:
            is_below = len(candidate.place) > 1 and candidate.place[-2][1] in tasks
            text = indent(text, INDENT) if is_below else text
            tasks.add(passage.record_id)
        if text:
            texts.append(text)
        if total:
            read = place + 1
            if read == last and read < total:
                _mark_gap(texts)
    # Above the titles alone stands that they are: a mark below each would say it again.
    alone = {title for title, texts in titles.items() if texts in ([], [GAP]) and title in pages}
    blocks = [
        f"{title}{BLANK.join(texts)}".rstrip("\n")
        for title, texts in titles.items()
        if title not in alone
    ]
    bare = [
        escape_listed(title.replace(TITLE, BULLET, 1).rstrip("\n"))
        for title in titles
        if title in alone
    ]
    return BLANK.join((*blocks, *(["\n".join([ONLY_TITLES, *bare])] if bare else [])))


def _mark_gap(texts: list[str]) -> None:
    """Mark that blocks are left out, where the blocks before them end."""
    if not texts or not texts[-1].endswith(GAP):
        texts.append(GAP)


def _last_read(passages: Sequence[Passage]) -> int:
    """Return how many blocks of the viewed page are read when the last one that is shown is."""
    places = (passage.first.candidate.reading for passage in passages)
    return max((place + 1 for place, _ in filter(None, places)), default=0)


def _pages_above_focus(passages: Sequence[Passage]) -> frozenset[str]:
    """Return the pages that contain the focus, without the one whose blocks are shown."""
    for passage in passages:
        candidate = passage.first.candidate
        if _is_focus(candidate):
            return frozenset(name for _, name in candidate.place[:-1])
    return frozenset()


def _counting_section(passages: Sequence[Passage], frame: Frame) -> str | None:
    """Return the last section with tasks that are asked for, unless all of them are shown."""
    shown = [passage for passage in passages if passage.record_id in frame.tasks]
    if len({passage.record_id for passage in shown}) == len(frame.tasks):
        return None
    names = {section_name(passage) for passage in shown}
    sections = [section.name for section in frame.sections if section.name in names]
    searched = [section.name for section in frame.sections if TASKS in section.sources]
    return next(iter((*sections[::-1], *searched)), None)


def _count_tasks(passages: Sequence[Passage], frame: Frame) -> str:
    """Say how many of the tasks that are asked for are shown."""
    shown = frame.tasks.intersection(passage.record_id for passage in passages)
    return f"_{len(shown)} of {len(frame.tasks)} tasks are shown._"


def _block_text(passage: Passage) -> str:
    """Return what is shown of a block below its title, which a page and a heading are."""
    candidate = passage.first.candidate
    text = f"\n{GAP}\n".join(run.text.strip("\n") for run in passage.runs)
    if passage.runs[-1].is_cut_off:
        text += f"\n{GAP}"
    kind = _block_type(candidate)
    if CODE in {kind, candidate.chunk.kind}:
        ticks = fence(text)
        return f"{ticks}{code_language(candidate.record)}\n{text}\n{ticks}"
    is_long = len(_title(candidate)) > MAX_TITLE
    if kind == HEADING and not is_long:
        return ""
    mark = _focus_mark(candidate)
    if kind in PAGES and not is_long:
        rest = text if text.startswith(GAP) else text.partition("\n")[2]
        text = escape_block("\n".join((rest, *candidate.relations)).strip("\n"))
        return "\n".join(filter(None, (mark, text)))
    late = " (overdue)" if OVERDUE in candidate.signals else ""
    text = escape_block(text) + late + (f" {mark}" if mark else "")
    return "\n".join((text, *map(escape_block, candidate.relations)))


def _is_focus(candidate: Candidate) -> bool:
    return bool(_block_type(candidate)) and candidate.signals.get("structural") == MAX_SIGNAL


def _focus_mark(candidate: Candidate) -> str:
    """Return the mark of what the user is viewing, with the pages that contain it."""
    if not _is_focus(candidate):
        return ""
    own = _block_type(candidate) in PAGES
    above = [escape_title(_shorten(name)) for name in candidate.crumbs[: None if own else -1]]
    return FOCUS.format(f", in {PATH.join(above)}" if above else "")


def _block_type(candidate: Candidate) -> str:
    """Return the type of a block; empty: it is a part of something else."""
    kind = candidate.chunk.kind
    return kind.removeprefix(BLOCK_PREFIX) if kind.startswith(BLOCK_PREFIX) else ""


def _shorten(title: str) -> str:
    return title if len(title) <= MAX_TITLE else f"{title[:MAX_TITLE].rstrip()} ..."


def _title(candidate: Candidate) -> str:
    return candidate.chunk.text.partition("\n")[0].strip()
