"""What is in a Gherkin file (`.feature`)?

A feature, its rules and its scenarios, in the English keywords. The tags and comments above a
keyword belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.core.types import IngestSettings
from quire.ingest import heading_splitter, prose_splitter, sections
from quire.ingest.types import ParsedFile, SourceFile, clean_title, collapse_whitespace

LEVELS = {"Feature": 1, "Rule": 2}
KEYWORD = re.compile(
    r"[ \t]*(Feature|Rule|Background|Scenario(?: Outline| Template)?|Example)[ \t]*:(.*)"
)
LOWEST = 3
LEAD = re.compile(r"[ \t]*[@#]")
QUOTED = re.compile(r'[ \t]*("""|```)')
TABLE = re.compile(r"[ \t]*(?:\||Examples|Scenarios)")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Cut a Gherkin file before its scenarios."""
    text = source.text
    blocks = list(_blocks(text))
    described = sections.about(source.path, text, blocks, collapse_whitespace)
    return ParsedFile(
        text,
        tuple(heading_splitter.split(text, blocks, settings)),
        title=described.title,
        root_kind=described.root_kind,
        summary=described.summary,
        entities=described.entities,
    )


def _blocks(text: str) -> Iterator[heading_splitter.TextBlock]:
    keywords = list(_keywords(text))
    ends = [*(block.start for block, _ in keywords[1:]), len(text)]
    first = keywords[0][0].start if keywords else len(text)
    if first:
        yield heading_splitter.TextBlock(0, verbatim=bool(keywords))
    for (block, line_end), end in zip(keywords, ends if keywords else [], strict=True):
        yield block
        for start, _ in prose_splitter.paragraphs(text, line_end, end):
            yield heading_splitter.TextBlock(start, line_based=bool(TABLE.match(text, start)))


def _keywords(text: str) -> Iterator[tuple[heading_splitter.TextBlock, int]]:
    """Find the lines with a keyword, outside quoted texts, and where each of them ends."""
    at = 0
    lead: int | None = None
    quote = ""
    for line in text.split("\n"):
        end = min(len(text), at + len(line) + 1)
        if mark := QUOTED.match(line):
            quote = "" if quote == mark[1] else quote or mark[1]
        keyword = None if quote else KEYWORD.match(line)
        if keyword:
            name = clean_title(f"{keyword[1]}: {keyword[2]}").removesuffix(":")
            level = LEVELS.get(keyword[1], LOWEST)
            yield heading_splitter.TextBlock(at if lead is None else lead, level, name), end
            lead = None
        elif not quote and LEAD.match(line):
            lead = at if lead is None else lead
        elif line.strip():
            lead = None
        at = end
