"""What is in this file?"""

from quire.ingest.formats import compute_record_id, format_names
from quire.ingest.grammar import missing_grammars
from quire.ingest.read import digest_of, plain_text, read
from quire.ingest.walk import walk

__all__ = [
    "VERSION",
    "compute_record_id",
    "digest_of",
    "format_names",
    "missing_grammars",
    "plain_text",
    "read",
    "walk",
]

VERSION = 7
"""Counts the changes in how files are read and cut; a higher one reads everything again."""
