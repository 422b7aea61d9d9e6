"""What holds at a place, and where does it come from?

A place inherits from the contexts of its folder and of all folders above; a context inherits from
what it `extends`, and from what that extends. The nearest wins: first the contexts of the folder
itself, then what those extend, then the next folder above that has any. In one folder those with
rules come first, by their names, then AGENTS.md, then CLAUDE.md. What `extends` brings is that
file, not its folder's others.

Of names, types, goals and intents the nearest that is said holds. Rules are collected from the
farthest to the nearest; a nearer one takes the place of one with its name (or its trigger).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from quire.core.types import (
    BehaviorRule,
    ContextFile,
    Inherited,
    InjectionRule,
    Linked,
    Mistake,
    Resolved,
)
from quire.rules.discovery import candidates, form_of, order

LONGEST_CHAIN = 16

Contexts = Mapping[str, ContextFile]


def found(reference: str, contexts: Contexts) -> ContextFile | None:
    """Give the context that a reference means, if it is there."""
    return next((contexts[path] for path in candidates(reference) if path in contexts), None)


def mistakes(contexts: Contexts) -> tuple[Mistake, ...]:
    """Tell which contexts extend what is not there, or each other in a circle."""
    told = ((path, _broken(contexts[path], contexts)) for path in sorted(contexts))
    return tuple(
        Mistake(path, contexts[path].extends_line, reason) for path, reason in told if reason
    )


def _broken(context: ContextFile, contexts: Contexts) -> str | None:
    """Say what is wrong with the chain that a context extends."""
    chain = [context.path]
    while context.extends is not None:
        parent = found(context.extends, contexts)
        if parent is None:
            through = "" if len(chain) == 1 else f" ({' > '.join(chain)})"
            return f"extends {context.extends!r}, which is not there or has mistakes{through}"
        if parent.path in chain:
            return f"contexts extend each other in a circle: {' > '.join((*chain, parent.path))}"
        chain.append(parent.path)
        if len(chain) > LONGEST_CHAIN:
            return f"extends more than {LONGEST_CHAIN} contexts in a row: {' > '.join(chain[:4])} …"
        context = parent
    return None


def folders(place: str) -> tuple[str, ...]:
    """Name the folders that a place inherits from, the nearest first; it counts as one itself."""
    parts = place.split("/") if place else []
    return tuple("/".join(parts[:count]) for count in range(len(parts), -1, -1))


def chain(place: str, contexts: Contexts) -> tuple[Linked, ...]:
    """List the contexts that count at a place, the nearest first, each once.

    A place is a path from the root: a folder, a file, or a context, which then is the current one.
    Contexts with a broken chain (`mistakes`) are left out.
    """
    sound = {path: one for path, one in contexts.items() if _broken(one, contexts) is None}
    linked: dict[str, Linked] = {}
    for distance, group in enumerate(_groups(place, sound)):
        level = [Linked(context, distance) for context in group]
        while level:
            for link in level:
                met = linked.setdefault(link.context.path, link)
                if link.distance < met.distance:  # it keeps its place, and is as near as it gets
                    linked[link.context.path] = link
            level = list(_parents(level, sound))
    return tuple(linked.values())


def _groups(place: str, contexts: Contexts) -> Iterator[list[ContextFile]]:
    """Give what stands together: the context itself, or a folder's contexts, and so on upwards."""
    by_folder: dict[str, list[str]] = {}
    for path in contexts:
        if form_of(path) is not None:
            by_folder.setdefault(posixpath.dirname(path), []).append(path)
    above = folders(place)
    if place in contexts and form_of(place) is not None:
        yield [contexts[place]]
        above = folders(posixpath.dirname(place))[1:] if posixpath.dirname(place) else ()
    for folder in above:
        if folder in by_folder:
            yield [contexts[path] for path in sorted(by_folder[folder], key=order)]


def _parents(level: Iterable[Linked], contexts: Contexts) -> Iterator[Linked]:
    for link in level:
        extends = link.context.extends
        parent = None if extends is None else found(extends, contexts)
        if parent is not None:
            yield Linked(parent, link.distance + 1)


def with_parents(context: ContextFile, contexts: Contexts) -> Iterator[ContextFile]:
    """Give a context, then what it extends; nothing of one whose chain is broken but itself."""
    yield context
    while context.extends is not None and _broken(context, contexts) is None:
        parent = found(context.extends, contexts)
        if parent is None:
            return
        yield parent
        context = parent


def merge(layers: Sequence[ContextFile]) -> Resolved:
    """Put contexts together, the nearest first."""
    behavior: dict[str, tuple[BehaviorRule, str]] = {}
    injection: dict[str, tuple[InjectionRule, str]] = {}
    for context in reversed(layers):
        for one in context.behavior_rules:
            behavior[one.trigger] = (one, context.path)
        for rule in context.injection_rules:
            injection[rule.name] = (rule, context.path)
    near = {context.path: at for at, context in reversed(list(enumerate(layers)))}
    return Resolved(
        name=_nearest(layers, "name"),
        type=_nearest(layers, "type"),
        business_goal=_nearest(layers, "business_goal"),
        intent_type=_nearest(layers, "intent_type"),
        behavior_rules=tuple(behavior.values()),
        injection_rules=tuple(
            sorted(
                injection.values(),
                key=lambda each: (-each[0].priority, near[each[1]], each[0].line, each[0].name),
            )
        ),
    )


def _nearest(layers: Iterable[ContextFile], key: str) -> Inherited | None:
    for context in layers:
        value = getattr(context, key)
        if value:
            return Inherited(value, context.path)
    return None


def essentials(context: ContextFile) -> ContextFile:
    """Keep of a context what must be said even where the whole does not fit."""
    return replace(
        context, behavior_rules=(), injection_rules=(), extends=None, extends_line=0, text=""
    )
