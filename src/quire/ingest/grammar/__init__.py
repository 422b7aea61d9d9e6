"""Code parsed by its tree-sitter grammar: definitions, references and chunk boundaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.ingest.grammar.parse import missing_grammars

if TYPE_CHECKING:
    from quire.core.types import IngestSettings
    from quire.ingest.types import ParsedFile, SourceFile

__all__ = ["missing_grammars", "read"]


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile | None:
    """Read code by its grammar; None if it has none, or the text no structure."""
    from quire.ingest.grammar.reader import read as read_code  # late: for the first file of code

    return read_code(source, settings)
