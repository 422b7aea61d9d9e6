"""Serialize results to plain data and JSON.

The one place that decides how a result looks as JSON: the command line (`--json`), the tools of the
MCP server and exports use it. A result is its fields, unless its type has a form of its own here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import singledispatch
from typing import Any

from quire.core.types import (
    ActiveContext,
    Candidate,
    ChainLink,
    ContextFile,
    Experience,
    Feedback,
    InjectionRule,
    Memory,
    MergedContext,
    Principle,
    RuleEvaluation,
    RuleOutcome,
    Status,
    Written,
    format_time,
)
from quire.core.types.blocks import Block

HIDDEN = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
"""Characters that break a line, steer a terminal or override the direction of writing, as in a
character class."""
_HIDDEN = re.compile(f"[{HIDDEN}]")
_HIDDEN_IN_TEXT = re.compile(rf"(?!\r?\n|\t)[{HIDDEN}]")
# The members of those types that are not simply their fields, in order.
_MEMORY = (
    "id", "content", "category", "importance", "created", "edited", "author", "share",
    "supersedes", "superseded_by",
)  # fmt: skip
_EXPERIENCE = (
    "id", "domain", "strategy", "goal", "hypothesis", "action", "prediction", "outcome", "result",
    "surprise", "root_cause", "lesson", "tier", "iterations", "started", "updated", "resolved",
    "source", "author", "share",
)  # fmt: skip
_FEEDBACK = ("id", "useful", "useless", "receipt", "at", "author", "share")


def json_text(value: Any) -> str:
    """Serialize a result as indented JSON that cannot steer a terminal."""
    return escape_json(json.dumps(to_plain(value), ensure_ascii=False, indent=2))


def escape_json(text: str) -> str:
    """Escape the hidden characters in JSON, so that it can be shown; it means the same."""
    if text.isprintable():
        return text
    return _HIDDEN.sub(
        lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text
    )


def json_line(value: Any) -> str:
    """Serialize a result as one line of ASCII, which every terminal and encoding can carry."""
    return json.dumps(to_plain(value))


def printable(text: str) -> str:
    """Escape control characters, so that a name cannot steer a terminal or look like two lines."""
    return _HIDDEN.sub(_escape, text)


def printable_text(text: str) -> str:
    """Escape control characters but line ends and tabs, so that a text cannot steer a terminal."""
    return _HIDDEN_IN_TEXT.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def pick(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return some members of an object, in the order of the names."""
    return {name: data[name] for name in names}


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
        "path": chunk.path,
        "lines": list(chunk.lines),
        "score": candidate.score,
        "signals": dict(sorted(candidate.signals.items())),
        "title": chunk.title,
        "author": candidate.author,
        "text": chunk.text,
    }


@to_plain.register
def _status(status: Status) -> dict[str, Any]:
    members = _members(status)
    del members["roots"]
    return {
        "state_root": status.roots.state,
        "content_root": status.roots.content,
        **members,
    }


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
