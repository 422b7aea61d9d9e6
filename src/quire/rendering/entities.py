"""The entity formats: functions, classes and sections as Markdown, XML or plain text.

Each entity has a heading (its name and place), its summary and its text. Whatever a text contains
(back-ticks, angle brackets, quotes), the format around it stays intact: fences grow, lines that
could pass for a heading are escaped, and so are characters that XML does not allow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import groupby

from quire.core.types import (
    CUT,
    OUTLINE,
    SIGNATURE,
    Candidate,
    Frame,
    Passage,
    Piece,
    RenderSpec,
    Run,
    category_of,
)
from quire.rendering.entity_text import (
    entity_of,
    first_line,
    holds_beginning,
)
from quire.rendering.escape import (
    GAP,
    HIDDEN_IN_NAMES,
    TRUNCATED,
    escape_document,
    escape_gaps,
    escape_line,
    escape_name,
    escape_place,
    escape_plain,
    escape_prose,
    escape_start,
    escape_summary,
    fence,
    gap_mark,
    restore_marks,
)
from quire.rendering.fenced import NOTEBOOK, without_fence
from quire.rendering.left_out import comment, continued, left_out
from quire.rendering.names import (
    imported_from,
    is_virtual,
    shown_name,
    source_name,
)
from quire.rendering.prose import has_own_name, is_prose, without_title
from quire.rendering.stale import describe_state

TITLES = {
    "code": "Relevant Code",
    "documentation": "Related Documentation",
    "conversation": "Previous Conversations",
    "other": "Other Context",
}
RULE = "---"
BETWEEN = "\n\n"
"""What stands between the blocks of Markdown: titles, entities, rules."""
MAX_MARKUP = 4
"""The words of a text for each word of its summary, at most: markup has words of its own."""
SUMMARY_WORDS = 8
"""A text that has so many words of a summary, the first ones, is taken to hold it."""
_WORD = re.compile(r"\w+")
# Not by what is valid: it takes ten times as long to compile.
_INVALID_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


# --- markdown ------------------------------------------------------------------------------------


def render_markdown(passages: Sequence[Passage], spec: RenderSpec, frame: Frame) -> str:
    """Render entities under headings, their code in fences that name the language."""
    blocks: list[str] = []
    for title, group in _by_category(passages, spec):
        blocks += [RULE] if blocks else []
        blocks += [f"## {title}"] if title else []
        blocks += _texts(group, frame, partial(_markdown_entity, spec=spec))
    footer = _markdown_footer(passages[: spec.sources])
    return BETWEEN.join([*blocks, footer] if footer else blocks)


def markdown_frame(
    categories: Collection[str], first: Sequence[Passage], spec: RenderSpec
) -> tuple[list[str], str]:
    """Return what `render_markdown` writes beside entities of some categories: blocks, and the end.

    `first` are the passages whose sources it lists. Blocks have `BETWEEN` behind them.
    """
    titles = [f"## {TITLES[name]}" for name in categories] if spec.groups else []
    return [*titles, *([RULE] * (len(titles) - 1))], _markdown_footer(first)


def _markdown_footer(first: Sequence[Passage]) -> str:
    """List the sources of the first passages; empty: of none."""
    lines = [
        f"- {escape_start(escape_line(_name(passage)))}{_in_brackets(_place(passage, '()'))}"
        for passage in first
    ]
    return "\n".join([RULE, "**Sources:**", *lines]) if lines else ""


def _in_brackets(place: str) -> str:
    return f" ({place})" if place else ""


def markdown_heading(piece: Piece, spec: RenderSpec) -> str:
    """Return what stands above the text of a piece: its name, its place, its summary if shown."""
    chunk = piece.candidate.chunk
    run = Run((piece,), piece.text, chunk.lines)
    passage = Passage(chunk.record_id, chunk.path, (run,))
    return "\n\n".join(_markdown_head(passage, spec, piece.text))


def _markdown_head(passage: Passage, spec: RenderSpec, text: str) -> list[str]:
    """Return the name and the place of an entity, and its summary where its text does not hold it.

    What is cut has no summary: its room was measured for the text.
    """
    piece = passage.first
    entity = entity_of(piece.candidate)
    place = f"{_place(passage)}{_state(passage)}"
    head = f"### {escape_line(_name(passage))}"
    parts = [f"{head}\n*{escape_start(place)}*" if place else head]
    shows_summary = entity.summary and piece.level not in {CUT, OUTLINE}
    if shows_summary and not (spec.content and _says(text, entity.summary)):
        mark = TRUNCATED if _stands_for_text(piece) else ""
        mark = GAP if not mark and spec.content and _stands_apart(piece.candidate) else mark
        parts.append("\n".join([escape_summary(entity.summary), *([mark] if mark else [])]))
    return parts


def _stands_apart(candidate: Candidate) -> bool:
    """Tell whether lines of a text are left out between its summary and what was found of it.

    What a summary leaves out, such as addresses of links, may be as long as itself.
    """
    entity, start = entity_of(candidate), candidate.chunk.start
    beginning = len(entity.name.encode()) + len(entity.summary.encode())
    return is_prose(candidate) and start - entity.start > 2 * beginning


def _markdown_entity(passage: Passage, spec: RenderSpec) -> str:
    piece = passage.first
    entity = entity_of(piece.candidate)
    text = _text(passage, escape_gaps)
    parts = _markdown_head(passage, spec, text)
    if piece.level == OUTLINE:
        return parts[0]
    if not spec.content and not entity.summary and text:
        parts.append(escape_prose(text))
    elif spec.content and text and is_prose(piece.candidate):
        mark = [TRUNCATED] if passage.runs[-1].is_cut_off else []
        continues = not holds_beginning(piece.candidate, entity)
        prose = _text(passage, lambda text: escape_document(escape_gaps(text), continues=continues))
        parts.append("\n".join([prose.rstrip("\n"), *mark]))
    elif spec.content and text:
        text, language = _without_fence(text, piece.candidate)
        ticks = fence(text)
        run = passage.runs[-1]
        cut = [_cut_mark(run) or TRUNCATED] if run.is_cut_off else []
        fenced = [f"{ticks}{language}", text.rstrip("\n"), *cut, ticks]
        parts.append("\n".join(fenced))
    return "\n\n".join(parts)


def _without_fence(text: str, candidate: Candidate) -> tuple[str, str]:
    """Return a text and what its fence names: a cell of a notebook is shown in its own language."""
    record = candidate.record
    if record is None or record.attrs.get("language") != NOTEBOOK:
        return text, candidate.language
    return without_fence(text, NOTEBOOK)


def _says(text: str, summary: str) -> bool:
    """Tell whether a text has the first words of a summary, in their order and near each other.

    Between them may stand what a summary leaves out: addresses of links, roles, other markup.
    """
    words = _WORD.findall(summary)[:SUMMARY_WORDS]
    there = _WORD.findall(text)
    return any(
        _follow(words, there[at : at + MAX_MARKUP * len(words)])
        for at, word in enumerate(there)
        if words and word == words[0]
    )


def _follow(words: Sequence[str], there: Sequence[str]) -> bool:
    """Tell whether words follow each other among others."""
    rest = iter(there)
    return all(word in rest for word in words)


# --- xml -----------------------------------------------------------------------------------------


def render_xml(passages: Sequence[Passage], spec: RenderSpec, frame: Frame) -> str:
    """Render entities as elements under one root, grouped in sections."""
    lines = ["<context>"]
    for title, group in _by_category(passages, spec):
        if title:
            lines.append(f"<section name={_attribute(title)}>")
        lines += _texts(group, frame, _xml_entity)
        if title:
            lines.append("</section>")
    sources = [
        f"  <source name={_attribute(escape_line(_name(passage)))}"
        f" type={_attribute(entity_of(passage.first.candidate).kind)} />"
        for passage in passages[: spec.sources]
    ]
    if sources:
        lines += ["<sources>", *sources, "</sources>"]
    return "\n".join([*lines, "</context>"])


def _xml_entity(passage: Passage) -> str:
    entity = entity_of(passage.first.candidate)
    line = _line(passage)
    attributes = [f"name={_attribute(_name(passage))}", f"type={_attribute(entity.kind)}"]
    if not _is_virtual(passage):
        attributes.append(f"file={_attribute(passage.path)}")
        if line:
            attributes.append(f'line="{line}"')
    elif file := imported_from(passage.first.candidate.record):
        attributes.append(f"file={_attribute(file)}")
    elif (source := _place(passage)) not in {"", entity.kind}:
        attributes.append(f"source={_attribute(source)}")
    if passage.stale:
        attributes.append(f"stale={_attribute(passage.stale)}")
    start = f"<entity {' '.join(attributes)}"
    text = _marked_text(passage, lambda text: escape_gaps(_escape_invalid(text)))
    if not text:
        return f"{start} />"
    return f"{start}>\n{_escape_xml(text)}\n</entity>"


def _attribute(text: str) -> str:
    from xml.sax.saxutils import quoteattr  # nosec B406  # writes XML; late: it loads a web client

    return HIDDEN_IN_NAMES.sub(
        lambda match: f"&#{ord(match[0])};", quoteattr(_escape_invalid(text))
    )


def _escape_xml(text: str) -> str:
    from xml.sax.saxutils import escape  # nosec B406  # writes XML; late: it loads a web client

    return escape(_escape_invalid(text), {"\r": "&#13;"})


def _escape_invalid(text: str) -> str:
    """Escape the characters that XML cannot contain."""
    return _INVALID_IN_XML.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


# --- plain ---------------------------------------------------------------------------------------


def render_plain(passages: Sequence[Passage], spec: RenderSpec, frame: Frame) -> str:
    """Render entities as their name, their place and one text each."""
    sections = [
        "\n\n".join(
            [
                *([f"=== {title} ==="] if title else []),
                *_texts(group, frame, _plain_entity),
            ]
        )
        for title, group in _by_category(passages, spec)
    ]
    whole = "\n\n---\n\n".join(sections)
    footer = [f"  - {escape_line(_name(passage))}" for passage in passages[: spec.sources]]
    return "\n\n".join([whole, "\n".join(["Sources:", *footer])]) if footer else whole


def _plain_entity(passage: Passage) -> str:
    entity = entity_of(passage.first.candidate)
    place = entity.kind
    if not _is_virtual(passage):
        place = f"{escape_place(passage.path, 0, '[]')}:{_line(passage)}"
    elif file := imported_from(passage.first.candidate.record):
        place = escape_name(file, "[]")
    else:
        place = _place(passage, "[]") or entity.kind
    text = _marked_text(passage, escape_plain).rstrip("\n")
    head = f"{escape_line(_name(passage))} [{place}]{_state(passage)}"
    return f"{head}\n{text}" if text else head


# --- shared by all formats -----------------------------------------------------------------------


def _by_category(passages: Sequence[Passage], spec: RenderSpec) -> list[tuple[str, list[Passage]]]:
    if not spec.groups:
        return [("", list(passages))] if passages else []
    by_category = groupby(passages, key=lambda passage: category_of(passage.first.candidate))
    return [(TITLES[name], list(group)) for name, group in by_category]


def _texts(
    passages: Sequence[Passage], frame: Frame, render: Callable[[Passage], str]
) -> list[str]:
    """Render entities one by one, each once while pieces are tried."""
    known = frame.texts
    if known is None:
        return [render(passage) for passage in passages]
    texts = []
    for passage in passages:
        key = passage.key
        if key not in known:
            known[key] = render(passage)
        texts.append(known[key])
    return texts


def _name(passage: Passage) -> str:
    """Return the name of an entity; of what has none but its own first words, what it is."""
    candidate = passage.first.candidate
    if has_own_name(candidate):
        return entity_of(candidate).qualified
    return entity_of(candidate).kind if candidate.record is None else source_name(candidate)


def _place(passage: Passage, brackets: str = "") -> str:
    """Return where an entity stands, without its name; empty: its name says it."""
    candidate = passage.first.candidate
    if not has_own_name(candidate):
        return ""
    kind = entity_of(candidate).kind
    if is_virtual(passage.path) and candidate.record is not None:
        name = source_name(candidate)
        is_named = name.partition(": ")[2] == entity_of(candidate).qualified
        return name.partition(": ")[0] if is_named else shown_name(candidate, brackets)
    if _is_virtual(passage):
        return kind
    return escape_place(passage.path, _line(passage), brackets)


def _state(passage: Passage) -> str:
    return f", {describe_state(passage.stale)}" if passage.stale else ""


def _line(passage: Passage) -> int:
    return first_line(passage.first.candidate)


def _is_virtual(passage: Passage) -> bool:
    """Tell whether a passage is not from a file of the project: a commit, a memory."""
    return is_virtual(passage.path) or not passage.path


def _text(passage: Passage, escape: Callable[[str], str]) -> str:
    """Join the runs of an entity, with a mark where text between them is left out."""
    candidate = passage.first.candidate
    texts = [run.text.strip("\n") for run in passage.runs]
    if is_prose(candidate) and has_own_name(candidate):
        texts[0] = without_title(texts[0], entity_of(candidate).name)
    escaped = zip(passage.runs, map(escape, texts), strict=True)
    first, *others = (
        restore_marks(text) if run.pieces[-1].is_extract else text for run, text in escaped
    )
    language = candidate.language
    marks = (
        comment(language, continued(run.lines[0])) if language else gap_mark(run.lines[0])
        for run in passage.runs[1:]
    )
    return "\n".join([first, *(line for pair in zip(marks, others, strict=True) for line in pair)])


def _marked_text(passage: Passage, escape: Callable[[str], str]) -> str:
    """Return the text of an entity, with a mark at its end if it is cut off."""
    text = _text(passage, escape)
    run = passage.runs[-1]
    return f"{text}\n{_cut_mark(run) or GAP}" if _is_cut_off(run) else text


def _cut_mark(run: Run) -> str:
    """Return the mark for lines of code that a run leaves out at its end; empty: it is no code."""
    piece = run.pieces[-1]
    candidate = piece.candidate
    if not candidate.language or candidate.unit is None or not run.is_cut_off:
        return ""
    wholes = (candidate.unit.text, candidate.unit.outline, candidate.chunk.text)
    whole = next(whole for whole in wholes if whole.startswith(piece.text))
    rest = whole[len(piece.text) :].strip("\n")
    return left_out(candidate.language, rest.count("\n") + 1)


def _is_cut_off(run: Run) -> bool:
    """Tell whether a run ends before its text does, or before the summary that stands for it."""
    if _stands_for_text(run.pieces[-1]):
        return True
    entity = entity_of(run.pieces[-1].candidate)
    wholes = (entity.summary, f"{entity.signature}\n{entity.summary}")
    if not run.text or run.text in wholes:
        return False
    return run.is_cut_off or any(whole.startswith(run.text) for whole in wholes)


def _stands_for_text(piece: Piece) -> bool:
    """Tell whether the first paragraph of prose is shown in place of all of it."""
    return piece.level == SIGNATURE and is_prose(piece.candidate)
