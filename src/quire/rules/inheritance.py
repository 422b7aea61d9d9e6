"""Inheritance of contexts: which ones apply at a place, and what they say together.

A place inherits from the contexts of its folder and of all folders above; a context inherits from
the one that it `extends`, and from what that extends. The nearest wins: first the contexts of the
folder itself, then what those extend, then the next folder above that has any. Within a folder,
contexts with rules come first, by name, then AGENTS.md, then CLAUDE.md. `extends` adds that one
file, not the others of its folder.

For names, types, goals and intents the nearest value wins. Rules are collected from the farthest to
the nearest; a nearer rule replaces one with the same name (or trigger).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from quire.core.types import (
    BehaviorRule,
    ChainLink,
    ContextFile,
    DanglingReference,
    InheritedValue,
    InjectionRule,
    MergedContext,
    Mistake,
)
from quire.rules.discovery import candidate_paths, detect_format, folder_order

MAX_CHAIN = 16

Contexts = Mapping[str, ContextFile]
"""Context files by path."""


def resolve_reference(reference: str, contexts: Contexts) -> ContextFile | None:
    """Return the context that a reference means, if it exists."""
    paths = candidate_paths(reference)
    return next((contexts[path] for path in paths if path in contexts), None)


def find_dangling(
    rule: InjectionRule, path: str, contexts: Contexts
) -> Iterator[DanglingReference]:
    """Yield the references of a rule that lead to no context."""
    for reference in rule.inject:
        if resolve_reference(reference, contexts) is None:
            yield DanglingReference(reference, rule.name, path, rule.line)


def find_broken_extends(contexts: Contexts) -> tuple[Mistake, ...]:
    """Return the contexts that extend a missing one, or each other in a circle."""
    checks = ((path, _broken_chain(contexts[path], contexts)) for path in sorted(contexts))
    return tuple(
        Mistake(path, contexts[path].extends_line, reason) for path, reason in checks if reason
    )


def _broken_chain(context: ContextFile, contexts: Contexts) -> str | None:
    """Return what is wrong with the chain that a context extends, if anything."""
    chain = [context.path]
    while context.extends is not None:
        parent = resolve_reference(context.extends, contexts)
        if parent is None:
            through = "" if len(chain) == 1 else f" ({' > '.join(chain)})"
            return f"extends {context.extends!r}, which does not exist or has mistakes{through}"
        if parent.path in chain:
            return f"contexts extend each other in a circle: {' > '.join((*chain, parent.path))}"
        chain.append(parent.path)
        if len(chain) > MAX_CHAIN:
            return f"extends more than {MAX_CHAIN} contexts in a row: {' > '.join(chain[:4])} …"
        context = parent
    return None


def inherited_folders(place: str) -> tuple[str, ...]:
    """Return the folders that a place inherits from, the nearest first, itself included."""
    parts = place.split("/") if place else []
    return tuple("/".join(parts[:count]) for count in range(len(parts), -1, -1))


def resolve_chain(place: str, contexts: Contexts) -> tuple[ChainLink, ...]:
    """Return the contexts that apply at a place, the nearest first, each once.

    A place is a path from the root: a folder, a file, or a context, which then is the current one.
    Contexts with a broken chain (`find_broken_extends`) are left out.
    """
    sound = {
        path: context
        for path, context in contexts.items()
        if _broken_chain(context, contexts) is None
    }
    links: dict[str, ChainLink] = {}
    for distance, group in enumerate(_group_by_folder(place, sound)):
        level = [ChainLink(context, distance) for context in group]
        while level:
            for link in level:
                known = links.setdefault(link.context.path, link)
                if link.distance < known.distance:  # it keeps its place, with the smaller distance
                    links[link.context.path] = link
            level = list(_parents(level, sound))
    return tuple(links.values())


def _group_by_folder(place: str, contexts: Contexts) -> Iterator[list[ContextFile]]:
    """Yield the contexts of each folder from a place upwards; a context comes alone, first."""
    by_folder: dict[str, list[str]] = {}
    for path in contexts:
        if detect_format(path) is not None:
            by_folder.setdefault(posixpath.dirname(path), []).append(path)
    folders = inherited_folders(place)
    if place in contexts and detect_format(place) is not None:
        yield [contexts[place]]
        parent = posixpath.dirname(place)
        folders = inherited_folders(parent)[1:] if parent else ()
    for folder in folders:
        if folder in by_folder:
            yield [contexts[path] for path in sorted(by_folder[folder], key=folder_order)]


def _parents(level: Iterable[ChainLink], contexts: Contexts) -> Iterator[ChainLink]:
    for link in level:
        extends = link.context.extends
        parent = None if extends is None else resolve_reference(extends, contexts)
        if parent is not None:
            yield ChainLink(parent, link.distance + 1)


def with_parents(context: ContextFile, contexts: Contexts) -> Iterator[ContextFile]:
    """Yield a context, then what it extends; only itself if that chain is broken."""
    yield context
    while context.extends is not None and _broken_chain(context, contexts) is None:
        parent = resolve_reference(context.extends, contexts)
        if parent is None:
            return
        yield parent
        context = parent


def merge(layers: Sequence[ContextFile]) -> MergedContext:
    """Merge contexts, given the nearest first."""
    behavior: dict[str, tuple[BehaviorRule, str]] = {}
    injection: dict[str, tuple[InjectionRule, str]] = {}
    for context in reversed(layers):
        for behavior_rule in context.behavior_rules:
            behavior[behavior_rule.trigger] = (behavior_rule, context.path)
        for rule in context.injection_rules:
            injection[rule.name] = (rule, context.path)
    nearness = {context.path: index for index, context in reversed(list(enumerate(layers)))}
    return MergedContext(
        name=_nearest(layers, "name"),
        type=_nearest(layers, "type"),
        business_goal=_nearest(layers, "business_goal"),
        intent_type=_nearest(layers, "intent_type"),
        behavior_rules=tuple(behavior.values()),
        injection_rules=tuple(
            sorted(
                injection.values(),
                key=lambda item: (
                    -item[0].priority,
                    nearness[item[1]],
                    item[0].line,
                    item[0].name,
                ),
            )
        ),
    )


def _nearest(layers: Iterable[ContextFile], key: str) -> InheritedValue | None:
    for context in layers:
        value = getattr(context, key)
        if value:
            return InheritedValue(value, context.path)
    return None
