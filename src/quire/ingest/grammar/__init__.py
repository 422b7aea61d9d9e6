"""What does a grammar see in a file of code?"""

from quire.ingest.grammar.reading import missing, read

__all__ = ["missing", "read"]
