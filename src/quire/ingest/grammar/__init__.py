"""What does a grammar see in a file of code?"""

from quire.ingest.grammar.parse import missing_grammars
from quire.ingest.grammar.reader import read

__all__ = ["missing_grammars", "read"]
