"""Results as plain data: each is its fields, unless its type has a form of its own here.

`serialize` imports this module for the first result, because it needs all types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import singledispatch
from typing import Any

from quire.core.serialize import pick
from quire.core.types import (
    RECEIPT_PARTS,
    ActiveContext,
    Candidate,
    ChainLink,
    Context,
    ContextFile,
    Experience,
    Feedback,
    HitCount,
    InjectionRule,
    Memory,
    MergedContext,
    Principle,
    RuleEvaluation,
    RuleOutcome,
    Status,
    StoredDocument,
    Written,
    format_time,
)
from quire.core.types.blocks import Block

# The members of those types that are not simply their fields, in order.
_MEMORY = (
    "id", "content", "category", "importance", "created", "edited", "author", "share",
    "supersedes", "superseded_by", "count", "repeated",
)  # fmt: skip
_EXPERIENCE = (
    "id", "domain", "strategy", "goal", "hypothesis", "action", "prediction", "outcome", "result",
    "surprise", "root_cause", "lesson", "tier", "iterations", "started", "updated", "resolved",
    "source", "author", "share",
)  # fmt: skip
_FEEDBACK = ("id", "useful", "useless", "receipt", "at", "author", "share")


@singledispatch
def to_plain(value: Any) -> Any:
    """Return a value as plain data: dictionaries, lists, texts, numbers, booleans and None."""
    if is_dataclass(value) and not isinstance(value, type):
        return _members(value)
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    return value


def _members(value: Any) -> dict[str, Any]:
    return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}


@to_plain.register
def _candidate(candidate: Candidate) -> dict[str, Any]:
    chunk = candidate.chunk
    return {
        "id": chunk.id,
        "record_id": chunk.record_id,
        "kind": chunk.kind,
        "path": chunk.path,
        "document": candidate.document or chunk.path,
        "lines": list(chunk.lines),
        "score": candidate.score,
        "likely": candidate.likely,
        "signals": dict(sorted(candidate.signals.items())),
        "title": chunk.title,
        "author": candidate.author,
        "metadata": to_plain(candidate.metadata),
        "text": chunk.text,
    }


@to_plain.register
def _context(context: Context) -> dict[str, Any]:
    members = {
        field.name: to_plain(getattr(context, field.name))
        for field in fields(context)
        if field.name != "receipt"
    }
    receipt = context.receipt
    return {
        **members,
        "sources": [
            {
                **to_plain(source),
                "document": chunk.document_name or source.path,
                "entity_id": source.entity_id,
                "summary": chunk.summary,
            }
            for source, chunk in zip(context.sources, context.chunks, strict=True)
        ],
        "query_hash": context.query_hash,
        "state_root": context.state_root,
        "receipt": {name: to_plain(receipt[name]) for name in receipt if name not in RECEIPT_PARTS},
    }


@to_plain.register
def _stored_document(document: StoredDocument) -> dict[str, Any]:
    times = {name: format_time(getattr(document, name)) for name in ("modified", "expires")}
    return {**_members(document), **times}


@to_plain.register
def _status(status: Status) -> dict[str, Any]:
    members = _members(status)
    del members["roots"]
    for name in ("caches", "disk", "reembedding"):  # for the owner alone
        if members[name] is None:
            del members[name]
    for name in ("languages", "notes", "branch"):
        if not members[name]:
            del members[name]
    if members["facets"] is None:
        del members["facets"]
    return {
        "state_root": status.roots.state,
        "content_root": status.roots.content,
        **members,
    }


@to_plain.register
def _hit_count(count: HitCount) -> dict[str, Any]:
    return {"hits": count.hits, "total": count.total, "rate": count.rate}


@to_plain.register(Written)
def _written(written: Written[Any]) -> dict[str, Any]:
    return {**to_plain(written.value), "notes": list(written.notes)}


@to_plain.register
def _memory(memory: Memory) -> dict[str, Any]:
    data = {
        **_members(memory),
        "importance": memory.importance / 1000,
        "created": format_time(memory.created),
        "edited": format_time(memory.edited),
        "repeated": format_time(memory.repeated),
        "share": to_plain(memory.acl),
    }
    return pick(data, *_MEMORY)


@to_plain.register
def _experience(experience: Experience) -> dict[str, Any]:
    data = {
        **_members(experience),
        "started": format_time(experience.started),
        "updated": format_time(experience.updated),
        "resolved": format_time(experience.resolved),
        "share": to_plain(experience.acl),
    }
    return pick(data, *_EXPERIENCE)


@to_plain.register
def _principle(principle: Principle) -> dict[str, Any]:
    return {**_members(principle), "similarity": principle.similarity / 1000}


@to_plain.register
def _feedback(feedback: Feedback) -> dict[str, Any]:
    data = {
        **_members(feedback),
        "at": format_time(feedback.at),
        "share": to_plain(feedback.acl) if feedback.shared else None,
    }
    return pick(data, *_FEEDBACK)


@to_plain.register
def _block(block: Block) -> dict[str, Any]:
    return {
        **_members(block),
        "properties": to_plain(dict(sorted(block.properties.items()))),
        "relations": to_plain(dict(sorted(block.relations.items()))),
        "created": format_time(block.created),
        "edited": format_time(block.edited),
    }


@to_plain.register
def _injection_rule(rule: InjectionRule) -> dict[str, Any]:
    return pick(_members(rule), "name", "condition", "inject", "priority", "on_error", "line")


@to_plain.register
def _context_file(file: ContextFile) -> dict[str, Any]:
    return {"path": file.path, "name": file.name, "rules": to_plain(file.injection_rules)}


@to_plain.register
def _chain_link(link: ChainLink) -> dict[str, Any]:
    context = link.context
    return {"path": context.path, "distance": link.distance, "characters": len(context.text)}


@to_plain.register
def _merged_context(merged: MergedContext) -> dict[str, Any]:
    return {
        **_members(merged),
        "behavior_rules": [
            {"trigger": rule.trigger, "action": rule.action, "path": path, "line": rule.line}
            for rule, path in merged.behavior_rules
        ],
        "injection_rules": [
            {**to_plain(rule), "path": path} for rule, path in merged.injection_rules
        ],
    }


@to_plain.register
def _rule_outcome(outcome: RuleOutcome) -> dict[str, Any]:
    return {
        **to_plain(outcome.rule),
        "path": outcome.path,
        "applies": outcome.applies,
        "why": outcome.why,
        "failed": outcome.failed,
    }


@to_plain.register
def _active_context(active: ActiveContext) -> dict[str, Any]:
    return {
        "path": active.context.path,
        "name": active.context.name,
        "priority": active.priority / 1000,
        "distance": active.distance,
        "rules": list(active.rules),
    }


@to_plain.register
def _rule_evaluation(evaluation: RuleEvaluation) -> dict[str, Any]:
    data = _members(evaluation)
    return {"rules": data["outcomes"], **pick(data, "contexts", "missing", "notes")}
