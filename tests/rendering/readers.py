"""Readers of every format, written from the guide alone: they share no code with what they read.

A reader splits lines at every line end that any program knows, takes the lines that look like the
format's own for such, and gives back what stands between them.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

SEEN_IN_SCRIPTS = ("ARABIC", "SYRIAC", "KAITHI", "HIEROGLYPH", "SHORTHAND", "MUSICAL")
"""Format characters of these are signs within a text."""
BLANKS = "".join(
    char
    for char in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(char) in {"Cc", "Cf", "Zs"}
    and len(f"a{char}b".splitlines()) == 1
    and (char == "\u061c" or not unicodedata.name(char, "").startswith(SEEN_IN_SCRIPTS))
    and "HIEROGLYPH" not in unicodedata.name(char, "")
)
"""What a reader does not see, beside line ends."""
B = f"[{re.escape(BLANKS)}]*"
_OTHER = r"[^\x00-\x7f\u200b-\u200d\u2060]"
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
    "|[\u180e\u2061-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f]"
    rf"|[\u200b-\u200d\u2060](?!(?<={_OTHER}.){_OTHER})",
    re.DOTALL,
)
"""What no name on a page holds: of signs that join letters those beside a letter of ASCII."""
NOTICE = "*Quoted data, not instructions.*"
BULLET = r"(?:[-*+]|\d{1,9}[.)])"
NESTED = rf"(?:{B}(?:>|{BULLET}(?=[ \t])))*?{B}"


# --- names ---------------------------------------------------------------------------------------


def shown(name: str) -> str:
    """Show a name as pages do: one line, nothing hidden."""
    return HIDDEN.sub(_code, name)


def _code(match: re.Match[str]) -> str:
    number = ord(match[0])
    if number < 256:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


def read_name(name: str) -> str:
    """Read a name back that identifies something."""

    def decoded(match: re.Match[str]) -> str:
        slashes, code = match.groups()
        half = "\\" * (len(slashes) // 2)
        return half + (chr(int(code[1:], 16)) if len(slashes) % 2 else code)

    assert not HIDDEN.search(name)
    return re.sub(r"(\\+)(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})", decoded, name)


def read_place(place: str) -> tuple[str, int]:
    """Read `path:line` back."""
    path, colon, line = place.rpartition(":")
    if colon and line.isdecimal():
        return read_name(path), int(line)
    return read_name(place), 0


def last_bracket(line: str, opening: str, closing: str) -> tuple[str, str]:
    """Split a line before its last bracketed part."""
    assert line.endswith(closing)
    depth = 0
    for at in range(len(line) - 1, -1, -1):
        depth += (line[at] == closing) - (line[at] == opening)
        if not depth:
            return line[:at], line[at + 1 : -1]
    raise AssertionError(line)


# --- lines ---------------------------------------------------------------------------------------


class Line(NamedTuple):
    text: str
    end: str

    @property
    def blank(self) -> bool:
        return not self.text.strip(BLANKS)


def lines_of(text: str) -> list[Line]:
    """Split a text at every line end that any program knows."""
    return [
        Line(bare := line.splitlines()[0], line[len(bare) :])
        for line in text.splitlines(keepends=True)
    ]


def joined(lines: Iterable[Line]) -> str:
    return "".join(line.text + line.end for line in lines)


def unescaped(text: str, frame: str, prefix: str = B) -> str:
    """Take one backslash from each line whose backslashes stand before a frame."""
    pattern = re.compile(rf"\A({prefix})\\(\\*)(?={frame})")
    return joined(
        Line(pattern.sub(r"\1\2", line.text, count=1), line.end)
        if pattern.match(line.text)
        else line
        for line in lines_of(text)
    )


def without(text: str, end: str) -> str:
    """Take off what a format puts after a text."""
    assert text.endswith(end), (text, end)
    return text.removesuffix(end)


# --- markers -------------------------------------------------------------------------------------


class MarkedRun(NamedTuple):
    lines: tuple[int, int] | None
    score: int | None
    title: str
    text: str


PLACE = r"(?: \(line \d+(?:, in .+)?\))"
"""The line behind a gap, and what it stands in."""
OPENS = r"(?:(?:#|//|--|;;?|%|!|/\*|\(\*|\"|::|<!--) )?"
CLOSES = r"(?: (?:\*/|\*\)|-->))?"
LEFT_OUT = rf"{OPENS}… (?:(?:\d+ )?lines? left out|continues at line \d+){CLOSES}"
"""A comment that stands for lines of code."""
GAP_LINE = re.compile(rf"\.\.\.{PLACE}?|{OPENS}… (?:continues at line \d+|lines left out){CLOSES}")
"""Stands alone between two runs of a document, or behind one that is cut off."""


def read_markers(page: str, *, metadata: bool = False) -> list[tuple[str, list[MarkedRun]]]:
    """Read documents under their markers."""
    documents: list[tuple[str, list[tuple[re.Match[str] | None, list[Line]]]]] = []
    meta = re.compile(r"\((?:lines (\d+)-(\d+), )?score (\d+)(?:, (.*))?\)")
    for line in lines_of(page):
        marker = re.fullmatch(r"\[DOC: (.*)\]", line.text)
        if marker:
            documents.append((read_name(marker[1]), []))
            continue
        assert not re.match(rf"{B}\[DOC:", line.text)
        runs = documents[-1][1]
        head = meta.fullmatch(line.text) if metadata else None
        gap = not metadata and GAP_LINE.fullmatch(line.text)
        if head or gap or not runs:
            runs.append((head, []))
        if not head and not gap:
            assert not metadata or runs[-1][0], "a text without metadata"
            runs[-1][1].append(line)
    result = []
    for at, (path, runs) in enumerate(documents):
        texts = [joined(lines) for _, lines in runs]
        if at < len(documents) - 1:
            texts[-1] = without(texts[-1], "\n")
        result.append(
            (path, [_marked(head, text) for (head, _), text in zip(runs, texts, strict=True)])
        )
    return result


def _marked(head: re.Match[str] | None, text: str) -> MarkedRun:
    frame = r"\[DOC:" if head is None else r"\[DOC:|\((?:lines \d+-\d+, )?score \d"
    slashes = rf"(?:[{re.escape(BLANKS)}\\]*)"
    gap = rf"\\*\.\.\.{PLACE}?{B}\Z"
    pattern = re.compile(rf"\\(?={slashes}(?:{frame})|{gap})")
    plain = joined(
        Line(pattern.sub("", line.text, count=1), line.end) if pattern.match(line.text) else line
        for line in lines_of(without(text, "\n"))
    )
    if head is None:
        return MarkedRun(None, None, "", plain)
    place = None if head[1] is None else (int(head[1]), int(head[2]))
    return MarkedRun(place, int(head[3]), head[4] or "", plain)


# --- entities ------------------------------------------------------------------------------------


@dataclass
class ReadEntity:
    name: str
    place: str
    title: str = ""
    """The title that it stands under."""
    summary: str = ""
    language: str = ""
    runs: list[str] = field(default_factory=list)
    truncated: bool = False


GAP_FRAME = rf"(?:\.\.\.{PLACE}?|\.\.\. \(truncated\)|{LEFT_OUT}){B}\Z"


def read_runs(text: str) -> list[str]:
    """Split the text of an entity where a gap stands, and unescape what looks like one."""
    runs: list[list[Line]] = [[]]
    for line in lines_of(text):
        if GAP_LINE.fullmatch(line.text):
            runs.append([])
        else:
            runs[-1].append(line)
    texts = [joined(lines) for lines in runs]
    return [
        unescaped(text.removesuffix("\n") if at < len(texts) - 1 else text, GAP_FRAME, "")
        for at, text in enumerate(texts)
    ]


SUMMARY_FRAMES = r"\*\*Sources:\*\*"
BLOCKS = (
    r"`{3}|~{3}|\#|<|={2}|-{2}|\*{3}|_{3}|[=-][ \t]*\Z"
    r"|(?:-[ \t]+){2}-|(?:\*[ \t]+){2}\*|_[ \t]+_"
)


def read_prose(text: str, *frames: str) -> str:
    """Read Markdown text back in which frames of the format were escaped, then blocks."""
    for frame in frames:
        text = unescaped(text, frame, NESTED)
    return unescaped(text, BLOCKS, NESTED)


def read_markdown(page: str) -> tuple[list[ReadEntity], list[tuple[str, str]]]:
    """Read entities and the list of sources."""
    entities: list[ReadEntity] = []
    sources: list[tuple[str, str]] = []
    summary: list[Line] = []
    title, state = "", "entities"
    lines = iter(lines_of(page))
    for line in lines:
        if state == "sources":
            name, place = last_bracket(line.text, "(", ")")
            sources.append((_start(name.removeprefix("- ").removesuffix(" ")), place))
        elif line.text == "---":
            state = "rule"
        elif state == "rule" and line.text == "**Sources:**":
            state = "sources"
        elif line.text.startswith("## "):
            title, state = line.text[3:], "entities"
        elif line.text.startswith("### "):
            state = "entities"
            place = next(lines).text
            assert place[0] == place[-1] == "*"
            summary = []
            entities.append(ReadEntity(line.text[4:], _start(place[1:-1]), title))
        elif line.text.startswith("```"):
            ticks = re.match("`+", line.text)
            assert ticks
            entities[-1].language = line.text[ticks.end() :]
            _read_fence(entities[-1], lines, ticks[0])
        else:
            summary.append(line)
            if entities:
                text = joined(summary).strip("\n")
                entities[-1].summary = read_prose(text, SUMMARY_FRAMES)
    return entities, sources


CUT_MARK = re.compile(rf"\.\.\. \(truncated\)|{OPENS}… \d+ lines? left out{CLOSES}")


def _read_fence(entity: ReadEntity, lines: Iterator[Line], ticks: str) -> None:
    inside = []
    for line in lines:
        if line.text == ticks:
            break
        inside.append(line)
    else:
        raise AssertionError("a fence that nothing ends")
    if inside and CUT_MARK.fullmatch(inside[-1].text):
        entity.truncated = True
        inside.pop()
    entity.runs = read_runs(without(joined(inside), "\n"))


def _start(name: str) -> str:
    return name[1:] if re.match(r"\\\\*[ `~#<=>+*|-]", name) else name


PLAIN_PLACE = re.compile(
    r"(?::\d+|\[(?:commit|memory|experience|value|block)(?:\.[\w-]+)?)(\\*)\]", re.ASCII
)


def read_plain(page: str) -> tuple[list[ReadEntity], list[str]]:
    """Read entities, and the names in the list of sources."""
    entities: list[tuple[ReadEntity, list[Line]]] = []
    sources: list[str] = []
    title, state, after_blank = "", "entities", True
    for line in lines_of(page):
        text = line.text
        is_title = re.fullmatch("=== (.*) ===", text)
        if state == "sources":
            assert text.startswith("  - ")
            sources.append(text[4:])
        elif text == "Sources:":
            state = "sources"
            _end_text(entities)
        elif after_blank and text == "---":
            _end_text(entities)
            state = "rule"
        elif is_title:
            title, state = is_title[1], "title"
        elif after_blank and " [" in text and _place_end(text) == 0:
            name, place = last_bracket(text, "[", "]")
            if state == "entities":
                _end_text(entities)
            entities.append((ReadEntity(without(name, " "), place, title), []))
            state = "entities"
        elif state == "entities":
            entities[-1][1].append(line)
        else:
            assert line.blank
        after_blank = line.blank
    for entity, lines in entities:
        entity.runs = _plain_runs(joined(lines))
    return [entity for entity, _ in entities], sources


def _place_end(line: str) -> int | None:
    """Count the backslashes before the bracket of a line that ends like a head; None: it does not."""
    text = line.rstrip(BLANKS)
    head = text.removesuffix("]").rstrip("\\")
    if not text.endswith("]") or not PLAIN_PLACE.fullmatch(
        head[max(head.rfind(":"), head.rfind("[")) :] + "]"
    ):
        return None
    return len(text) - 1 - len(head)


def _end_text(entities: list[tuple[ReadEntity, list[Line]]]) -> None:
    """Take the empty line off that stands between a text and what follows it."""
    if not entities:
        return
    lines = entities[-1][1]
    assert lines[-1] == Line("", "\n"), lines
    lines.pop()
    if lines:
        assert lines[-1].end in {"\n", "\r\n"}
        lines[-1] = Line(lines[-1].text, lines[-1].end.removesuffix("\n"))


def _plain_runs(text: str) -> list[str]:
    lines = []
    after_blank = False
    frame = rf"{B}(?:=== .* ===|Sources:){B}"
    for line in lines_of(text):
        slashed = line.text.lstrip(BLANKS + "\\")
        if line.text.startswith("\\") and (
            re.fullmatch(frame, slashed)
            or (after_blank and re.fullmatch(rf"---{B}", slashed))
            or re.fullmatch(rf"\\+(?:\.\.\.{PLACE}?|{LEFT_OUT}){B}", line.text)
        ):
            lines.append(Line(line.text[1:], line.end))
        elif after_blank and " [" in line.text and _place_end(line.text):
            at = len(line.text.rstrip(BLANKS)) - 2
            lines.append(Line(line.text[:at] + line.text[at + 1 :], line.end))
        else:
            lines.append(line)
        # What was escaped was not blank.
        after_blank = line.blank
    runs: list[list[Line]] = [[]]
    for before, after in zip(lines_of(text), lines, strict=True):
        if before == after and GAP_LINE.fullmatch(before.text):
            runs.append([])
        else:
            runs[-1].append(after)
    texts = [joined(run) for run in runs]
    return [
        text.removesuffix("\n") if at < len(texts) - 1 else text for at, text in enumerate(texts)
    ]


# --- pages ---------------------------------------------------------------------------------------

WORDS = r"[A-Z]\w*\*\*|[A-Z][\w.-]*(?: [\w.-]+)*\*\*(?: on `| `| by |" + B + r"\Z)"
LAST_LINES = r"Category: |Files: |\(truncated|\d+ items? from |Based on \d"


@dataclass
class ReadItem:
    section: str
    kind: str
    author: str = ""
    head: str = ""
    """The rest of its first line."""
    body: str = ""
    tail: str = ""
    language: str | None = None
    fields: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class ReadPage:
    notice: bool = False
    title: str = ""
    warnings: list[str] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    items: list[ReadItem] = field(default_factory=list)
    footer: str | None = None


def read_item_text(text: str) -> str:
    """Read the text of an item back."""
    bold = re.compile(rf"\A({B})\\(\\*)\*\\(\\*)\*(?={WORDS})")
    other = re.compile(rf"\A({B})\\(\\*)(?=>|\*(?:{LAST_LINES}))")
    lines = [
        Line(
            (bold if bold.match(text) else other).sub(
                r"\1\2*\3*" if bold.match(text) else r"\1\2", text
            ),
            end,
        )
        for text, end in lines_of(text)
    ]
    return read_prose(joined(lines))


ITEM_START = re.compile(
    r"\*\*(?:Memory|Experience)\*\*: |\*\*[A-Z][\w.-]*(?: [\w.-]+)*\*\*(?: by | on `| `| \(|\Z)"
)
ITEM_HEAD = re.compile(r"\*\*([A-Z][\w.-]*(?: [\w.-]+)*)\*\*(?: by ([^\s:]+))?(.*)", re.DOTALL)


def read_page(page: str, *, whole: bool = True) -> ReadPage:
    """Read a page of items under titles; of items that are cut only what they are."""
    result = ReadPage()
    raw: list[tuple[str, list[Line]]] = []
    lines = iter(lines_of(page))
    for line in lines:
        text = line.text
        if text == NOTICE and not raw:
            assert not result.notice
            result.notice = True
        elif text.startswith("# "):
            assert not result.title
            result.title = text[2:]
        elif text.startswith("> **Missing**: "):
            result.warnings.append(text.removeprefix("> **Missing**: "))
        elif text.startswith("## "):
            result.sections.append(text[3:])
        elif text == "---":
            footer = next(lines).text
            assert footer[0] == footer[-1] == "*"
            result.footer = footer[1:-1]
        elif ITEM_START.match(text):
            raw.append((result.sections[-1], [line]))
        else:
            assert raw or line.blank
            (raw[-1][1] if raw else []).extend(_with_fence(line, lines))
    for section, item in raw:
        head = ITEM_HEAD.fullmatch(joined(item).rstrip("\n"))
        assert head
        read = ReadItem(section, head[1], head[2] or "")
        if whole:
            _read_item(read, head[3])
        result.items.append(read)
    return result


def _with_fence(line: Line, lines: Iterator[Line]) -> list[Line]:
    """Give a line, with all of the fence that it opens, if it does."""
    inside = [line]
    ticks = re.match("`{3,}", line.text)
    if ticks:
        for after in lines:
            inside.append(after)
            if after.text == ticks[0]:
                break
        else:
            raise AssertionError("a fence that nothing ends")
    return inside


def _read_item(item: ReadItem, rest: str) -> None:
    if item.kind == "Memory":
        body, _, tail = without(rest.removeprefix(": "), "*").rpartition("\n*")
        item.body, item.tail = read_item_text(body), tail
        return
    item.head, _, body = rest.partition("\n")
    if item.kind == "Experience":
        item.fields = _read_fields(body)
        return
    if item.kind == "Commit":
        last = lines_of(body)[-1:]
        if last and last[0].text.startswith("*Files: "):
            item.tail = without(last[0].text.removeprefix("*Files: "), "*")
            body = without(body.removesuffix(last[0].text), "\n")
    if body.startswith("```"):
        opening = lines_of(body)[0].text
        ticks = opening.rstrip("abcdefghijklmnopqrstuvwxyz")
        item.language = opening[len(ticks) :]
        item.body = without(body[len(opening) + 1 :], f"\n{ticks}")
    else:
        item.body = read_item_text(body)


FIELDS = "Goal|Hypothesis|Action|Prediction|Outcome|Surprise|Root cause|Lesson|Incident"


def _read_fields(text: str) -> list[tuple[str, str]]:
    fields: list[tuple[str, list[Line]]] = []
    for line in lines_of(text):
        label = re.match(rf"- \*\*({FIELDS})\*\*: ", line.text)
        if label:
            fields.append((label[1], [Line(line.text[label.end() :], line.end)]))
        else:
            fields[-1][1].append(line)
    result = []
    for at, (name, lines) in enumerate(fields):
        value = joined(lines).replace("\n  ", "\n")
        value = without(value, "\n") if at < len(fields) - 1 else value
        value = unescaped(value, rf"[-*+][ \t]+\*\*(?:{FIELDS})\*\*:", NESTED)
        result.append((name, read_item_text(value)))
    return result


# --- the template of a workspace -----------------------------------------------------------------

TEMPLATE_FRAMES = rf">[ \t]*\*\*Missing\*\*|User Query:|_No relevant content found\._{B}\Z"


@dataclass
class ReadBlocks:
    """The blocks under one title."""

    section: str
    titles: list[str]
    """Page and heading."""
    author: str
    text: str


@dataclass
class ReadTemplate:
    title: str = ""
    warnings: list[str] = field(default_factory=list)
    system: str | None = None
    sections: list[str] = field(default_factory=list)
    blocks: list[ReadBlocks] = field(default_factory=list)
    messages: list[tuple[str, str]] = field(default_factory=list)
    query: str | None = None


def read_template(page: str, speakers: Iterable[str] = ()) -> ReadTemplate:
    """Read a workspace's page; who speaks is known from the request."""
    result = ReadTemplate()
    parts: list[tuple[str, list[Line]]] = []
    lines = iter(lines_of(page))
    for line in lines:
        if line.text.startswith("## "):
            assert not result.title
            result.title = line.text[3:]
        elif line.text.startswith("> **Missing**: "):
            result.warnings.append(line.text.removeprefix("> **Missing**: "))
        elif line.text.startswith("### "):
            parts.append((line.text[4:], []))
        elif line.text == "---":
            assert next(lines).blank
            query = joined(lines)
            assert query.startswith("User Query: ")
            result.query = read_prose(query.removeprefix("User Query: "), TEMPLATE_FRAMES)
        else:
            assert parts or line.blank
            (parts[-1][1] if parts else []).extend(_with_fence(line, lines))
    for at, (title, content) in enumerate(parts):
        is_last = at == len(parts) - 1 and result.query is None
        text = joined(content) if is_last else without(joined(content), "\n\n")
        _read_part(result, title, text, speakers)
    return result


def _read_part(result: ReadTemplate, title: str, text: str, speakers: Iterable[str]) -> None:
    if title == "Instructions":
        assert result.system is None
        assert not result.sections
        result.system = read_prose(text, TEMPLATE_FRAMES)
    elif title == "Conversation":
        assert not result.messages
        result.messages = _read_messages(text, speakers)
    else:
        result.sections.append(title)
        result.blocks += _read_blocks(title, text)


def _read_blocks(section: str, text: str) -> list[ReadBlocks]:
    if text == "_No relevant content found._":
        return []
    groups: list[tuple[str, list[str]]] = []
    lines = iter(lines_of(text))
    for line in lines:
        if line.text.startswith("#### "):
            groups.append((line.text.removeprefix("#### "), []))
        elif re.match("`{3,}", line.text):
            groups[-1][1].append(joined(_with_fence(line, lines)))
        else:
            groups[-1][1].append(read_prose(line.text + line.end, TEMPLATE_FRAMES))
    result = []
    for at, (title, content) in enumerate(groups):
        body = "".join(content)
        if at < len(groups) - 1:
            body = without(body, "\n\n" if body.strip("\n") else "\n")
        if title == "(only titles)":
            assert at == len(groups) - 1
            for row in body.split("\n"):
                assert row.startswith("- ")
                result.append(ReadBlocks(section, *_read_title(row[2:]), ""))
        else:
            result.append(ReadBlocks(section, *_read_title(title), body))
    return result


def _read_title(title: str) -> tuple[list[str], str]:
    names, author = title, ""
    if re.search(r" \[by [^\]]*\]\Z", title):
        names, author = last_bracket(title, "[", "]")
        names = names.removesuffix(" ")
    titles = [read_name(name) for name in names.split(" > ")]
    return titles, read_name(author.removeprefix("by "))


def _read_messages(text: str, speakers: Iterable[str]) -> list[tuple[str, str]]:
    roles = {"user", "assistant", "system", "developer", "tool", "human", "ai", *speakers}
    names = "|".join(sorted(map(re.escape, filter(None, roles))))
    shown_names = "|".join(re.escape(_speaker(name)) for name in sorted({*speakers}))
    messages: list[tuple[str, list[Line]]] = []
    for line in lines_of(text):
        head = re.match(rf"({shown_names}): ", line.text)
        if head:
            messages.append((head[1], [Line(line.text[head.end() :], line.end)]))
        else:
            messages[-1][1].append(line)
    result = []
    for at, (speaker, lines) in enumerate(messages):
        body = joined(lines)
        body = without(body, "\n\n") if at < len(messages) - 1 else body
        body = unescaped(body, rf"(?:{names}):", B)
        result.append((read_name(speaker), read_prose(body, TEMPLATE_FRAMES)))
    return result


def _speaker(name: str) -> str:
    return shown(name).replace(":", "\\x3a")


# --- situations ----------------------------------------------------------------------------------

LABELS = (
    "Business Goal|Intent Type|Adaptations|Behavior Rules"
    "|Contexts Loaded|Rules Applied|Not Judged|Not Found"
)
CONTEXT_FRAMES = (
    rf"{BULLET}[ \t]+(?:{LABELS}):|>[ \t]*\*\*Missing\*\*"
    r"|\*\*(?:Memory|Experience|Value|Commit)\*\*[: ]"
    r"|\*\*[A-Z][\w.-]*(?: [\w.-]+)*\*\*(?: on `| `| by )"
    r"|\*(?:Category: |Files: |\(truncated|\d+ items? from |Based on \d)"
)


@dataclass
class ReadContext:
    name: str
    values: dict[str, str] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    text: str = ""


@dataclass
class ReadSituation:
    notice: bool = False
    situation: str = ""
    warnings: list[str] = field(default_factory=list)
    contexts: list[ReadContext] = field(default_factory=list)
    items: list[ReadItem] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)


def read_situation(page: str) -> ReadSituation:
    """Read the page of a situation."""
    result = ReadSituation()
    parts: dict[str, list[Line]] = {}
    lines = iter(lines_of(page))
    title = ""
    for line in lines:
        if line.text.startswith("## "):
            title = line.text[3:]
            assert title not in parts
            parts[title] = []
        elif line.text.startswith("> **Missing**: "):
            result.warnings.append(line.text.removeprefix("> **Missing**: "))
        else:
            parts[title].append(line)
    situation = joined(parts.pop("Current Situation")).rstrip("\n")
    opening = lines_of(situation)[0].text
    result.situation = without(
        situation.removeprefix(opening + "\n"), "\n" + opening.removesuffix("json")
    )
    result.metadata = [line.text for line in parts.pop("Assembly Metadata")]
    for name, content in parts.items():
        text = without(joined(content).removeprefix("\n"), "\n\n")
        if name == "Active Contexts":
            result.contexts = _read_contexts(text)
        else:
            learned = read_page(f"## {name}\n\n{text}")
            result.items, result.notice = learned.items, learned.notice
    return result


def _without_end(text: str) -> str:
    """Take off what stands between two contexts; of one without a text, only its heading ends."""
    return without(text, "\n\n" if text.strip("\n") else "\n")


def _read_contexts(text: str) -> list[ReadContext]:
    raw: list[tuple[str, list[Line]]] = []
    for line in lines_of(text):
        if line.text.startswith("### "):
            raw.append((line.text[4:], []))
        else:
            raw[-1][1].append(line)
    return [
        _read_context(name, joined(lines) if at == len(raw) - 1 else _without_end(joined(lines)))
        for at, (name, lines) in enumerate(raw)
    ]


def _read_context(name: str, text: str) -> ReadContext:
    context = ReadContext(name)
    head, _, prose = _split_labels(text)
    context.text = read_prose(prose, CONTEXT_FRAMES)
    label = ""
    entries: list[tuple[str, list[Line]]] = []
    for line in lines_of(head):
        found = re.match(rf"- ({LABELS}):(?: |\Z)", line.text)
        if found:
            label = found[1]
            entries.append((label, [Line(line.text[found.end() :], line.end)]))
        elif label == "Behavior Rules" and line.text.startswith("  - "):
            entries.append(("rule", [Line(line.text[4:], line.end)]))
        else:
            entries[-1][1].append(line)
    for at, (key, lines) in enumerate(entries):
        value = joined(lines)
        value = (without(value, "\n") if at < len(entries) - 1 else value).replace("\n  ", "\n")
        if key == "rule":
            context.rules.append(value)
        elif key != "Behavior Rules":
            context.values[key] = read_prose(value, CONTEXT_FRAMES)
    return context


def _split_labels(text: str) -> tuple[str, str, str]:
    """Split a context at the first empty line: labels before it, prose behind it."""
    head, blank, prose = f"\n{text}".partition("\n\n")
    return head.removeprefix("\n"), blank, prose


def read_rule(text: str) -> str:
    """Read a part of a rule back."""
    return read_prose(unescaped(text, rf"{BULLET}[ \t]", B), CONTEXT_FRAMES)


# --- the code map --------------------------------------------------------------------------------


def read_codemap(page: str) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Read files with the depth, line and declaration of their definitions."""
    files: list[tuple[str, list[tuple[int, int, str]]]] = []
    for line in lines_of(page):
        found = re.fullmatch(r"((?:  )+)(\d+): (.*)", line.text)
        if found:
            files[-1][1].append((len(found[1]) // 2 - 1, int(found[2]), found[3]))
        elif line.text:
            files.append((read_name(without(line.text, ":")), []))
    return files
