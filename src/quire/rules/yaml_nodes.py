"""YAML as a tree of nodes, from the events of its parser; nothing is constructed.

In a module of its own because it imports the parser, which few projects need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml

from quire.rules.nodes import MAX_DEPTH, MAX_SHOWN, Node, StructureError, parse_scalar


def build_tree(text: str) -> Node:
    """Parse YAML: one document, without aliases and tags."""
    events = yaml.parse(text, Loader=yaml.SafeLoader)
    try:
        return _build_document(events)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise StructureError(
            mark.line + 1 if mark else 0, f"not valid YAML: {error.problem!s:.{MAX_SHOWN}}"
        ) from error
    except yaml.YAMLError as error:
        raise StructureError(
            0, f"not valid YAML: {' '.join(str(error).split()):.{MAX_SHOWN}}"
        ) from error


def _build_document(events: Iterator[yaml.Event]) -> Node:
    root = Node({}, 1)
    documents = 0
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise StructureError(_line(event), "a second document: a context file has one")
            root = _build_node(next(events), events, 0)
    return root


def _build_node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
    line = _line(event)
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        raise StructureError(line, "anchors and aliases (`&`, `*`) are not allowed: write it out")
    if getattr(event, "tag", None) is not None:
        raise StructureError(line, "tags (`!`) are not allowed: leave it out")
    if isinstance(event, yaml.ScalarEvent):
        return Node(event.value if event.style else parse_scalar(event.value), line)
    if depth == MAX_DEPTH:
        raise StructureError(line, f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_build_node(event, events, depth + 1))
        return Node(tuple(items), line)
    return Node(_build_table(events, depth), line)


def _build_table(events: Iterator[yaml.Event], depth: int) -> Mapping[str, Node]:
    table: dict[str, Node] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        line = _line(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise StructureError(line, "a key must be a text")
        _build_node(event, events, depth)  # refuses anchors and tags
        if event.value in table:
            first = table[event.value].line
            raise StructureError(line, f"{event.value!r:.60} is repeated; first on line {first}")
        table[event.value] = Node(_build_node(next(events), events, depth + 1).value, line)
    return table


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0
