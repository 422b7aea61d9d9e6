"""The text of a context file on a page: its name, goal and intent, its rules, its prose.

What a file does not state is left out. A context that does not fit is shortened: its prose goes
first, then its rules from the last one on, and a mark says where to find all of it.
"""

from __future__ import annotations

import re

from quire.core.types import FULL, OUTLINE, ActiveContext, ContextFile
from quire.rendering.escape import escape_context, escape_cut, escape_line, escape_name, escape_rule

ELLIPSIS = "..."
_LABELS = {"business_goal": "Business Goal", "intent_type": "Intent Type"}
_FIRST_HEADING = re.compile(r"\s*#{1,6}[ \t]+([^\n]*)(?:\n+|\Z)")


def context_text(active: ActiveContext, level: str) -> str:
    """Return a context in full, without its prose (`signature`) or without its rules, too."""
    rules = 0 if level == OUTLINE else len(active.context.behavior_rules)
    return shortened_context(active, rules, prose(active.context) if level == FULL else "")


def prose(context: ContextFile) -> str:
    """Return the prose of a context, escaped, without a heading that only repeats its name."""
    text = context.text
    heading = _FIRST_HEADING.match(text)
    if heading is not None and heading[1].rstrip("# \t") == context.name.rstrip("# \t"):
        text = text[heading.end() :]
    return escape_context(text.strip())


def shortened_context(active: ActiveContext, rules: int, text: str) -> str:
    """Return a context with its first rules and a part of its prose, marked if that is not all."""
    context, whole = active.context, prose(active.context)
    count = len(context.behavior_rules)
    lines = [*_head(active), *_rule_lines(context, rules)]
    is_cut = text != whole
    if text:
        part = escape_cut(text.rstrip(". "), whole, escape_context) + ELLIPSIS if is_cut else whole
        lines += ["", part]
    if is_cut or rules < count:
        shown = f"{rules} of {count} rules, " if rules < count else ""
        lines += ["", f"*(truncated, {shown}{escape_name(context.path)})*"]
    return "\n".join(lines)


def _head(active: ActiveContext) -> list[str]:
    context, inherited = active.context, dict(active.inherited)
    # Of guides that contradict each other the nearer one holds: a reader has to see where they are.
    kind = f" ({escape_line(context.type) if context.type else escape_name(context.path)})"
    lines = [f"### {escape_line(context.name)}{kind}"]
    for key, label in _LABELS.items():
        value = escape_context(getattr(context, key).strip())
        if value:
            origin = f" (from {escape_line(inherited[key])})" if key in inherited else ""
            lines.append(f"- {label}: {_indented(value)}{origin}")
    if active.rules:
        lines.append(f"- Adaptations: brought in by {', '.join(map(escape_line, active.rules))}")
    return lines


def _rule_lines(context: ContextFile, count: int) -> list[str]:
    if not count:
        return []
    rules = [
        f"  - {_indented(escape_rule(rule.trigger.strip()))}: "
        f"{_indented(escape_rule(rule.action.strip()))}"
        for rule in context.behavior_rules[:count]
    ]
    return ["- Behavior Rules:", *rules]


def _indented(text: str) -> str:
    """Indent the further lines of an escaped value below its label."""
    return text.replace("\n", "\n  ")
