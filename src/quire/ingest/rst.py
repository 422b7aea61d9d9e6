"""What is in a reStructuredText file?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.core.types import IngestSettings
from quire.ingest import front_matter, heading_splitter, prose_splitter, sections
from quire.ingest.types import ParsedFile, SourceFile, clean_title, collapse_whitespace

ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*\Z")
SHORT_ADORNMENT = 4
BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")
MADE_OF_LINES = re.compile(r"[ \t|+]|={3}|[-*#]\s")
LITERAL = re.compile(r"::[ \t]*\n\s*\Z")
DOC_ROLE = re.compile(r":doc:`(?:[^`<>]{0,500}<([^`<>\n]{1,500})>|([^`<>\n]{1,500}))`")
EMBEDDED = re.compile(r"`[^`<>]{1,500}<([^`<>\s]{1,500})>`_")
MARKS = re.compile(
    r":[a-z:+-]{1,40}:`([^`<]{0,400}?)(?:\s*<[^`>]{0,400}>)?`|``([^`]{0,400})``"
    r"|[*]{1,2}([^*]{1,400})[*]{1,2}|`([^`<]{1,400}?)(?:\s*<[^`>]{0,400}>)?`_{0,2}"
)
NOT_SAID = re.compile(r"\.\. |__ |:[^:\n`]{1,60}:(?:\s|\Z)|([!-/:-@\[-`{-~])\1+[ \t]*(?:\n|\Z)")
ITEM = re.compile(r"\A\s*(?:[-*+•]|\w{1,3}[.)]|\|)\s+")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Cut a reStructuredText along its titles, and find its links."""
    text = source.text
    matter = front_matter.parse(text)
    if not matter.end:
        matter = front_matter.parse_header(text)
    found = list(parse_blocks(text, matter.end))
    described = sections.about(source.path, text, found, _words, matter.title)
    return ParsedFile(
        text,
        tuple(heading_splitter.split(text, found, settings)),
        title=described.title,
        author=matter.author,
        modified=matter.modified,
        attrs={**described.attrs, **matter.attrs},
        links=tuple(find_links(text)),
        root_kind=described.root_kind,
        summary=matter.summary or described.summary,
        entities=described.entities,
    )


def parse_blocks(text: str, matter_end: int) -> Iterator[heading_splitter.TextBlock]:
    """Give the titles and paragraphs of a text in their order."""
    titles = _titles(text)
    for start, end, title in _stretches(text, titles):
        if title:
            yield title
        else:
            yield from _paragraphs(text, start, end, matter_end)


def _stretches(
    text: str, titles: list[tuple[heading_splitter.TextBlock, int]]
) -> Iterator[tuple[int, int, heading_splitter.TextBlock | None]]:
    at = 0
    for title, end in titles:
        if title.start > at:
            yield at, title.start, None
        yield title.start, end, title
        at = end
    if at < len(text):
        yield at, len(text), None


def _titles(text: str) -> list[tuple[heading_splitter.TextBlock, int]]:
    """Find the titles: a line with a line of one repeated sign below it, and perhaps above.

    The kinds of adornment are levels in the order in which they first appear.
    """
    titles: list[tuple[heading_splitter.TextBlock, int]] = []
    levels: dict[tuple[str, bool], int] = {}
    above = title = ""
    at = 0
    for line in text.split("\n"):
        used = False
        if title.strip() and ADORNMENT.match(line) and _long_enough(line, title.strip()):
            over = above.rstrip() == line.rstrip()
            if over or not (above.strip() or title[0].isspace() or ADORNMENT.match(title)):
                level = levels.setdefault((line[0], over), len(levels) + 1)
                start = at - len(title) - 1 - (len(above) + 1 if over else 0)
                end = _next_line_with_words(text, at + len(line) + 1)
                titles.append((heading_splitter.TextBlock(start, level, _plain(title)), end))
                used = True
        # The line below one title is not the line above the next.
        above, title = title, "" if used else line
        at += len(line) + 1
    return titles


def _next_line_with_words(text: str, at: int) -> int:
    blank = BLANK_LINES.match(text, at)
    return blank.end() if blank else at


def _long_enough(adornment: str, title: str) -> bool:
    length = len(adornment.rstrip())
    return length >= SHORT_ADORNMENT or length >= len(title)


def _plain(title: str) -> str:
    return clean_title(_unmarked(title))


def _words(paragraph: str) -> str:
    """Give the words of a paragraph or a list's item on one line, without marks."""
    return collapse_whitespace(_unmarked(ITEM.sub("", paragraph)).replace("\\ ", ""))


def _unmarked(content: str) -> str:
    return MARKS.sub(lambda match: next(filter(None, match.groups()), ""), content)


def _paragraphs(
    text: str, start: int, end: int, matter_end: int
) -> Iterator[heading_splitter.TextBlock]:
    """Go through the paragraphs; what is indented below `::` or a directive stays with it."""
    head: int | None = None
    line_based = verbatim = opens = False
    for first, last in prose_splitter.paragraphs(text, start, end):
        indented = text[first] in " \t"
        if head is not None and opens and indented:
            line_based = verbatim = True
            continue
        if head is not None:
            yield heading_splitter.TextBlock(head, line_based=line_based, verbatim=verbatim)
        head = first
        line_based = bool(MADE_OF_LINES.match(text, first))
        verbatim = first < matter_end or bool(NOT_SAID.match(text, first))
        opens = text.startswith(".. ", first) or bool(
            LITERAL.search(text, max(first, last - 200), last)
        )
    if head is not None:
        yield heading_splitter.TextBlock(head, line_based=line_based, verbatim=verbatim)


def find_links(text: str) -> Iterator[str]:
    """Give the addresses that a text links to."""
    for match in DOC_ROLE.finditer(text):
        target = (match[1] or match[2]).strip()
        yield f"{target}.rst"
    for match in EMBEDDED.finditer(text):
        yield match[1]
