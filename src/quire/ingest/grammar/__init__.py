"""Code parsed by its tree-sitter grammar: definitions, references and chunk boundaries."""

from quire.ingest.grammar.parse import missing_grammars
from quire.ingest.grammar.reader import read

__all__ = ["missing_grammars", "read"]
