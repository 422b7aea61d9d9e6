"""What crosses from room to room: frozen values, and nothing else."""

from quire.values.asked import NO_FILTER, OWNER, Filter, Viewer
from quire.values.files import Document, FoundFile, Skipped
from quire.values.found import Candidate, Coverage, Failure, Hit, Hits, Proof, Roots
from quire.values.kept import MAIN, NO_ATTRS, PUBLIC, AccessRule, Chunk, Event, Link, Record, Stamp
from quire.values.settings import EmbedSettings, IngestSettings, SearchSettings
from quire.values.told import IndexResult, Problem, Progress, SearchResult, Status

__all__ = [
    "MAIN",
    "NO_ATTRS",
    "NO_FILTER",
    "OWNER",
    "PUBLIC",
    "AccessRule",
    "Candidate",
    "Chunk",
    "Coverage",
    "Document",
    "EmbedSettings",
    "Event",
    "Failure",
    "Filter",
    "FoundFile",
    "Hit",
    "Hits",
    "IndexResult",
    "IngestSettings",
    "Link",
    "Problem",
    "Progress",
    "Proof",
    "Record",
    "Roots",
    "SearchResult",
    "SearchSettings",
    "Skipped",
    "Stamp",
    "Status",
    "Viewer",
]
