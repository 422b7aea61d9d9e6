"""Files to records: walk a folder, read its files, split them into chunks."""

from quire.ingest.formats import compute_record_id, format_names
from quire.ingest.grammar import missing_grammars
from quire.ingest.pdf_process import close_readers
from quire.ingest.read import compute_digest, read, read_text
from quire.ingest.walk import walk

__all__ = [
    "VERSION",
    "close_readers",
    "compute_digest",
    "compute_record_id",
    "format_names",
    "missing_grammars",
    "read",
    "read_text",
    "walk",
]

VERSION = 7
"""Version of reading and splitting; a higher one makes a store read every file again."""
