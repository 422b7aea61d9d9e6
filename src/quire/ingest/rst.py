"""Reader for reStructuredText files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.core.types import IngestSettings
from quire.ingest import front_matter, heading_splitter, prose_splitter, sections
from quire.ingest.types import ParsedFile, SourceFile, clean_title, collapse_whitespace

ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*\Z")
LONG_ADORNMENT = 4
"""An adornment at least this long may be shorter than its title."""
BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")
LINE_BASED = re.compile(r"[ \t|+]|={3}|[-*#]\s")
LITERAL_MARKER = re.compile(r"::[ \t]*\n\s*\Z")
DOC_ROLE = re.compile(r":doc:`(?:[^`<>]{0,500}<([^`<>\n]{1,500})>|([^`<>\n]{1,500}))`")
EMBEDDED_URI = re.compile(r"`[^`<>]{1,500}<([^`<>\s]{1,500})>`_")
INLINE_MARKUP = re.compile(
    # The blanks before an address are read from their first on, and once.
    r":[a-z:+-]{1,40}:`([^`<]{0,400}?)(?:(?<!\s)\s*+<[^`>]{0,400}>)?`|``([^`]{0,400})``"
    r"|[*]{1,2}([^*]{1,400})[*]{1,2}"
    r"|`([^`<]{1,400}?)(?:(?:(?<!\s)|(?<=`\s))\s*+<[^`>]{0,400}>)?`_{0,2}"
)
NON_PROSE = re.compile(r"\.\. |__ |:[^:\n`]{1,60}:(?:\s|\Z)|([!-/:-@\[-`{-~])\1+[ \t]*(?:\n|\Z)")
ITEM = re.compile(r"\A\s*(?:[-*+•]|\w{1,3}[.)]|\|)\s+")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Split a reStructuredText document along its titles, and find its links."""
    text = source.text
    matter = front_matter.parse(text)
    if not matter.end:
        matter = front_matter.parse_header(text)
    blocks = list(parse_blocks(text, matter.end))
    structure = sections.analyze(source.path, text, blocks, _to_plain, matter.title)
    return ParsedFile(
        text,
        tuple(heading_splitter.split(text, blocks, settings)),
        title=structure.title,
        author=matter.author,
        modified=matter.modified,
        attrs={**structure.attrs, **matter.attrs},
        links=tuple(find_links(text)),
        root_kind=structure.root_kind,
        summary=matter.summary or structure.summary,
        entities=structure.entities,
    )


def parse_blocks(text: str, matter_end: int) -> Iterator[heading_splitter.TextBlock]:
    """Yield the titles and paragraphs of a text in their order."""
    titles = _find_titles(text)
    for start, end, title in _split_at_titles(text, titles):
        if title:
            yield title
        else:
            yield from _parse_paragraphs(text, start, end, matter_end)


def _split_at_titles(
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


def _find_titles(text: str) -> list[tuple[heading_splitter.TextBlock, int]]:
    """Find the titles, each with its end: a line with an adornment below it, optionally above.

    An adornment is a line of one repeated character. Each kind of adornment is a level, in the
    order in which they first appear.
    """
    titles: list[tuple[heading_splitter.TextBlock, int]] = []
    levels: dict[tuple[str, bool], int] = {}
    above = title = ""
    at = 0
    for line in text.split("\n"):
        is_title = False
        if title.strip() and ADORNMENT.match(line) and _is_long_enough(line, title.strip()):
            has_overline = above.rstrip() == line.rstrip()
            if has_overline or not (above.strip() or title[0].isspace() or ADORNMENT.match(title)):
                level = levels.setdefault((line[0], has_overline), len(levels) + 1)
                start = at - len(title) - 1 - (len(above) + 1 if has_overline else 0)
                end = _skip_blank_lines(text, at + len(line) + 1)
                titles.append((heading_splitter.TextBlock(start, level, _plain_title(title)), end))
                is_title = True
        # The adornment below one title is not the one above the next.
        above, title = title, "" if is_title else line
        at += len(line) + 1
    return titles


def _skip_blank_lines(text: str, at: int) -> int:
    blank = BLANK_LINES.match(text, at)
    return blank.end() if blank else at


def _is_long_enough(adornment: str, title: str) -> bool:
    length = len(adornment.rstrip())
    return length >= LONG_ADORNMENT or length >= len(title)


def _plain_title(title: str) -> str:
    return clean_title(_strip_markup(title))


def _to_plain(paragraph: str) -> str:
    """Return the words of a paragraph or a list item on one line, without markup."""
    return collapse_whitespace(_strip_markup(ITEM.sub("", paragraph)).replace("\\ ", ""))


def _strip_markup(content: str) -> str:
    return INLINE_MARKUP.sub(lambda match: next(filter(None, match.groups()), ""), content)


def _parse_paragraphs(
    text: str, start: int, end: int, matter_end: int
) -> Iterator[heading_splitter.TextBlock]:
    """Yield the paragraphs; text indented below `::` or a directive stays with it."""
    block_start: int | None = None
    line_based = verbatim = takes_indented = False
    for first, last in prose_splitter.iter_paragraphs(text, start, end):
        indented = text[first] in " \t"
        if block_start is not None and takes_indented and indented:
            line_based = verbatim = True
            continue
        if block_start is not None:
            yield heading_splitter.TextBlock(block_start, line_based=line_based, verbatim=verbatim)
        block_start = first
        line_based = bool(LINE_BASED.match(text, first))
        verbatim = first < matter_end or bool(NON_PROSE.match(text, first))
        takes_indented = text.startswith(".. ", first) or bool(
            LITERAL_MARKER.search(text, max(first, last - 200), last)
        )
    if block_start is not None:
        yield heading_splitter.TextBlock(block_start, line_based=line_based, verbatim=verbatim)


def find_links(text: str) -> Iterator[str]:
    """Yield the targets of the links in a text."""
    for match in DOC_ROLE.finditer(text):
        target = (match[1] or match[2]).strip()
        yield f"{target}.rst"
    for match in EMBEDDED_URI.finditer(text):
        yield match[1]
