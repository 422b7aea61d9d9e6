r"""Escaping: what a line of a source may look like in each format.

A format has lines of its own: markers, headings, labels, separators. A source may contain the same
characters. One function per format decides which lines of a text could pass for a line of the
format, and puts a backslash into each of them; every other line stays as it is, to the byte.

- A line begins after any line end that a reader may see: `\n`, `\r\n`, a bare `\r`, VT, FF, FS, GS,
  RS, NEL, U+2028 and U+2029; blanks and invisible characters before a frame do not hide it.
- Escaping can be undone: where a source has the backslash already, it gets one more.
- Names (paths, titles, authors) stay in one line: control characters, characters that override the
  direction of writing and those that nobody sees are shown as `\x1b`, `\u202e` or `\U000e0041`.

Letters that only look like others (a bracket of another script, a Cyrillic letter) are not escaped,
nor soft hyphens, and signs that join or part letters only beside a letter of ASCII: other scripts
and emoji need them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from quire.core.serialize import HIDDEN, escape_json

LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Every character that ends a line for some reader; `str.splitlines` knows the same ones."""
_BLANK_RANGES = (
    *((0x00, 0x09), (0x0E, 0x1B), (0x1F, 0x20), (0x7F, 0x84), (0x86, 0xA0), (0xAD, 0xAD)),
    *((0x61C, 0x61C), (0x1680, 0x1680), (0x180E, 0x180E), (0x2000, 0x200F), (0x202A, 0x202F)),
    *((0x205F, 0x2064), (0x2066, 0x206F), (0x3000, 0x3000), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB)),
    *((0xE0001, 0xE0001), (0xE0020, 0xE007F)),
)
"""Blanks and characters that nobody sees, without the line ends."""
_BLANKS = "".join(f"{chr(first)}-{chr(last)}" for first, last in _BLANK_RANGES)
"""The same, as in a character class."""
_BLANK_CHARS = "".join(chr(n) for first, last in _BLANK_RANGES for n in range(first, last + 1))
_START = f"(?<![^{LINE_ENDS}])"
_END = f"(?=[{LINE_ENDS}]|\\Z)"
_BLANK = f"[{_BLANKS}]*"
_NOT_BLANK = re.compile(f"[^{_BLANKS}{LINE_ENDS}]")
_CACHE_SIZE = 1024
"""The whole page is rendered again for each piece that may fit: texts are escaped once."""

# --- names: one line, nothing hidden -------------------------------------------------------------

_UNSEEN = "\u180e\u2061-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f"
"""Characters that nobody sees, as in a character class."""
_JOINERS = "\u200b-\u200d\u2060"
"""Those that join or part letters, in scripts that need them."""
HIDDEN_IN_NAMES = re.compile(
    f"[{HIDDEN}{_UNSEEN}]|(?<![^\x00-\x7f{_JOINERS}])[{_JOINERS}]|[{_JOINERS}](?![^\x00-\x7f{_JOINERS}])"
)
_ESCAPE_LIKE = re.compile(r"x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}")
_LINE_NUMBER = re.compile(r":\d+\Z")


def escape_line(text: str) -> str:
    """Escape what would break a line, steer a terminal or reverse the order of letters."""
    if text.isprintable():
        return text
    return HIDDEN_IN_NAMES.sub(lambda match: _code(match[0]), text)


def escape_in_json(text: str) -> str:
    """Escape in JSON on a page what nobody sees in a name; it means the same."""
    return HIDDEN_IN_NAMES.sub(
        lambda match: match[0] if match[0] == "\n" else json.dumps(match[0])[1:-1],
        escape_json(text),
    )


def escape_name(name: str, brackets: str = "", extra: Iterable[int] = ()) -> str:
    r"""Escape a name that identifies a source, so that no two names look the same.

    Args:
        name: The name, such as a path.
        brackets: The pair of brackets that the name stands in, if it does: then brackets of the
            name that have no partner are escaped as well.
        extra: Indexes of characters that are escaped in any case.
    """
    hidden = {*extra, *_unmatched(name, brackets)}
    if not hidden and name.isprintable() and "\\" not in name:
        return name
    parts: list[str] = []
    backslashes = 0
    for index, char in enumerate(name):
        if char == "\\":
            backslashes += 1
            continue
        escaped = index in hidden or HIDDEN_IN_NAMES.match(name, index) is not None
        doubled = escaped or _ESCAPE_LIKE.match(name, index) is not None
        parts.append("\\" * (2 * backslashes if doubled else backslashes))
        parts.append(_code(char) if escaped else char)
        backslashes = 0
    return "".join(parts) + "\\" * backslashes


def escape_place(path: str, line: int, brackets: str = "") -> str:
    """Return the name of a place, `path:line`; a path without lines cannot pass for another's."""
    number = _LINE_NUMBER.search(path)
    name = escape_name(path, brackets, () if number is None else (number.start(),))
    return f"{name}:{line}" if line else name


def escape_author(name: str) -> str:
    """Escape the name of an author, so that it is one word and ends no head."""
    return escape_name(
        name, extra=(at for at, char in enumerate(name) if char in ":,[]`" or char.isspace())
    )


def code_span(name: str) -> str:
    """Return a name as a Markdown code span, whether it contains back-ticks or not."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", name)), default=0))
    pad = " " if name.startswith("`") or name.endswith("`") else ""
    return f"{ticks}{pad}{name}{pad}{ticks}"


def escape_start(name: str) -> str:
    """Escape a name at the beginning of a Markdown line, so that it starts no list or fence."""
    return f"\\{name}" if _MARKDOWN_START.match(name) else name


_MARKDOWN_START = re.compile(r"\\*[ `~#<=>+*|-]")


def _code(char: str) -> str:
    if char <= "\xff":
        return f"\\x{ord(char):02x}"
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"


def _unmatched(name: str, brackets: str) -> Iterable[int]:
    """Return the indexes of brackets without a partner."""
    if not brackets or not (brackets[0] in name or brackets[1] in name):
        return ()
    unmatched, opened = [], []
    for index, char in enumerate(name):
        if char == brackets[0]:
            opened.append(index)
        elif char == brackets[1] and opened:
            opened.pop()
        elif char == brackets[1]:
            unmatched.append(index)
    return (*unmatched, *opened)


# --- texts as they are: markers, plain, fences, XML ----------------------------------------------

GAP = "..."
"""Stands where text is left out, on a line of its own."""
TRUNCATED = "... (truncated)"
KINDS_WITHOUT_PATH = ("commit", "memory", "experience", "value", "block")
"""Kinds of records that are no files; their kind stands in place of a path."""
_PREFIX = rf"{_START}[{_BLANKS}\\]*"
_LEFT_OUT = (
    r"(?:(?:#|//|--|;;?|%|!|/\*|\(\*|\"|::|<!--) )?"
    r"… (?:(?:\d+ )?lines? left out|continues at line \d+(?: in a docstring)?)"
    r"(?: (?:\*/|\*\)|-->))?"
)
"""A line that stands for lines of code (`rendering/left_out.py`)."""
_LINE = rf"(?: \(line \d+(?:, in [^{LINE_ENDS}]+)?\))"
_MARK = rf"\.\.\.{_LINE}?{_BLANK}{_END}"
_MARKER = re.compile(rf"{_PREFIX}(?=\[DOC:)|{_START}\\*(?={_MARK})")
_METADATA = re.compile(
    rf"{_PREFIX}(?=\[DOC:|\((?:lines \d+-\d+, )?score \d)|{_START}\\*(?={_MARK})"
)
_GAP = re.compile(rf"{_START}\\*(?=(?:{_MARK}|(?:\.\.\. \(truncated\)|{_LEFT_OUT}){_BLANK}{_END}))")
_ESCAPED_MARK = re.compile(r"^\\(?=\.\.\.$)", re.MULTILINE)
_PLAIN_HINT = re.compile(r"---|===|Sources:|\.\.\.|…|\]")
_PLAIN_FRAME = re.compile(
    rf"(?:[{_BLANKS}\\]*(?:={{3}} .* ={{3}}|Sources:)"
    rf"|\\*(?:\.\.\.{_LINE}?|{_LEFT_OUT})){_BLANK}\Z",
    re.DOTALL,
)
_PLAIN_RULE = re.compile(rf"[{_BLANKS}\\]*---{_BLANK}\Z")
_PLAIN_PLACE = re.compile(
    rf"(?::\d+|\[(?:{'|'.join(KINDS_WITHOUT_PATH)})(?:\.[\w-]+)?)\Z", re.ASCII
)
_MAX_PLACE_END = 60
"""The longest line number or kind that could stand in a place."""


def escape_markers(text: str, *, metadata: bool = False) -> str:
    """Escape a text under a marker: no line is a `[DOC: ...]`, the mark of a gap or of a cut.

    With metadata no line is a `(lines ...)` either.
    """
    if "[DOC:" not in text and GAP not in text and not (metadata and "score " in text):
        return text
    return (_METADATA if metadata else _MARKER).sub(r"\\\g<0>", text)


def gap_mark(line: int = 0, within: str = "") -> str:
    """Return the mark of a gap: where text is left out before a line, if that is known.

    It may name what the text behind it stands in.
    """
    named = f", in {escape_line(within)}" if within else ""
    return f"{GAP} (line {line}{named})" if line else GAP


def escape_gaps(text: str) -> str:
    """Escape an entity's text: no line is the mark of a gap or of a cut."""
    return _GAP.sub(r"\\\g<0>", text) if GAP in text or "…" in text else text


def restore_marks(text: str) -> str:
    """Undo the escaping of the marks that an extract has of its own."""
    return _ESCAPED_MARK.sub("", text)


@lru_cache(_CACHE_SIZE)
def escape_plain(text: str) -> str:
    """Escape an entity's text in plain format: no line is a title, a rule, a head or a footer.

    A head, `name [path:line]`, stands after an empty line, so only such lines are escaped, at the
    closing bracket: the name of a real one may begin with a backslash.
    """
    if not _PLAIN_HINT.search(text):
        return text
    lines: list[str] = []
    after_blank = False
    for line in text.splitlines(keepends=True):
        bare = line.rstrip(LINE_ENDS)
        lines.append(_escape_plain_line(bare, after_blank=after_blank) + line[len(bare) :])
        after_blank = _NOT_BLANK.search(bare) is None
    return "".join(lines)


def _escape_plain_line(line: str, *, after_blank: bool) -> str:
    if _PLAIN_FRAME.match(line) or (after_blank and _PLAIN_RULE.match(line)):
        return f"\\{line}"
    text = line.rstrip(_BLANK_CHARS)
    if not after_blank or not text.endswith("]") or " [" not in text:
        return line
    head = text[:-1].rstrip("\\")
    if not _PLAIN_PLACE.search(head, max(0, len(head) - _MAX_PLACE_END)):
        return line
    return f"{head}\\{line[len(head) :]}"


# --- prose: Markdown without headings, rules, fences ---------------------------------------------

_BACKTICKS = re.compile(r"`{3,}")
_CARRIAGE_RETURN = re.compile(r"\r\n?")
_NESTED = rf"(?:{_BLANK}(?:>|(?:[-*+]|\d{{1,9}}[.)])(?=[ \t])))*?{_BLANK}"
"""The beginning of a line in quotes and lists."""
_BLOCK = re.compile(
    rf"{_START}({_NESTED})(\\*)"
    r"(?=`{3}|~{3}|\#|<|={2}|-{2}|\*{3}|_{3}"
    rf"|[=-][ \t]*{_END}|(?:-[ \t]+){{2}}-|(?:\*[ \t]+){{2}}\*|_[ \t]+_)(.)"
)
"""The beginning of a line that would start another Markdown block than a paragraph; its first
character is part of the match, so that a line is escaped once."""


def escape_paragraph(text: str) -> str:
    """Escape a text so that Markdown reads none of its lines as a heading, a fence or a rule."""
    return _BLOCK.sub(r"\1\\\2\3", _CARRIAGE_RETURN.sub("\n", text))


def fence(text: str) -> str:
    """Return a code fence that no line of a text can end."""
    usual = "```"
    if usual not in text:
        return usual
    return "`" * (1 + max(map(len, _BACKTICKS.findall(text))))


def _frames(*frames: str, nested: bool = True) -> Callable[[str], str]:
    """Return a function that escapes the lines which begin with a frame, in quotes and lists too.

    With `nested` off, only at the very beginning of a line.
    """
    before = _NESTED if nested else _BLANK
    pattern = re.compile(rf"{_START}({before})(\\*)(?={'|'.join(frames)})(.)")
    return lambda text: pattern.sub(r"\1\\\2\3", text)


# The summary of an entity stands outside its fence.
_escape_sources = _frames(r"\*\*Sources:\*\*")


_INDENTED = re.compile(r"((?>\r\n|\r|\n)[ \t]*+(?>\r\n|\r|\n))[ \t]+")
"""The indentation of a line after an empty one, which makes it code."""


def escape_summary(text: str) -> str:
    """Escape the summary of an entity in Markdown: no line of it is code."""
    return escape_prose(_INDENTED.sub(r"\1", text))


def escape_prose(text: str) -> str:
    """Escape the text of an entity that stands outside a fence in Markdown."""
    return _escape_sources(escape_paragraph(text))


@lru_cache(_CACHE_SIZE)
def escape_document(text: str, *, continues: bool = False) -> str:
    """Escape prose in which blocks of code may stand; these stay as they are.

    A block that is cut off is closed, so that what follows it is none of it. A text that
    `continues` another may begin inside a block, which is opened again.
    """
    text = _CARRIAGE_RETURN.sub("\n", text)
    text = _open_code(text) if continues else text
    return _escape_outside_code(
        _close_code(text), lambda part: _escape_outside_indented(part, escape_prose)
    )


# --- items of a page -----------------------------------------------------------------------------

_SENTENCE_GAP = " ..."
"""Stands where an extract leaves out sentences, within a line."""
_KIND = r"[A-Z][\w.-]*(?: [\w.-]+)*"
_ITEM = re.compile(
    rf"{_START}({_BLANK})(\\*)(?:"
    r"(?=>|\*(?:Category: |Files: |\(truncated|\d+ items? from |Based on \d))"
    rf"|\*(\\*)\*(?=[A-Z]\w*\*\*|{_KIND}\*\*(?: on `| `| by |{_BLANK}{_END})))"
)
"""The beginning of a line that looks like an item, its last line, a warning or a footer."""


def escape_item(text: str) -> str:
    """Escape the text of an item on a page: no line is a title, another item or a footer."""
    return _ITEM.sub(_escape_mark, escape_paragraph(text.strip()))


def escape_field(text: str, labels: Sequence[str]) -> str:
    """Escape one field of an item that has several: no line is the label of another field."""
    return _labels(tuple(labels))(escape_item(text))


def _escape_mark(match: re.Match[str]) -> str:
    blanks, backslashes, between = match.groups()
    bold = "" if between is None else f"*\\{between}*"
    return f"{blanks}\\{backslashes}{bold}"


@lru_cache(_CACHE_SIZE)
def _labels(labels: tuple[str, ...]) -> Callable[[str], str]:
    names = "|".join(map(re.escape, labels))
    return _frames(rf"[-*+][ \t]+\*\*(?:{names})\*\*:")


def escape_cut(text: str, whole: str, escape: Callable[[str], str]) -> str:
    """Escape what a cut made of an escaped text.

    A line that the whole text begins in the same way, up to a gap, is escaped already; any other
    was inside a line before, or a language model wrote it.
    """
    whole = f"\n{whole}"
    lines = (
        line if f"\n{line.partition(_SENTENCE_GAP)[0]}" in whole else escape(line)
        for line in text.split("\n")
    )
    return "\n".join(lines)


# --- a workspace ---------------------------------------------------------------------------------

NO_CONTENT = "_No relevant content found._"
ROLES = ("user", "assistant", "system", "developer", "tool", "human", "ai")
"""Who speaks in a conversation, whoever takes part in this one."""
_escape_template = _frames(
    r">[ \t]*\*\*Missing\*\*",
    r"User Query:",
    rf"{re.escape(NO_CONTENT)}{_BLANK}{_END}",
    r"_\d+ of \d+ tasks are shown\._",
)
_FENCE = re.compile(
    r"^ {0,3}+(?P<marks>`{3,}+(?=[^`\n]*+$)|~{3,}+)(?![`~])(?P<info>[^\n]*+)$", re.MULTILINE
)
"""A line that opens a block of code, or closes one, if nothing else stands in it."""


@lru_cache(_CACHE_SIZE)
def escape_block(text: str) -> str:
    """Escape a text in a workspace: no line is a title, the head of a block or the query.

    A block of code stays as it is, if its fences are those of one.
    """
    text = _CARRIAGE_RETURN.sub("\n", text)
    return _escape_outside_code(text, lambda part: _escape_template(escape_paragraph(part)))


def _escape_outside_code(text: str, escape: Callable[[str], str]) -> str:
    """Escape a text except for its blocks of code in fences."""
    parts: list[str] = []
    end = 0
    for start, stop in _code_blocks(text):
        parts += escape(text[end:start]), text[start:stop]
        end = stop
    return "".join((*parts, escape(text[end:])))


def _escape_outside_indented(text: str, escape: Callable[[str], str]) -> str:
    """Escape a text except for indented lines below a paragraph: Markdown takes them for code.

    Below an item of a list they would be a part of that.
    """
    parts: list[str] = []
    end = 0
    for block in _INDENTED_CODE.finditer(text):
        parts += escape(text[end : block.start("code")]), block["code"]
        end = block.end("code")
    return "".join((*parts, escape(text[end:])))


_PARAGRAPH_LINE = rf"[^\s\d>*+\-<|#`~\[:!][^{LINE_ENDS}]*+\n"
_INDENTED_CODE = re.compile(
    rf"(?:\A|(?<=\n\n))(?:{_PARAGRAPH_LINE})++\n"
    rf"(?P<code>(?: {{4}}[^{LINE_ENDS}]*+(?:\n|\Z)|\n(?=\n*+ {{4}}))++)"
)
"""A paragraph, an empty line, and lines that are indented by four blanks or more."""


def _close_code(text: str) -> str:
    """Return a text with an end for the block of code that its last fence opens, if it does.

    A fence that names a language opens a block; another may as well end one that began above.
    """
    fences = list(_FENCE.finditer(text))
    if not fences or not fences[-1]["info"].strip():
        return text
    return f"{text.rstrip(chr(10))}\n{fences[-1]['marks']}"


def _open_code(text: str) -> str:
    """Return a text with a beginning for the block of code that its first fence ends, if it does.

    It does if the fences below it are those of whole blocks, and the line above it ends as code
    does: prose above a block ends with a word, a full stop or a colon.
    """
    first = _FENCE.search(text)
    if first is None or first["info"].strip() or not _ends_with_code(text[: first.start()]):
        return text
    if _is_whole(text) or not _is_whole(text[first.end() :]):
        return text
    return f"{first['marks']}\n{text}"


def _ends_with_code(text: str) -> bool:
    """Tell whether the last line of a text is code: it is indented, or ends with a bracket."""
    line = text.rstrip().rpartition("\n")[2]
    return line.startswith((" ", "\t")) or line.endswith((")", "]", "}", ";", ">"))


def _is_whole(text: str) -> bool:
    """Tell whether all fences of a text open and close blocks of code by turns."""
    opened = ""
    for fence in _FENCE.finditer(text):
        if not opened:
            opened = fence["marks"]
        elif _closes(fence, opened):
            opened = ""
        elif fence["marks"].startswith(opened):
            return False  # it opens another one
    return not opened


def _code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the blocks of code in fences; one that is never closed is none."""
    fences = list(_FENCE.finditer(text))
    never_closed: dict[str, int] = {}
    at = 0
    while at < len(fences):
        marks = fences[at]["marks"]
        following = range(at + 1, len(fences))
        if len(marks) >= never_closed.get(marks[0], len(text)):
            following = range(0)  # as another one of at most this length
        closing = next((n for n in following if _closes(fences[n], marks)), None)
        if closing is None:
            never_closed[marks[0]] = min(len(marks), never_closed.get(marks[0], len(marks)))
            at += 1
        else:
            yield fences[at].start(), fences[closing].end()
            at = closing + 1


def _closes(fence: re.Match[str], marks: str) -> bool:
    return fence["marks"].startswith(marks) and not fence["info"].strip(" \t")


def escape_listed(line: str) -> str:
    """Escape a title in a list: there it could be read as a part of the template."""
    return _escape_template(line)


def escape_message(text: str, speakers: Iterable[str]) -> str:
    """Escape a message of a conversation: no line is the beginning of another message."""
    return _speakers(frozenset(speakers))(escape_block(text))


@lru_cache(_CACHE_SIZE)
def _speakers(speakers: frozenset[str]) -> Callable[[str], str]:
    names = "|".join(sorted(map(re.escape, {*ROLES, *speakers} - {""})))
    return _frames(rf"(?:{names}):", nested=False)


def escape_title(name: str) -> str:
    """Escape the name of a page or heading: it is one name, and says nothing of an author."""
    marks = [match.start(1) for match in _TITLE_MARKS.finditer(name)]
    return escape_name(name, extra=marks)


_TITLE_MARKS = re.compile(r"(?<=\s)([>\[])(?=\s|by )")


# --- a situation ---------------------------------------------------------------------------------

CONTEXT_LABELS = ("Business Goal", "Intent Type", "Adaptations", "Behavior Rules")
ASSEMBLY_LABELS = ("Contexts Loaded", "Rules Applied", "Not Judged", "Not Found")
_BULLET = r"(?:[-*+]|\d{1,9}[.)])[ \t]"
_escape_labels = _frames(
    rf"{_BULLET}+(?:{'|'.join((*CONTEXT_LABELS, *ASSEMBLY_LABELS))}):",
    r">[ \t]*\*\*Missing\*\*",
    r"\*\*(?:Memory|Experience|Value|Commit)\*\*[: ]",
    rf"\*\*{_KIND}\*\*(?: on `| `| by )",
    r"\*(?:Category: |Files: |\(truncated|\d+ items? from |Based on \d)",
)
_RULE = re.compile(rf"{_START}({_BLANK})(\\*)(?={_BULLET})")


def escape_context(text: str) -> str:
    """Escape the prose or a value of a context file: no line is a rule, a label or an item."""
    return _escape_labels(escape_paragraph(text))


def escape_rule(text: str) -> str:
    """Escape a part of a rule: no line of it is another rule."""
    return _RULE.sub(r"\1\\\2", escape_context(text))
