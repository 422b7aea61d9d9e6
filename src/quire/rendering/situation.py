"""The situation format: the current situation, the active contexts and the applied rules.

Text from a context file has lines of its own and is escaped: whatever a file or a situation
contains, the page around it stays intact. The time is left out, so that two pages for the same
situation are identical to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from quire.core.types import (
    APPLY,
    DATA_NOTICE,
    Frame,
    InjectionRule,
    Passage,
    RenderSpec,
    RuleOutcome,
)
from quire.rendering import page
from quire.rendering.escape import escape_in_json, escape_line, fence

TIME_KEYS = ("time", "timestamp")
MAX_NOT_JUDGED = 8
"""How many rules that nobody has judged are named."""
EMPTY_VALUES: tuple[object, ...] = (None, "", [], {})


def render_situation(passages: Sequence[Passage], spec: RenderSpec, frame: Frame) -> str:
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
        contexts += len(items) if section.name == page.CONTEXTS else 0
        if items:
            # Contexts are the project's own instructions; everything else is quoted.
            quoted = spec.notice and section.name != page.CONTEXTS
            notice = [DATA_NOTICE] if quoted else []
            parts += [f"## {escape_line(section.title)}", *notice, *items]
    parts.append("\n".join(["## Assembly Metadata", *_assembly_metadata(frame, contexts)]))
    return "\n\n".join(parts)


def _current_situation(frame: Frame) -> str:
    situation = json.loads(frame.situation or "{}")
    shown = {key: value for key, value in situation.items() if key not in TIME_KEYS}
    shown = _without_empty(
        {
            key: _without_copies(value, shown) if isinstance(value, dict) else value
            for key, value in shown.items()
        }
    )
    text = escape_in_json(json.dumps(shown, ensure_ascii=False, indent=2, sort_keys=True))
    ticks = fence(text)
    return f"## Current Situation\n{ticks}json\n{text}\n{ticks}"


def _without_copies(value: dict[str, Any], situation: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those that the situation itself states under the same name."""
    return {
        key: inner
        for key, inner in value.items()
        if key not in situation or situation[key] != inner
    }


def _without_empty(value: Any) -> Any:
    """Return a value without keys that say nothing; false and 0 say something."""
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {key: _without_empty(item) for key, item in value.items()}
    return {key: item for key, item in inner.items() if item not in EMPTY_VALUES}


def _assembly_metadata(frame: Frame, contexts: int) -> list[str]:
    lines = [f"- Contexts Loaded: {contexts}"]
    if frame.rules is not None:
        applied = [outcome for outcome in frame.rules.outcomes if outcome.applies]
        lines.append(f"- Rules Applied: {len(applied)} of {len(frame.rules.outcomes)}")
        lines += _not_judged([outcome for outcome in frame.rules.outcomes if outcome.failed])
        lines += [
            f"- Not Found: {escape_line(missing.reference)}, "
            f"injected by {escape_line(missing.rule)}"
            for missing in frame.rules.missing
        ]
    return lines


def _not_judged(outcomes: Sequence[RuleOutcome]) -> list[str]:
    """Say of rules that nobody has judged when they hold and what they bring in.

    A reader can judge a sentence, and open the file.
    """
    lines = [_not_judged_line(outcome.rule) for outcome in outcomes[:MAX_NOT_JUDGED]]
    more = len(outcomes) - len(lines)
    return [*lines, f"- Not Judged: {more} more"] if more else lines


def _not_judged_line(rule: InjectionRule) -> str:
    name = escape_line(rule.name)
    if rule.on_error == APPLY:
        return f"- Not Judged: {name} (applied all the same)"
    when = "" if rule.condition is None else f", for when {escape_line(rule.condition.text)}"
    return f"- Not Judged: {name}{when} ({', '.join(map(escape_line, rule.inject))})"
