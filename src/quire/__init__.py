"""Quire: one context that fits, from what you may read, with a receipt."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from quire._version import __version__ as __version__

if TYPE_CHECKING:
    from quire.core.merkle import verify as verify_proof
    from quire.core.protocols import Embedder
    from quire.core.types import (
        AccessRule,
        ActiveContext,
        BehaviorRule,
        BlockItem,
        Budget,
        Candidate,
        ChainLink,
        Chunk,
        Condition,
        Context,
        ContextFile,
        ContextHints,
        ContextItem,
        ContextPayload,
        ContextRequest,
        ContextSection,
        DanglingReference,
        Decision,
        Entity,
        Event,
        Experience,
        Failure,
        Feedback,
        Filter,
        FitSpec,
        Focus,
        FormattedContext,
        ImportResult,
        IndexResult,
        InheritedValue,
        InjectionRule,
        Intent,
        Item,
        Memory,
        MergedContext,
        Mistake,
        PayloadMetadata,
        Preferences,
        Problem,
        Progress,
        Proof,
        RankSpec,
        Recipe,
        Record,
        RenderSpec,
        Roots,
        RuleEvaluation,
        RuleOutcome,
        SearchResult,
        Section,
        Skipped,
        Source,
        SourceSpec,
        Status,
        TokenBudget,
        Validation,
        Value,
        Verdict,
        Viewer,
        Written,
    )
    from quire.core.types.blocks import Block, PagesImported, Removed
    from quire.engine import Quire
    from quire.engine import open_quire as open  # noqa: A004 - quire.open reads as it should
    from quire.errors import InvalidContextTypeError, QuireError
    from quire.integrations.tools import context_aware
    from quire.pipeline.codemap import Mapped
    from quire.pipeline.request import Options
    from quire.pipeline.why_not import Relaxation, WhyNot
    from quire.rules.project_files import CheckedFiles, PlaceEvaluation, PlaceRules
    from quire.tokens import count_tokens, truncate_to_tokens


__all__ = [
    "AccessRule",
    "ActiveContext",
    "BehaviorRule",
    "Block",
    "BlockItem",
    "Budget",
    "Candidate",
    "ChainLink",
    "CheckedFiles",
    "Chunk",
    "Condition",
    "Context",
    "ContextFile",
    "ContextHints",
    "ContextItem",
    "ContextPayload",
    "ContextRequest",
    "ContextSection",
    "DanglingReference",
    "Decision",
    "Embedder",
    "Entity",
    "Event",
    "Experience",
    "Failure",
    "Feedback",
    "Filter",
    "FitSpec",
    "Focus",
    "FormattedContext",
    "ImportResult",
    "IndexResult",
    "InheritedValue",
    "InjectionRule",
    "Intent",
    "InvalidContextTypeError",
    "Item",
    "Mapped",
    "Memory",
    "MergedContext",
    "Mistake",
    "Options",
    "PagesImported",
    "PayloadMetadata",
    "PlaceEvaluation",
    "PlaceRules",
    "Preferences",
    "Problem",
    "Progress",
    "Proof",
    "Quire",
    "QuireError",
    "RankSpec",
    "Recipe",
    "Record",
    "Relaxation",
    "Removed",
    "RenderSpec",
    "Roots",
    "RuleEvaluation",
    "RuleOutcome",
    "SearchResult",
    "Section",
    "Skipped",
    "Source",
    "SourceSpec",
    "Status",
    "TokenBudget",
    "Validation",
    "Value",
    "Verdict",
    "Viewer",
    "WhyNot",
    "Written",
    "context_aware",
    "count_tokens",
    "open",
    "truncate_to_tokens",
    "verify_proof",
]

_HOMES = {
    "Block": ("quire.core.types.blocks", "Block"),
    "PagesImported": ("quire.core.types.blocks", "PagesImported"),
    "Removed": ("quire.core.types.blocks", "Removed"),
    "Embedder": ("quire.core.protocols", "Embedder"),
    "Mapped": ("quire.pipeline.codemap", "Mapped"),
    "Options": ("quire.pipeline.request", "Options"),
    "Relaxation": ("quire.pipeline.why_not", "Relaxation"),
    "WhyNot": ("quire.pipeline.why_not", "WhyNot"),
    "CheckedFiles": ("quire.rules.project_files", "CheckedFiles"),
    "PlaceEvaluation": ("quire.rules.project_files", "PlaceEvaluation"),
    "PlaceRules": ("quire.rules.project_files", "PlaceRules"),
    "Quire": ("quire.engine", "Quire"),
    "context_aware": ("quire.integrations.tools", "context_aware"),
    "open": ("quire.engine", "open_quire"),
    "count_tokens": ("quire.tokens", "count_tokens"),
    "truncate_to_tokens": ("quire.tokens", "truncate_to_tokens"),
    "InvalidContextTypeError": ("quire.errors", "InvalidContextTypeError"),
    "QuireError": ("quire.errors", "QuireError"),
    "verify_proof": ("quire.core.merkle", "verify"),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import quire` alone costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'quire' has no attribute {name!r}")
    module, attribute = _HOMES.get(name, ("quire.core.types", name))
    return getattr(import_module(module), attribute)
