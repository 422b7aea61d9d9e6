"""Reader for Gherkin files (`.feature`).

Finds features, rules and scenarios by their English keywords. Tags and comments above a keyword
belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.core.types import IngestSettings
from quire.ingest import heading_splitter, prose_splitter, sections
from quire.ingest.types import ParsedFile, SourceFile, clean_title, collapse_whitespace

LEVELS = {"Feature": 1, "Rule": 2}
DEFAULT_LEVEL = 3
KEYWORD = re.compile(
    r"[ \t]*(Feature|Rule|Background|Scenario(?: Outline| Template)?|Example)[ \t]*:(.*)"
)
TAG_OR_COMMENT = re.compile(r"[ \t]*[@#]")
DOC_STRING = re.compile(r'[ \t]*("""|```)')
TABLE = re.compile(r"[ \t]*(?:\||Examples|Scenarios)")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Split a Gherkin file before its features, rules and scenarios."""
    text = source.text
    blocks = list(_parse_blocks(text))
    structure = sections.analyze(source.path, text, blocks, collapse_whitespace)
    return ParsedFile(
        text,
        tuple(heading_splitter.split(text, blocks, settings)),
        title=structure.title,
        root_kind=structure.root_kind,
        summary=structure.summary,
        entities=structure.entities,
    )


def _parse_blocks(text: str) -> Iterator[heading_splitter.TextBlock]:
    keywords = list(_find_keywords(text))
    ends = [*(block.start for block, _ in keywords[1:]), len(text)]
    first = keywords[0][0].start if keywords else len(text)
    if first:
        yield heading_splitter.TextBlock(0, verbatim=bool(keywords))
    for (block, line_end), end in zip(keywords, ends if keywords else [], strict=True):
        yield block
        for start, _ in prose_splitter.iter_paragraphs(text, line_end, end):
            yield heading_splitter.TextBlock(start, line_based=bool(TABLE.match(text, start)))


def _find_keywords(text: str) -> Iterator[tuple[heading_splitter.TextBlock, int]]:
    """Yield the keyword lines outside doc strings, each with the end of its line."""
    at = 0
    lead_start: int | None = None
    quote = ""
    for line in text.split("\n"):
        end = min(len(text), at + len(line) + 1)
        if delimiter := DOC_STRING.match(line):
            quote = "" if quote == delimiter[1] else quote or delimiter[1]
        keyword = None if quote else KEYWORD.match(line)
        if keyword:
            name = clean_title(f"{keyword[1]}: {keyword[2]}").removesuffix(":")
            level = LEVELS.get(keyword[1], DEFAULT_LEVEL)
            yield (
                heading_splitter.TextBlock(at if lead_start is None else lead_start, level, name),
                end,
            )
            lead_start = None
        elif not quote and TAG_OR_COMMENT.match(line):
            lead_start = at if lead_start is None else lead_start
        elif line.strip():
            lead_start = None
        at = end
