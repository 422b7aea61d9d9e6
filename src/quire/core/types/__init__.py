"""The values that packages exchange: frozen dataclasses, and nothing else.

Classes take long to make, and a command may need few of them: a module of this package is imported
when one of its names is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quire.core.types.agent import ContextItem, FormattedContext, to_formatted_context
    from quire.core.types.candidates import (
        ALL_COVERED,
        LITERAL,
        Candidate,
        Coverage,
        Failure,
        FusionStats,
        Hit,
        Hits,
        Proof,
        RecordProof,
        Roots,
        Wording,
        category_of,
    )
    from quire.core.types.context import (
        CAPPED,
        CUT,
        FULL,
        LEVELS,
        MATCH,
        OUTLINE,
        RECEIPT_PARTS,
        SIGNATURE,
        SUMMARIZED,
        Context,
        ContextChunk,
        Decision,
        Frame,
        Item,
        Passage,
        Piece,
        Rebuilt,
        Recorded,
        Run,
        Source,
    )
    from quire.core.types.documents import (
        MISSING_EXTRA,
        Document,
        FileEntry,
        Redaction,
        Skipped,
        SkippedRow,
    )
    from quire.core.types.exports import Entry, Place, SpaceState
    from quire.core.types.llm import PRINCIPLE, SUMMARY, WriteResult, WriteTask
    from quire.core.types.memory import (
        OPEN,
        Experience,
        Feedback,
        ImportResult,
        Memory,
        Principle,
        Written,
        format_time,
    )
    from quire.core.types.messages import CacheControl, Message, TextBlock
    from quire.core.types.options import Filters, Options, Request
    from quire.core.types.outline import (
        CATEGORIES,
        DECLARED,
        OTHER,
        WHOLE,
        Entity,
        Mention,
        Outline,
        Reference,
        Unit,
        category,
    )
    from quire.core.types.payload import (
        BlockItem,
        ContextHints,
        ContextPayload,
        ContextRequest,
        ContextSection,
        Focus,
        PayloadMetadata,
        Preferences,
        TokenBudget,
        Validation,
    )
    from quire.core.types.recipe import (
        BROUGHT,
        DATA_NOTICE,
        Budget,
        FitSpec,
        Intent,
        RankSpec,
        Recipe,
        RenderSpec,
        Section,
        SourceSpec,
    )
    from quire.core.types.records import (
        BLOCK_PREFIX,
        MAIN,
        NO_ATTRS,
        NO_METADATA,
        OWN_TIME,
        PUBLIC,
        PUT,
        TIMED_KINDS,
        AccessRule,
        Chunk,
        Event,
        Link,
        MetadataValue,
        Record,
        Stamp,
    )
    from quire.core.types.results import (
        CacheUse,
        DiskUse,
        Facet,
        HitCount,
        IndexResult,
        Problem,
        Progress,
        Reembedding,
        SearchResult,
        Status,
        Verification,
    )
    from quire.core.types.retrieval import AssemblyConfig, PackingStrategy, RetrievalResult
    from quire.core.types.rules import (
        APPLY,
        EXPRESSION,
        SENTENCE,
        SKIP,
        ActiveContext,
        BehaviorRule,
        ChainLink,
        Condition,
        ContextFile,
        DanglingReference,
        InheritedValue,
        InjectionRule,
        MergedContext,
        Mistake,
        RuleEvaluation,
        RuleOutcome,
        Situation,
        Verdict,
    )
    from quire.core.types.settings import (
        ALL,
        EXACT_SEARCH,
        GRAPH_SEARCH,
        AuditSettings,
        ChatSettings,
        EmbedSettings,
        IngestSettings,
        JudgeSettings,
        LearnSettings,
        PluginSettings,
        RerankSettings,
        SourceSettings,
        VectorSettings,
        WriterSettings,
    )
    from quire.core.types.stored import NewDocument, PutResult, PutSummary, StoredDocument
    from quire.core.types.viewer import LINK, NO_FILTER, OWNER, OWNER_NAME, Filter, Viewer

__all__ = [
    "ALL",
    "ALL_COVERED",
    "APPLY",
    "BLOCK_PREFIX",
    "BROUGHT",
    "CAPPED",
    "CATEGORIES",
    "CUT",
    "DATA_NOTICE",
    "DECLARED",
    "EXACT_SEARCH",
    "EXPRESSION",
    "FULL",
    "GRAPH_SEARCH",
    "LEVELS",
    "LINK",
    "LITERAL",
    "MAIN",
    "MATCH",
    "MISSING_EXTRA",
    "NO_ATTRS",
    "NO_FILTER",
    "NO_METADATA",
    "OPEN",
    "OTHER",
    "OUTLINE",
    "OWNER",
    "OWNER_NAME",
    "OWN_TIME",
    "PRINCIPLE",
    "PUBLIC",
    "PUT",
    "RECEIPT_PARTS",
    "SENTENCE",
    "SIGNATURE",
    "SKIP",
    "SUMMARIZED",
    "SUMMARY",
    "TIMED_KINDS",
    "WHOLE",
    "AccessRule",
    "ActiveContext",
    "AssemblyConfig",
    "AuditSettings",
    "BehaviorRule",
    "BlockItem",
    "Budget",
    "CacheControl",
    "CacheUse",
    "Candidate",
    "ChainLink",
    "ChatSettings",
    "Chunk",
    "Condition",
    "Context",
    "ContextChunk",
    "ContextFile",
    "ContextHints",
    "ContextItem",
    "ContextPayload",
    "ContextRequest",
    "ContextSection",
    "Coverage",
    "DanglingReference",
    "Decision",
    "DiskUse",
    "Document",
    "EmbedSettings",
    "Entity",
    "Entry",
    "Event",
    "Experience",
    "Facet",
    "Failure",
    "Feedback",
    "FileEntry",
    "Filter",
    "Filters",
    "FitSpec",
    "Focus",
    "FormattedContext",
    "Frame",
    "FusionStats",
    "Hit",
    "HitCount",
    "Hits",
    "ImportResult",
    "IndexResult",
    "IngestSettings",
    "InheritedValue",
    "InjectionRule",
    "Intent",
    "Item",
    "JudgeSettings",
    "LearnSettings",
    "Link",
    "Memory",
    "Mention",
    "MergedContext",
    "Message",
    "MetadataValue",
    "Mistake",
    "NewDocument",
    "Options",
    "Outline",
    "PackingStrategy",
    "Passage",
    "PayloadMetadata",
    "Piece",
    "Place",
    "PluginSettings",
    "Preferences",
    "Principle",
    "Problem",
    "Progress",
    "Proof",
    "PutResult",
    "PutSummary",
    "RankSpec",
    "Rebuilt",
    "Recipe",
    "Record",
    "RecordProof",
    "Recorded",
    "Redaction",
    "Reembedding",
    "Reference",
    "RenderSpec",
    "Request",
    "RerankSettings",
    "RetrievalResult",
    "Roots",
    "RuleEvaluation",
    "RuleOutcome",
    "Run",
    "SearchResult",
    "Section",
    "Situation",
    "Skipped",
    "SkippedRow",
    "Source",
    "SourceSettings",
    "SourceSpec",
    "SpaceState",
    "Stamp",
    "Status",
    "StoredDocument",
    "TextBlock",
    "TokenBudget",
    "Unit",
    "Validation",
    "VectorSettings",
    "Verdict",
    "Verification",
    "Viewer",
    "Wording",
    "WriteResult",
    "WriteTask",
    "WriterSettings",
    "Written",
    "category",
    "category_of",
    "format_time",
    "to_formatted_context",
]

_HOMES = {
    "agent": "ContextItem FormattedContext to_formatted_context",
    "candidates": (
        "ALL_COVERED LITERAL Candidate Coverage Failure FusionStats Hit Hits Proof RecordProof "
        "Roots Wording category_of"
    ),
    "context": (
        "CAPPED CUT FULL LEVELS MATCH OUTLINE RECEIPT_PARTS SIGNATURE SUMMARIZED Context "
        "ContextChunk Decision Frame Item Passage Piece Rebuilt Recorded Run Source"
    ),
    "documents": "MISSING_EXTRA Document FileEntry Redaction Skipped SkippedRow",
    "exports": "Entry Place SpaceState",
    "llm": "PRINCIPLE SUMMARY WriteResult WriteTask",
    "memory": "OPEN Experience Feedback ImportResult Memory Principle Written format_time",
    "messages": "CacheControl Message TextBlock",
    "options": "Filters Options Request",
    "outline": "CATEGORIES DECLARED OTHER WHOLE Entity Mention Outline Reference Unit category",
    "payload": (
        "BlockItem ContextHints ContextPayload ContextRequest ContextSection Focus "
        "PayloadMetadata Preferences TokenBudget Validation"
    ),
    "recipe": (
        "BROUGHT DATA_NOTICE Budget FitSpec Intent RankSpec Recipe RenderSpec Section SourceSpec"
    ),
    "records": (
        "BLOCK_PREFIX MAIN NO_ATTRS NO_METADATA OWN_TIME PUBLIC PUT TIMED_KINDS AccessRule "
        "Chunk Event Link MetadataValue Record Stamp"
    ),
    "results": (
        "CacheUse DiskUse Facet HitCount IndexResult Problem Progress Reembedding SearchResult "
        "Status Verification"
    ),
    "retrieval": "AssemblyConfig PackingStrategy RetrievalResult",
    "rules": (
        "APPLY EXPRESSION SENTENCE SKIP ActiveContext BehaviorRule ChainLink Condition "
        "ContextFile DanglingReference InheritedValue InjectionRule MergedContext Mistake "
        "RuleEvaluation RuleOutcome Situation Verdict"
    ),
    "settings": (
        "ALL EXACT_SEARCH GRAPH_SEARCH AuditSettings ChatSettings EmbedSettings IngestSettings "
        "JudgeSettings LearnSettings PluginSettings RerankSettings SourceSettings "
        "VectorSettings WriterSettings"
    ),
    "stored": "NewDocument PutResult PutSummary StoredDocument",
    "viewer": "LINK NO_FILTER OWNER OWNER_NAME Filter Viewer",
}
"""The modules of this package, and the names that they lend it."""
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # a type checker sees the imports above, and no others

    def __getattr__(name: str) -> object:
        """Import a name from its module when it is first asked for."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = found
        return found
