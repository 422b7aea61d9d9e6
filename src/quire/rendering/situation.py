"""How is a situation said: what is going on, which contexts hold, what they ask for?

What comes from a context file stands in lines of its own, and text is never taken for more than
text: whatever a file or a situation holds, the page around it stays as it is. The moment is left
out: two pages for the same situation are the same to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from quire.core.types import FULL, ActiveContext, Candidate, ContextFile, Frame, Passage, RenderSpec
from quire.rendering import page
from quire.rendering.escape import fence, one_line, paragraph

CONTEXTS = "contexts"
TIMES = ("time", "timestamp")
NONE = "N/A"


def situation(passages: Sequence[Passage], _: RenderSpec, frame: Frame) -> str:
    """Say the situation, the contexts that hold in it, what else was found, and what was done."""
    parts = [_going_on(frame)]
    parts += [f"> **Missing**: {page.warned(warning)}" for warning in frame.warnings]
    counted = 0
    for section in frame.sections:
        items = [
            page.said(passage) for passage in passages if page.section_of(passage) == section.name
        ]
        counted += len(items) if section.name == CONTEXTS else 0
        if items:
            parts += [f"## {one_line(section.title)}", *items]
    parts.append("\n".join(["## Assembly Metadata", *_done(frame, counted)]))
    return "\n\n".join(parts)


def shown(candidate: Candidate, spec: RenderSpec, level: str) -> str:
    """Give the words for a context, all of them or its essentials; for others, those of a page."""
    if candidate.context is None:
        return page.shown(candidate, spec, level)
    return _said(candidate.context, whole=level == FULL)


def shortened(candidate: Candidate, spec: RenderSpec) -> Callable[[page.Cut], str]:
    """Say how less of a candidate is said; of a context its essentials."""
    if candidate.context is None:
        return page.shortened(candidate, spec)
    essentials = _said(candidate.context, whole=False)
    return lambda _: essentials


def _going_on(frame: Frame) -> str:
    told = json.loads(frame.situation or "{}")
    text = json.dumps(
        {key: value for key, value in told.items() if key not in TIMES},
        ensure_ascii=False,
        indent=2,
        sort_keys=True,
    )
    around = fence(text)
    return f"## Current Situation\n{around}json\n{text}\n{around}"


def _said(weighed: ActiveContext, *, whole: bool) -> str:
    context = weighed.context
    kind = f" ({one_line(context.type)})" if context.type else ""
    lines = [
        f"### {one_line(context.name)}{kind}",
        f"- Business Goal: {_value(context.business_goal)}",
        f"- Intent Type: {_value(context.intent_type)}",
    ]
    if weighed.rules:
        named = ", ".join(one_line(name) for name in weighed.rules)
        lines.append(f"- Adaptations: brought in by {named}")
    return "\n".join([*lines, *(_rest(context) if whole else ())])


def _rest(context: ContextFile) -> list[str]:
    lines = []
    if context.behavior_rules:
        lines.append("- Behavior Rules:")
        lines += [
            f"  - {_value(rule.trigger)}: {_value(rule.action)}" for rule in context.behavior_rules
        ]
    if context.text:
        lines += ["", paragraph(context.text)]
    return lines


def _value(text: str) -> str:
    return paragraph(text.strip()).replace("\n", "\n  ") or NONE


def _done(frame: Frame, counted: int) -> list[str]:
    lines = [f"- Contexts Loaded: {counted}"]
    if frame.ruled is not None:
        applied = [one for one in frame.ruled.outcomes if one.applies]
        lines.append(f"- Rules Applied: {len(applied)} of {len(frame.ruled.outcomes)}")
        lines += [
            f"- Not Judged: {one_line(one.rule.name)} (on_error: {one.rule.on_error})"
            for one in frame.ruled.outcomes
            if one.failed
        ]
        lines += [
            f"- Not Found: {one_line(one.reference)}, injected by {one_line(one.rule)}"
            for one in frame.ruled.missing
        ]
    return lines
