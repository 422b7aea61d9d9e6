"""Files to records: walk a folder, read its files, split them into chunks."""

from quire.core import hashing
from quire.core.types import IngestSettings
from quire.ingest.formats import compute_record_id, format_names
from quire.ingest.grammar import missing_grammars
from quire.ingest.plugged import reader_keys
from quire.ingest.read import compute_digest, load, parse, read, read_text
from quire.ingest.reader_process import close_readers
from quire.ingest.roles import ROLE, SOURCE, TEST, asked_roles, roles
from quire.ingest.walk import is_walked, walk

__all__ = [
    "ROLE",
    "SOURCE",
    "TEST",
    "VERSION",
    "asked_roles",
    "close_readers",
    "compute_digest",
    "compute_record_id",
    "format_names",
    "is_walked",
    "load",
    "missing_grammars",
    "parse",
    "read",
    "read_text",
    "roles",
    "settings_prefix",
    "walk",
]

VERSION = 20
"""Version of reading and splitting; a higher one makes a store read every file again."""


def settings_prefix(settings: IngestSettings) -> str:
    """Return the hash of what decides how a file is read; digests in stamps begin with it."""
    return hashing.identifier(
        "ingest",
        VERSION,
        missing_grammars(),
        settings.whole,
        settings.paragraph,
        settings.target,
        settings.join,
        settings.code_max,
        settings.use_mtime,
        settings.secrets,
        settings.allow_secrets,
        settings.roles,
        *reader_keys(settings.without),
    )[:8]
