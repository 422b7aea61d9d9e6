"""What each active context contributes once inheritance is resolved.

A page shows the contexts of a chain one below the other. A rule that a nearer context replaces is
not shown with the farther one, and a goal or an intent that the nearest context inherits is shown
there, with the context that states it. So a page says the same as `merge`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quire.core.types import ActiveContext, ContextFile
from quire.rules.inheritance import Contexts, merge, with_parents

INHERITED = ("business_goal", "intent_type")


def resolve_active(
    active: Sequence[ActiveContext], injected: Collection[str], contexts: Contexts
) -> list[ActiveContext]:
    """Return active contexts as they apply.

    The chain decides about its own contexts. A context that a rule names and what that extends are
    a chain of their own.

    Args:
        active: The contexts; those of the chain in its order, the nearest first.
        injected: The paths of the contexts that rules name.
        contexts: All contexts by path.
    """
    chain = [item.context for item in active if item.distance is not None]
    rules = _surviving_rules(chain)
    in_chain = {context.path for context in chain}
    values = _inherited_values(chain, ())
    for item in active:
        if item.distance is not None or item.context.path not in injected:
            continue
        layers = list(with_parents(item.context, contexts))
        for path, triggers in _surviving_rules(layers).items():
            if path not in in_chain:
                rules[path] = rules.get(path, frozenset()) | triggers
        values |= _inherited_values(layers, in_chain)
    stated = {(path, key) for inherited in values.values() for key, path in inherited.items()}
    return [_resolve(item, contexts, rules, values, stated) for item in active]


def _resolve(
    item: ActiveContext,
    contexts: Contexts,
    rules: Mapping[str, frozenset[str]],
    values: Mapping[str, Mapping[str, str]],
    stated: Collection[tuple[str, str]],
) -> ActiveContext:
    own = item.context
    inherited = values.get(own.path, {})
    shown: dict[str, Any] = {
        key: "" if (own.path, key) in stated else getattr(own, key)
        for key in INHERITED
        if key not in inherited
    }
    shown |= {key: getattr(contexts[path], key) for key, path in inherited.items()}
    return replace(
        item,
        context=replace(
            own,
            behavior_rules=tuple(
                rule
                for rule in own.behavior_rules
                if own.path not in rules or rule.trigger in rules[own.path]
            ),
            **shown,
        ),
        inherited=tuple((key, contexts[path].name) for key, path in sorted(inherited.items())),
    )


def _surviving_rules(layers: Sequence[ContextFile]) -> dict[str, frozenset[str]]:
    """Return the triggers of each context that no nearer one replaces."""
    winners = [(rule.trigger, path) for rule, path in merge(layers).behavior_rules]
    return {
        context.path: frozenset(trigger for trigger, path in winners if path == context.path)
        for context in layers
    }


def _inherited_values(
    layers: Sequence[ContextFile], known: Collection[str]
) -> dict[str, dict[str, str]]:
    """Return what the nearest context inherits: the paths of the contexts that state it.

    What a known context states is left out: it is shown there.
    """
    if not layers:
        return {}
    merged = merge(layers)
    nearest = layers[0].path
    stated = {"business_goal": merged.business_goal, "intent_type": merged.intent_type}
    inherited = {
        key: value.path
        for key, value in stated.items()
        if value is not None and value.path != nearest and value.path not in known
    }
    return {nearest: inherited} if inherited else {}
