"""Which names are public? A name that is added or taken away is a decision, so it is made here too."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys
from typing import Any, get_args, get_type_hints

import pytest

import quire
from quire.adapters.extras import MissingFrameworkError

PUBLIC = [
    "AccessRule",
    "ActiveContext",
    "AssemblyConfig",
    "AsyncClient",
    "BehaviorRule",
    "Block",
    "BlockItem",
    "Budget",
    "BudgetStep",
    "CacheControl",
    "CacheUse",
    "Candidate",
    "ChainLink",
    "CheckedFiles",
    "Chunk",
    "Client",
    "CodeMap",
    "Condition",
    "Context",
    "ContextAssembler",
    "ContextAssemblyError",
    "ContextChunk",
    "ContextFile",
    "ContextHints",
    "ContextItem",
    "ContextPayload",
    "ContextRequest",
    "ContextSection",
    "Counter",
    "DanglingReference",
    "Decision",
    "DiskUse",
    "Embedder",
    "Entity",
    "Event",
    "Experience",
    "Facet",
    "Failure",
    "Feedback",
    "Filter",
    "Filters",
    "FitSpec",
    "Focus",
    "FormattedContext",
    "HitCount",
    "ImportResult",
    "IndexResult",
    "InheritedValue",
    "InjectionRule",
    "Intent",
    "InvalidContextTypeError",
    "Item",
    "Judge",
    "Memory",
    "MergedContext",
    "Message",
    "Mistake",
    "NewDocument",
    "Options",
    "PackingStrategy",
    "PageImportResult",
    "PayloadMetadata",
    "PlaceEvaluation",
    "PlaceRules",
    "PluginError",
    "Preferences",
    "Principle",
    "Problem",
    "Progress",
    "Proof",
    "PutResult",
    "PutSummary",
    "Quire",
    "QuireError",
    "RankSpec",
    "Recipe",
    "Record",
    "RecordProof",
    "Redaction",
    "Reembedding",
    "Relaxation",
    "RemovedBlocks",
    "RenderSpec",
    "Reranker",
    "RetrievalResult",
    "Roots",
    "RuleEvaluation",
    "RuleOutcome",
    "SearchResult",
    "Searcher",
    "Section",
    "Session",
    "Situation",
    "Skipped",
    "SkippedRow",
    "Source",
    "SourceSpec",
    "Status",
    "StepTime",
    "StoredDocument",
    "TextBlock",
    "TextWriter",
    "TokenBudget",
    "Tokenizer",
    "Turn",
    "Unit",
    "Validation",
    "Verdict",
    "Verification",
    "Viewer",
    "WhyNot",
    "WriteResult",
    "WriteTask",
    "Written",
    "compact_receipt",
    "context_aware",
    "count_tokens",
    "current_context",
    "open",
    "truncate_to_tokens",
    "verify_proof",
    "verify_record_proof",
]

ATTRIBUTES = [
    "access",
    "agent",
    "audit",
    "blocks",
    "documents",
    "experiences",
    "feedback",
    "inspection",
    "memories",
    "principles",
    "rules",
    "workspace",
]
"""What an open store consists of; the classes are reached through it alone."""
METHODS = [
    "assemble",
    "assemble_async",
    "close",
    "config",
    "diff",
    "doctor",
    "embed_missing",
    "embedder",
    "explain",
    "for_viewer",
    "index",
    "map",
    "notes",
    "purge",
    "replay",
    "root",
    "roots",
    "search",
    "search_async",
    "session",
    "sign",
    "status",
    "store",
    "verify",
    "verify_determinism",
    "viewer",
    "watch",
    "why_not",
]


def test_the_public_names_are_these() -> None:
    assert quire.__all__ == PUBLIC
    assert quire.__all__ == sorted(quire.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_each_name_is_there_and_explained(name: str) -> None:
    found = getattr(quire, name)
    written = inspect.getdoc(found)
    assert written
    assert not written.startswith(f"{name}("), "a signature is no explanation"
    if inspect.isclass(found):
        for method, function in inspect.getmembers(found, inspect.isfunction):
            if not method.startswith("_"):
                assert inspect.getdoc(function), f"{name}.{method}"


def met_in(hint: Any, met: set[type]) -> None:
    """Gather the types of Quire that a caller meets in a type, and in what it is made of."""
    for part in hint if isinstance(hint, list) else get_args(hint):
        met_in(part, met)
    if isinstance(hint, type) and hint.__module__.startswith("quire.") and hint not in met:
        met.add(hint)
        for inner in get_type_hints(hint).values():
            met_in(inner, met)


def test_an_open_store_has_these_methods_and_attributes() -> None:
    assert [name for name in dir(quire.Quire) if not name.startswith("_")] == METHODS
    assert sorted(get_type_hints(quire.Quire)) == ATTRIBUTES


def services() -> list[type]:
    """The classes that an open store consists of."""
    return list(get_type_hints(quire.Quire).values())


def public_methods(owner: type) -> list[Any]:
    members = inspect.getmembers(owner, inspect.isfunction)
    return [function for name, function in members if not name.startswith("_")]


@pytest.mark.parametrize("service", services())
def test_each_service_is_explained_and_inherits_from_nothing(service: type) -> None:
    assert inspect.getdoc(service)
    assert service.__mro__ == (service, object)
    for method in public_methods(service):
        assert inspect.getdoc(method), method


def test_quire_inherits_from_nothing() -> None:
    assert quire.Quire.__mro__ == (quire.Quire, object)


def test_whatever_a_caller_meets_in_a_signature_is_public() -> None:
    met: set[type] = set()
    for owner in (*(getattr(quire, name) for name in PUBLIC), *services()):
        functions = public_methods(owner) if inspect.isclass(owner) else [owner]
        if inspect.isclass(owner) and owner is not quire.Quire and owner not in services():
            met_in(owner, met)
        for function in functions:
            for hint in get_type_hints(function).values():
                met_in(hint, met)
    met -= {quire.Quire, *services()}
    assert {one.__name__ for one in met} - {*PUBLIC} == set()
    assert all(getattr(quire, one.__name__) is one for one in met)


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = quire.nothing


def test_all_names_can_be_imported_at_once() -> None:
    script = "from quire import *; print(Quire, open, verify_proof)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert b"quire.engine.Quire" in done.stdout


def test_every_module_says_which_question_it_answers() -> None:
    for module in pkgutil.walk_packages(quire.__path__, "quire."):
        try:
            found = __import__(module.name, fromlist=["_"])
        except MissingFrameworkError:  # tests/adapters imports those of frameworks
            continue
        assert found.__doc__, module.name
