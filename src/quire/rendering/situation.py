"""The situation format: the current situation, the active contexts and the applied rules.

Text from a context file has lines of its own and is escaped: whatever a file or a situation
contains, the page around it stays intact. The time is left out, so that two pages for the same
situation are identical to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from quire.core.serialize import escape_json
from quire.core.types import FULL, ActiveContext, Candidate, ContextFile, Frame, Passage, RenderSpec
from quire.rendering import page
from quire.rendering.escape import escape_context, escape_line, escape_rule, fence

CONTEXTS = "contexts"
TIME_KEYS = ("time", "timestamp")
NO_VALUE = "N/A"


def render_situation(passages: Sequence[Passage], _: RenderSpec, frame: Frame) -> str:
    """Render the situation, its contexts, the other items and a summary of the assembly."""
    parts = [_current_situation(frame)]
    parts += [f"> **Missing**: {page.warning_text(warning)}" for warning in frame.warnings]
    contexts = 0
    for section in frame.sections:
        items = [
            page.passage_text(passage)
            for passage in passages
            if page.section_name(passage) == section.name
        ]
        contexts += len(items) if section.name == CONTEXTS else 0
        if items:
            parts += [f"## {escape_line(section.title)}", *items]
    parts.append("\n".join(["## Assembly Metadata", *_assembly_metadata(frame, contexts)]))
    return "\n\n".join(parts)


def item_text(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Return the text of a context, in full or its essentials; other items as on a page."""
    if candidate.context is None:
        return page.item_text(candidate, spec, level)
    return _context_text(candidate.context, in_full=level == FULL)


def shortener(candidate: Candidate, spec: RenderSpec) -> Callable[[page.Cut], str]:
    """Return a function that renders a shortened candidate; of a context, its essentials."""
    if candidate.context is None:
        return page.shortener(candidate, spec)
    essentials = _context_text(candidate.context, in_full=False)
    return lambda _: essentials


def _current_situation(frame: Frame) -> str:
    situation = json.loads(frame.situation or "{}")
    shown = {key: value for key, value in situation.items() if key not in TIME_KEYS}
    text = escape_json(json.dumps(shown, ensure_ascii=False, indent=2, sort_keys=True))
    ticks = fence(text)
    return f"## Current Situation\n{ticks}json\n{text}\n{ticks}"


def _context_text(active: ActiveContext, *, in_full: bool) -> str:
    context = active.context
    kind = f" ({escape_line(context.type)})" if context.type else ""
    lines = [
        f"### {escape_line(context.name)}{kind}",
        f"- Business Goal: {_value(escape_context(context.business_goal.strip()))}",
        f"- Intent Type: {_value(escape_context(context.intent_type.strip()))}",
    ]
    if active.rules:
        rules = ", ".join(escape_line(name) for name in active.rules)
        lines.append(f"- Adaptations: brought in by {rules}")
    return "\n".join([*lines, *(_details(context) if in_full else ())])


def _details(context: ContextFile) -> list[str]:
    lines = []
    if context.behavior_rules:
        lines.append("- Behavior Rules:")
        lines += [
            f"  - {_value(escape_rule(rule.trigger.strip()))}: "
            f"{_value(escape_rule(rule.action.strip()))}"
            for rule in context.behavior_rules
        ]
    if context.text:
        lines += ["", escape_context(context.text)]
    return lines


def _value(text: str) -> str:
    """Indent an escaped value below its label."""
    return text.replace("\n", "\n  ") or NO_VALUE


def _assembly_metadata(frame: Frame, contexts: int) -> list[str]:
    lines = [f"- Contexts Loaded: {contexts}"]
    if frame.rules is not None:
        applied = [outcome for outcome in frame.rules.outcomes if outcome.applies]
        lines.append(f"- Rules Applied: {len(applied)} of {len(frame.rules.outcomes)}")
        lines += [
            f"- Not Judged: {escape_line(outcome.rule.name)} (on_error: {outcome.rule.on_error})"
            for outcome in frame.rules.outcomes
            if outcome.failed
        ]
        lines += [
            f"- Not Found: {escape_line(missing.reference)}, "
            f"injected by {escape_line(missing.rule)}"
            for missing in frame.rules.missing
        ]
    return lines
