"""What crosses from room to room: frozen values, and nothing else."""

from quire.values.asked import NO_FILTER, OWNER, Filter, Viewer
from quire.values.assembled import Block, Context, Decision, Piece, Request, Run, Source
from quire.values.files import Document, FoundFile, Skipped
from quire.values.found import Candidate, Coverage, Failure, Hit, Hits, Proof, Roots
from quire.values.kept import MAIN, NO_ATTRS, PUBLIC, AccessRule, Chunk, Event, Link, Record, Stamp
from quire.values.outline import WHOLE, Entity, Mention, Outline, Reference
from quire.values.recipe import Budget, FitSpec, RankSpec, Recipe, RenderSpec, SourceSpec
from quire.values.settings import EmbedSettings, IngestSettings, SearchSettings
from quire.values.told import IndexResult, Problem, Progress, SearchResult, Status

__all__ = [
    "MAIN",
    "NO_ATTRS",
    "NO_FILTER",
    "OWNER",
    "PUBLIC",
    "WHOLE",
    "AccessRule",
    "Block",
    "Budget",
    "Candidate",
    "Chunk",
    "Context",
    "Coverage",
    "Decision",
    "Document",
    "EmbedSettings",
    "Entity",
    "Event",
    "Failure",
    "Filter",
    "FitSpec",
    "FoundFile",
    "Hit",
    "Hits",
    "IndexResult",
    "IngestSettings",
    "Link",
    "Mention",
    "Outline",
    "Piece",
    "Problem",
    "Progress",
    "Proof",
    "RankSpec",
    "Recipe",
    "Record",
    "Reference",
    "RenderSpec",
    "Request",
    "Roots",
    "Run",
    "SearchResult",
    "SearchSettings",
    "Skipped",
    "Source",
    "SourceSpec",
    "Stamp",
    "Status",
    "Viewer",
]
