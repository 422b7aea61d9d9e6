"""Reader for the lock files of package managers: names and versions, not checksums.

Nine tenths of a lock file are digests and the addresses of archives, which nobody asks for in
words. The other lines stay as they are, under their own line numbers.
"""

from __future__ import annotations

import re

from quire.core.types import IngestSettings
from quire.ingest.text import split_extracted_lines
from quire.ingest.types import ParsedFile, SourceFile, UnreadableFile

_CHECKSUM = re.compile(
    r"\b(?:sha(?:1|224|256|384|512)|md5|h1)[-:=]\s?[\"']?[A-Za-z0-9+/]{16}"
    r"|\b(?:[0-9a-f]{32}|[0-9a-f]{64}|[0-9a-f]{128})\b"
    r"|^\s*\"?(?:resolved|integrity|checksum|shasum|narHash)\"?[\s:=]",
    re.IGNORECASE,
)
"""A digest, or a field for one. A commit (40 digits) stays: it is a version."""
_OPENS = re.compile(r"[\[{(]\s*\Z")
_CLOSES = re.compile(r"\s*[\])}]+,?\s*\Z")
NO_VERSIONS = "a lock file of checksums alone: the versions are in the file that it locks"


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Split a lock file between its lines, without those that hold checksums."""
    lines: list[tuple[str, int]] = []
    dropped = 0
    for number, line in enumerate(source.text.splitlines(), 1):
        if _CHECKSUM.search(line):
            dropped = number
        elif dropped == number - 1 and lines and _is_emptied(lines[-1][0], line):
            lines.pop()
            dropped = number
        else:
            lines.append((line, number))
    if dropped and not any(line.strip() for line, _ in lines):
        raise UnreadableFile(NO_VERSIONS)
    return split_extracted_lines(lines, settings)


def _is_emptied(before: str, line: str) -> bool:
    """Tell whether a list or an object is closed that has lost all of its lines."""
    return bool(_CLOSES.match(line) and _OPENS.search(before))
