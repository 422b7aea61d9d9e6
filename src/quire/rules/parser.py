"""Parser of context files: from their text to a ContextFile, or to all of its mistakes.

All mistakes of a file are reported at once, each with its line. Rules come from the structured part
alone: the prose of a file is text, whatever it contains, and AGENTS.md and CLAUDE.md are nothing
but prose.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from quire.core.types import SKIP, BehaviorRule, Condition, ContextFile, InjectionRule, Mistake
from quire.ingest import front_matter
from quire.rules import schema
from quire.rules.conditions import classify_condition, expression_condition, sentence_condition
from quire.rules.discovery import (
    CONTEXT_SUFFIXES,
    MARKDOWN,
    TOML,
    YAML,
    detect_format,
    resolve_path,
)
from quire.rules.expressions import ExpressionError
from quire.rules.nodes import Node, StructureError, parse_toml, parse_yaml

MAX_CHARACTERS = 256 * 1024
"""Length of a whole file."""

_FENCE = re.compile(r"---[ \t]*\n")
_FENCE_END = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]([^\n]*)$", re.MULTILINE)
_CODE = re.compile(r"^[ ]{0,3}(```|~~~).*?(?:^[ ]{0,3}\1|\Z)", re.MULTILINE | re.DOTALL)


def parse_context_file(path: str, text: str) -> ContextFile | tuple[Mistake, ...]:
    """Parse a context file, or return everything that is wrong with it."""
    if len(text) > MAX_CHARACTERS:
        reason = f"{len(text)} characters; a context file has at most {MAX_CHARACTERS}"
        return (Mistake(path, 0, reason),)
    fmt = detect_format(path)
    try:
        if fmt == YAML:
            return _build(path, parse_yaml(text), "")
        if fmt == TOML:
            return _build(path, parse_toml(text), "")
        if fmt == MARKDOWN:
            return _parse_markdown(path, text)
    except StructureError as error:
        return (Mistake(path, error.line, error.reason),)
    return _parse_prose(path, text)


def _parse_prose(path: str, text: str) -> ContextFile:
    """Parse a file without rules: its front matter is about the file, not for its readers.

    One that has the keys of a context file stays in the text: whoever wrote it meant it to be read.
    """
    fields, start = front_matter.parse_fields(text)
    prose = text if fields.keys() & schema.CONTEXT.keys.keys() else text[start:]
    title = " ".join(fields.get("title", ())).strip()
    return ContextFile(path, title[:200] or _default_name(path, prose), text=prose.strip())


def _parse_markdown(path: str, text: str) -> ContextFile | tuple[Mistake, ...]:
    opening = _FENCE.match(text)
    if opening is None:
        return ContextFile(path, _default_name(path, text), text=text.strip())
    closing = _FENCE_END.search(text, opening.end())
    if closing is None:
        return (Mistake(path, 1, "the front matter is never closed: end it with a line `---`"),)
    # The line of the fence stays, so that line numbers are those of the file.
    front_matter = "\n" + text[opening.end() : closing.start()]
    return _build(path, parse_yaml(front_matter), text[closing.end() :].strip())


def _build(path: str, root: Node, body: str) -> ContextFile | tuple[Mistake, ...]:
    violations = schema.check(schema.CONTEXT, root)
    builder = _Builder(path, [Mistake(path, line, reason) for line, reason in violations])
    table = _table(root)
    if body and "text" in table:
        builder.report(
            table["text"].line, "text: the file has a body already: leave out one of them"
        )
    extends = table.get("extends")
    metadata, intent = _table(table.get("metadata")), _table(table.get("intent_context"))
    prose = body or _text(table, "text")
    context = ContextFile(
        path=path,
        name=_text(metadata, "name") or _default_name(path, prose),
        type=_text(metadata, "type"),
        business_goal=_text(intent, "business_goal"),
        intent_type=_text(intent, "intent_type"),
        behavior_rules=tuple(
            builder.behavior_rules(_valid_items(table.get("behavior_rules"), schema.BEHAVIOR))
        ),
        injection_rules=tuple(
            builder.injection_rules(_valid_items(table.get("injection_rules"), schema.INJECTION))
        ),
        extends=None if extends is None else builder.reference(extends, "extends"),
        text=prose,
        extends_line=0 if extends is None else extends.line,
    )
    if builder.mistakes:
        return tuple(sorted(builder.mistakes, key=lambda item: (item.line, item.reason)))
    return context


class _Builder:
    """Builds rules from nodes that match the schema; reports what is still wrong with them."""

    def __init__(self, path: str, mistakes: list[Mistake]) -> None:
        self._path = path
        self.mistakes = mistakes

    def behavior_rules(self, items: Iterable[Node]) -> Iterator[BehaviorRule]:
        seen: dict[str, int] = {}
        for item in items:
            table = _table(item)
            trigger = _text(table, "trigger")
            self._check_unique(seen, trigger, table["trigger"].line, "behavior_rules: the trigger")
            yield BehaviorRule(trigger, _text(table, "action"), item.line)

    def injection_rules(self, items: Iterable[Node]) -> Iterator[InjectionRule]:
        seen: dict[str, int] = {}
        for item in items:
            table = _table(item)
            name = _text(table, "name")
            place = f"rule {name!r}"
            self._check_unique(seen, name, table["name"].line, "injection_rules: the name")
            references = [self.reference(node, place) for node in _items(table["inject"])]
            yield InjectionRule(
                name=name,
                inject=tuple(dict.fromkeys(references)),
                condition=self._condition(table.get("condition"), place),
                priority=table["priority"].value if "priority" in table else 0,  # type: ignore[arg-type]  # its schema says so
                on_error=_text(table, "on_error") or SKIP,
                line=item.line,
            )

    def reference(self, node: Node, place: str) -> str:
        """Return the path that a reference points to; report one that leaves the project."""
        reference = str(node.value)
        path = resolve_path(reference, self._path)
        if path is None:
            self.report(node.line, f"{place}: {reference!r:.60} is not a path inside the project")
        return path or ""

    def _condition(self, node: Node | None, place: str) -> Condition | None:
        if node is None:
            return None
        try:
            if isinstance(node.value, str):
                return classify_condition(node.value)
            ((key, inner),) = _table(node).items()
            build = expression_condition if key == "expr" else sentence_condition
            return build(str(inner.value))
        except ExpressionError as error:
            self.report(node.line, f"{place}: the condition is not an expression: {error}")
            return None

    def _check_unique(self, seen: dict[str, int], name: str, line: int, what: str) -> None:
        if name in seen:
            self.report(line, f"{what} {name!r:.60} is repeated; first on line {seen[name]}")
        seen.setdefault(name, line)

    def report(self, line: int, reason: str) -> None:
        """Record a mistake on a line."""
        self.mistakes.append(Mistake(self._path, line, reason))


def _table(node: Node | None) -> Mapping[str, Node]:
    return node.value if node is not None and isinstance(node.value, Mapping) else {}


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.value if node is not None and isinstance(node.value, tuple) else ()


def _valid_items(node: Node | None, shape: schema.Shape) -> list[Node]:
    """Return the items of a list that match a shape; the others are reported already."""
    return [item for item in _items(node) if not any(schema.check(shape, item))]


def _text(table: Mapping[str, Node], key: str) -> str:
    value: Any = table[key].value if key in table else ""
    return str(value).strip()


def _default_name(path: str, prose: str) -> str:
    """Name a context after its first heading, else its file, else its folder."""
    headings = (_strip_closing_hashes(text) for text in _HEADING.findall(_CODE.sub("", prose)))
    heading = next(filter(None, headings), "")
    if heading:
        return heading[:200]
    file = posixpath.basename(path)
    if detect_format(path) is None:
        return posixpath.splitext(file)[0]
    for suffix in CONTEXT_SUFFIXES:
        if file.endswith(suffix) and file != suffix:
            return file.removesuffix(suffix)
    return posixpath.basename(posixpath.dirname(path)) or file


def _strip_closing_hashes(heading: str) -> str:
    """Return the text of a heading: `Name ##` is closed by its hashes, `C#` is not."""
    text = heading.strip(" \t")
    open_text = text.rstrip("#")
    return open_text.rstrip(" \t") if open_text.endswith((" ", "\t")) else text
