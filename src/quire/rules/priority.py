"""Which rules apply, and which contexts count how much?

Nothing here raises for what a file or a judge says: a condition that could not be judged is told
and falls to the rule's `on_error`, a reference that leads nowhere is listed. The rules are those of
the chain; what they bring in brings what it extends, but no rules of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from quire.core import hashing
from quire.core.protocols import Judge
from quire.core.types import (
    APPLY,
    EXPRESSION,
    SENTENCE,
    ContextFile,
    InjectionRule,
    Linked,
    Missing,
    Ruled,
    Ruling,
    Situation,
    Verdict,
    Weighed,
)
from quire.rules.expression_eval import holds
from quire.rules.expressions import parse
from quire.rules.inheritance import Contexts, found, merge, with_parents
from quire.rules.verdicts import judged

BASE = 1000
CURRENT = 2000
DIRECT_PARENT = 1000
BEHAVIOR = 500
RECENT = 1000
DAY = 24 * 60 * 60

NOTHING_KNOWN: Mapping[str, Verdict] = {}
NO_TIMES: Mapping[str, int] = {}


def evaluate(
    chain: Sequence[Linked],
    contexts: Contexts,
    situation: Situation,
    judge: Judge,
    *,
    known: Mapping[str, Verdict] = NOTHING_KNOWN,
    times: Mapping[str, int] = NO_TIMES,
    as_of: int | None = None,
) -> Ruled:
    """Tell which rules of a chain apply in a situation, and which contexts count.

    `contexts` holds whatever the rules may bring in, by path; `known` are earlier verdicts by their
    keys; `times` says when files were modified, and `as_of` up to when they are compared.
    """
    rules = merge([link.context for link in chain]).injection_rules
    sentences = [
        rule.condition.text
        for rule, _ in rules
        if rule.condition is not None and rule.condition.kind == SENTENCE
    ]
    verdicts, kept = judged(sentences, situation, judge, known)
    rulings = tuple(_ruling(rule, path, situation, verdicts) for rule, path in rules)
    applied = [each for each in rulings if each.applies]
    missing = tuple(
        Missing(reference, each.rule.name, each.path, each.rule.line)
        for each in applied
        for reference in each.rule.inject
        if found(reference, contexts) is None
    )
    weighed, notes = _distinct(
        Weighed(
            each.context,
            priority(each.context, each.distance, times, as_of),
            each.distance,
            each.rules,
        )
        for each in _gathered(chain, applied, contexts)
    )
    return Ruled(rulings, weighed, missing, notes, kept)


def _ruling(
    rule: InjectionRule, path: str, situation: Situation, verdicts: Mapping[str, Verdict]
) -> Ruling:
    if rule.condition is None:
        return Ruling(rule, path, applies=True, why="it has no condition")
    if rule.condition.kind == EXPRESSION:
        held = holds(parse(rule.condition.text), situation)
        return Ruling(rule, path, held, f"the expression is {'true' if held else 'false'}")
    verdict = verdicts[rule.condition.text]
    if verdict.applies is None:
        applies = rule.on_error == APPLY
        problem = verdict.reason or "no reason was given"
        why = f"could not be judged, so on_error = {rule.on_error} decides: {problem}"
        return Ruling(rule, path, applies, why, problem)
    return Ruling(rule, path, verdict.applies, f"judged {verdict.reason}")


def _gathered(
    chain: Sequence[Linked], applied: Sequence[Ruling], contexts: Contexts
) -> Iterator[Weighed]:
    """Give each context once: the chain, then what the rules bring, in their order."""
    brought: dict[str, Weighed] = {
        link.context.path: Weighed(link.context, 0, link.distance) for link in chain
    }
    for ruling in applied:
        for reference in ruling.rule.inject:
            met = found(reference, contexts)
            for context in () if met is None else with_parents(met, contexts):
                held = brought.setdefault(context.path, Weighed(context, 0))
                if ruling.rule.name not in held.rules:
                    rules = (*held.rules, ruling.rule.name)
                    brought[context.path] = replace(held, rules=rules)
    yield from brought.values()


def priority(
    context: ContextFile, distance: int | None, times: Mapping[str, int], as_of: int | None
) -> int:
    """Tell in thousandths how much a context counts."""
    found_ = BASE
    if distance == 0:
        found_ += CURRENT
    elif distance == 1:
        found_ += DIRECT_PARENT
    if context.behavior_rules:
        found_ += BEHAVIOR
    modified = times.get(context.path)
    if modified is not None and as_of is not None:
        found_ += max(0, RECENT - max(0, as_of - modified) * RECENT // DAY)
    return found_


def _distinct(gathered: Iterator[Weighed]) -> tuple[tuple[Weighed, ...], tuple[str, ...]]:
    """Put contexts in order, and leave out those that say nothing that a better one does not."""
    kept: dict[bytes, Weighed] = {}
    notes = []
    for each in sorted(gathered, key=_order):
        first = kept.setdefault(_said(each.context), each)
        if first is not each:
            notes.append(f"{each.context.path} says the same as {first.context.path}: left out")
    return tuple(kept.values()), tuple(notes)


def _order(weighed: Weighed) -> tuple[int, bool, int, str]:
    injected = weighed.distance is None
    return -weighed.priority, injected, weighed.distance or 0, weighed.context.path


def _said(context: ContextFile) -> bytes:
    """Name what a context says to a reader; files that say nothing of their own stay apart."""
    rules = tuple((rule.trigger, rule.action) for rule in context.behavior_rules)
    if not context.text and not rules:
        return hashing.digest("context", context.path)
    goal = (context.business_goal, context.intent_type)
    return hashing.digest("context", context.type, goal, rules, context.text)
