"""What does a context file say?

All mistakes of a file are told at once, each with its line. Rules come from the structured part
alone: the prose of a file is text, whatever stands in it, and AGENTS.md and CLAUDE.md are nothing
but prose.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from quire.core.types import SKIP, BehaviorRule, Condition, ContextFile, InjectionRule, Mistake
from quire.rules import conditions, schema
from quire.rules.discovery import ENDINGS, MARKDOWN, TOML, YAML, form_of, place_of
from quire.rules.expressions import NotAnExpression
from quire.rules.nodes import Node, Unreadable, from_toml, from_yaml

LONGEST = 256 * 1024
"""Characters of a whole file."""

_FENCE = re.compile(r"---[ \t]*\n")
_FENCE_END = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+([^\n]*?)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
_CODE = re.compile(r"^[ ]{0,3}(```|~~~).*?(?:^[ ]{0,3}\1|\Z)", re.MULTILINE | re.DOTALL)


def read(path: str, text: str) -> ContextFile | tuple[Mistake, ...]:
    """Read a context file, or tell all that is wrong with it."""
    if len(text) > LONGEST:
        return (Mistake(path, 0, f"{len(text)} characters; a context has at most {LONGEST}"),)
    form = form_of(path)
    try:
        if form == YAML:
            return _made(path, from_yaml(text), "")
        if form == TOML:
            return _made(path, from_toml(text), "")
        if form == MARKDOWN:
            return _markdown(path, text)
    except Unreadable as error:
        return (Mistake(path, error.line, error.reason),)
    return ContextFile(path, _name(path, text), text=text.strip())


def _markdown(path: str, text: str) -> ContextFile | tuple[Mistake, ...]:
    opening = _FENCE.match(text)
    if opening is None:
        return ContextFile(path, _name(path, text), text=text.strip())
    closing = _FENCE_END.search(text, opening.end())
    if closing is None:
        return (Mistake(path, 1, "the front matter is never closed: end it with a line `---`"),)
    # The line of the fence stays, so that the lines are those of the file.
    front = "\n" + text[opening.end() : closing.start()]
    return _made(path, from_yaml(front), text[closing.end() :].strip())


def _made(path: str, root: Node, body: str) -> ContextFile | tuple[Mistake, ...]:
    wrong = [Mistake(path, line, reason) for line, reason in schema.check(schema.CONTEXT, root)]
    reader = _Reader(path, wrong)
    said = _values(root)
    if body and "text" in said:
        reader.note(said["text"].line, "text: the file has a body already: leave out one of them")
    extends = said.get("extends")
    metadata, intent = _values(said.get("metadata")), _values(said.get("intent_context"))
    prose = body or _text(said, "text")
    made = ContextFile(
        path=path,
        name=_text(metadata, "name") or _name(path, prose),
        type=_text(metadata, "type"),
        business_goal=_text(intent, "business_goal"),
        intent_type=_text(intent, "intent_type"),
        behavior_rules=tuple(reader.behavior(_sound(said.get("behavior_rules"), schema.BEHAVIOR))),
        injection_rules=tuple(
            reader.injection(_sound(said.get("injection_rules"), schema.INJECTION))
        ),
        extends=None if extends is None else reader.reference(extends, "extends"),
        text=prose,
        extends_line=0 if extends is None else extends.line,
    )
    return _in_order(wrong) if wrong else made


class _Reader:
    """Makes rules of nodes that have the right shape; notes what is wrong with them still."""

    def __init__(self, path: str, wrong: list[Mistake]) -> None:
        self._path = path
        self._wrong = wrong

    def behavior(self, items: Iterable[Node]) -> Iterator[BehaviorRule]:
        seen: dict[str, int] = {}
        for item in items:
            said = _values(item)
            trigger = _text(said, "trigger")
            self._once(seen, trigger, said["trigger"].line, "behavior_rules: the trigger")
            yield BehaviorRule(trigger, _text(said, "action"), item.line)

    def injection(self, items: Iterable[Node]) -> Iterator[InjectionRule]:
        seen: dict[str, int] = {}
        for item in items:
            said = _values(item)
            name = _text(said, "name")
            place = f"rule {name!r}"
            self._once(seen, name, said["name"].line, "injection_rules: the name")
            references = [self.reference(one, place) for one in _items(said["inject"])]
            yield InjectionRule(
                name=name,
                inject=tuple(dict.fromkeys(references)),
                condition=self._condition(said.get("condition"), place),
                priority=said["priority"].value if "priority" in said else 0,  # type: ignore[arg-type]  # its shape says so
                on_error=_text(said, "on_error") or SKIP,
                line=item.line,
            )

    def reference(self, node: Node, place: str) -> str:
        given = str(node.value)
        found = place_of(given, self._path)
        if found is None:
            self.note(node.line, f"{place}: {given!r:.60} is no path inside the project")
        return found or ""

    def _condition(self, node: Node | None, place: str) -> Condition | None:
        if node is None:
            return None
        try:
            if isinstance(node.value, str):
                return conditions.of_text(node.value)
            ((key, inner),) = _values(node).items()
            made = conditions.of_expression if key == "expr" else conditions.of_sentence
            return made(str(inner.value))
        except NotAnExpression as error:
            self.note(node.line, f"{place}: the condition is no expression: {error}")
            return None

    def _once(self, seen: dict[str, int], name: str, line: int, what: str) -> None:
        if name in seen:
            self.note(line, f"{what} {name!r:.60} stands here again, first on line {seen[name]}")
        seen.setdefault(name, line)

    def note(self, line: int, reason: str) -> None:
        """Note what is wrong on a line."""
        self._wrong.append(Mistake(self._path, line, reason))


def _values(node: Node | None) -> Mapping[str, Node]:
    return node.value if node is not None and isinstance(node.value, Mapping) else {}


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.value if node is not None and isinstance(node.value, tuple) else ()


def _sound(node: Node | None, wanted: schema.Shape) -> list[Node]:
    """Give those entries of a list that have the right shape; the others are told already."""
    return [item for item in _items(node) if not any(schema.check(wanted, item))]


def _text(said: Mapping[str, Node], key: str) -> str:
    value: Any = said[key].value if key in said else ""
    return str(value).strip()


def _name(path: str, prose: str) -> str:
    """Call a context after its first heading, else its file, else the folder of a plain one."""
    heading = next((met for met in _HEADING.findall(_CODE.sub("", prose)) if met), "")
    if heading:
        return str(heading)[:200]
    file = posixpath.basename(path)
    for ending in ENDINGS:
        if file.endswith(ending) and file != ending:
            return file.removesuffix(ending)
    return posixpath.basename(posixpath.dirname(path)) or file


def _in_order(wrong: Iterable[Mistake]) -> tuple[Mistake, ...]:
    return tuple(sorted(wrong, key=lambda one: (one.line, one.reason)))
