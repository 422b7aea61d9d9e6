"""Evaluation of rules in a situation, and the priorities of the contexts that apply.

Nothing here raises for what a file or a judge says. A condition that could not be judged is
reported and falls to the rule's `on_error`; a reference that leads nowhere is listed. The rules are
those of the chain. An injected context brings what it extends, but no rules of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from quire.core import hashing
from quire.core.protocols import Judge
from quire.core.types import (
    APPLY,
    EXPRESSION,
    SENTENCE,
    ActiveContext,
    ChainLink,
    ContextFile,
    InjectionRule,
    RuleEvaluation,
    RuleOutcome,
    Situation,
    Verdict,
)
from quire.rules.expression_eval import holds
from quire.rules.expressions import parse_expression
from quire.rules.inheritance import (
    Contexts,
    find_dangling,
    merge,
    resolve_reference,
    with_parents,
)
from quire.rules.resolve import resolve_active
from quire.rules.verdicts import judge_sentences

BASE = 1000
CURRENT_BONUS = 2000
PARENT_BONUS = 1000
BEHAVIOR_BONUS = 500
RECENCY_BONUS = 1000
"""For a file that was modified just now; it falls to 0 within a day."""
DAY = 24 * 60 * 60

NO_VERDICTS: Mapping[str, Verdict] = {}
NO_TIMES: Mapping[str, int] = {}


def evaluate(
    chain: Sequence[ChainLink],
    contexts: Contexts,
    situation: Situation,
    judge: Judge,
    *,
    known: Mapping[str, Verdict] = NO_VERDICTS,
    times: Mapping[str, int] = NO_TIMES,
    as_of: int | None = None,
) -> RuleEvaluation:
    """Evaluate the rules of a chain in a situation, and rank the contexts that apply.

    Args:
        chain: The contexts that apply at a place.
        contexts: All contexts that rules may inject, by path.
        situation: What is going on.
        judge: Decides about sentences.
        known: Earlier verdicts by their keys.
        times: When files were modified, by path.
        as_of: The time against which `times` are compared.
    """
    rules = merge([link.context for link in chain]).injection_rules
    sentences = [
        rule.condition.text
        for rule, _ in rules
        if rule.condition is not None and rule.condition.kind == SENTENCE
    ]
    verdicts, cacheable = judge_sentences(sentences, situation, judge, known)
    outcomes = tuple(_evaluate_rule(rule, path, situation, verdicts) for rule, path in rules)
    applied = [outcome for outcome in outcomes if outcome.applies]
    active = (
        replace(item, priority=compute_priority(item.context, item.distance, times, as_of))
        for item in _collect_contexts(chain, applied, contexts)
    )
    distinct, notes = _rank_distinct(active)
    places = {link.context.path: place for place, link in enumerate(chain)}
    in_chain = sorted(distinct, key=lambda item: places.get(item.context.path, len(places)))
    injected = {
        context.path
        for outcome in applied
        for reference in outcome.rule.inject
        for context in [resolve_reference(reference, contexts)]
        if context is not None
    }
    resolved = {item.context.path: item for item in resolve_active(in_chain, injected, contexts)}
    return RuleEvaluation(
        outcomes=outcomes,
        contexts=tuple(resolved[item.context.path] for item in distinct),
        missing=tuple(
            dangling
            for outcome in applied
            for dangling in find_dangling(outcome.rule, outcome.path, contexts)
        ),
        notes=notes,
        verdicts=cacheable,
    )


def _evaluate_rule(
    rule: InjectionRule, path: str, situation: Situation, verdicts: Mapping[str, Verdict]
) -> RuleOutcome:
    if rule.condition is None:
        return RuleOutcome(rule, path, applies=True, why="it has no condition")
    if rule.condition.kind == EXPRESSION:
        truth = holds(parse_expression(rule.condition.text), situation)
        return RuleOutcome(rule, path, truth, f"the expression is {'true' if truth else 'false'}")
    verdict = verdicts[rule.condition.text]
    if verdict.applies is None:
        applies = rule.on_error == APPLY
        problem = verdict.reason or "no reason was given"
        why = f"could not be judged, so on_error = {rule.on_error} decides: {problem}"
        return RuleOutcome(rule, path, applies, why, problem)
    return RuleOutcome(rule, path, verdict.applies, f"judged {verdict.reason}")


def _collect_contexts(
    chain: Sequence[ChainLink], applied: Sequence[RuleOutcome], contexts: Contexts
) -> Iterable[ActiveContext]:
    """Return each context once: the chain, then what the rules inject, in their order."""
    active = {
        link.context.path: ActiveContext(link.context, priority=0, distance=link.distance)
        for link in chain
    }
    for outcome in applied:
        rule = outcome.rule.name
        for reference in outcome.rule.inject:
            injected = resolve_reference(reference, contexts)
            for context in () if injected is None else with_parents(injected, contexts):
                item = active.setdefault(context.path, ActiveContext(context, priority=0))
                if rule not in item.rules:
                    active[context.path] = replace(item, rules=(*item.rules, rule))
    return active.values()


def compute_priority(
    context: ContextFile, distance: int | None, times: Mapping[str, int], as_of: int | None
) -> int:
    """Return the priority of a context in thousandths."""
    total = BASE
    if distance == 0:
        total += CURRENT_BONUS
    elif distance == 1:
        total += PARENT_BONUS
    if context.behavior_rules:
        total += BEHAVIOR_BONUS
    modified = times.get(context.path)
    if modified is not None and as_of is not None:
        age = max(0, as_of - modified)
        total += max(0, RECENCY_BONUS - age * RECENCY_BONUS // DAY)
    return total


def _rank_distinct(
    active: Iterable[ActiveContext],
) -> tuple[tuple[ActiveContext, ...], tuple[str, ...]]:
    """Order contexts by priority, and drop those whose content a better one has already."""
    distinct: dict[bytes, ActiveContext] = {}
    notes = []
    for item in sorted(active, key=_rank_key):
        first = distinct.setdefault(_content_hash(item.context), item)
        if first is not item:
            notes.append(f"{item.context.path} says the same as {first.context.path}: left out")
    return tuple(distinct.values()), tuple(notes)


def _rank_key(item: ActiveContext) -> tuple[int, bool, int, str]:
    injected = item.distance is None
    return -item.priority, injected, item.distance or 0, item.context.path


def _content_hash(context: ContextFile) -> bytes:
    """Hash what a context says to a reader; files without content of their own stay distinct."""
    rules = tuple((rule.trigger, rule.action) for rule in context.behavior_rules)
    if not context.text and not rules:
        return hashing.digest("context", context.path)
    goal = (context.business_goal, context.intent_type)
    return hashing.digest("context", context.type, goal, rules, context.text)
