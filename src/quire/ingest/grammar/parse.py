"""Syntax trees, parsed within a limited amount of work.

In text without structure the parser's time grows with the square of what it cannot parse. The text
is therefore parsed in steps, each reusing the tree of the step before, and parsing stops by counts,
never by a clock: when the parser reads the same places again and again, when it takes too many
operations, when it has produced too many errors, or when the tree has become a chain. Such text has
no tree.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from quire.ingest.grammar.languages import GRAMMARS

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query, Tree

MAX_LENGTH = 1024 * 1024
"""A file of more characters is data or generated: line-based chunks are good enough."""
FIRST_STEP, MAX_STEP = 8192, 8192
"""Characters added by the first step, and by a step at most. Where a step cuts through a chain, the
parser takes memory by the square of its length: of eight thousand characters two gigabytes."""
BLOCK = 1024
"""Characters that the parser reads at once."""
MAX_READS, MAX_REREADS = 40, 4
"""How often it may read each block of a step, and each block of the steps before."""
LEAST_CALLS, CALL_LENGTH, CALL_RELENGTH = 100, 8, 32
"""How often it may say how far it is, which it does every hundred operations: so often in any case,
and once for so many characters of a step, and of the steps before. Code of all kinds, minified too,
needs one for forty characters or more."""
MAX_ERRORS, ERROR_LENGTH = 500, 12
"""More errors in a step, of fewer characters each on average, mean text without structure."""
LITERALS = ((b"/*", b"*/"), (b"=begin", b"\n=end"), (b'"""',) * 2, (b"'''",) * 2, (b"`",) * 2)
"""How comments and texts of many lines begin and end. One that a step cuts through looks like text
without structure."""
MAX_LITERALS = 8
"""So many steps that cut through one are taken further."""
MAX_LITERAL = 2 * MAX_STEP
"""Characters by which one is: what is code after all takes the parser memory by their square."""
MAX_DEPTH = 500
"""A deeper tree is a chain, not the structure of a program."""


def missing_grammars() -> tuple[str, ...]:
    """Return the languages whose grammar is not installed; the extra `code` installs them all."""
    if find_spec("tree_sitter") is None:
        return tuple(GRAMMARS)
    return tuple(name for name, row in GRAMMARS.items() if find_spec(row.module) is None)


@cache
def load_grammar(name: str) -> tuple[Language, Query] | None:
    """Load a grammar and its query; return None if its package is not installed."""
    grammar = GRAMMARS[name]
    try:
        from tree_sitter import Language, Query

        module = import_module(grammar.module)
    except ImportError:
        return None
    language = Language(getattr(module, grammar.entry)())
    return language, Query(language, grammar.query)


def parse_tree(language: Language, data: bytes) -> Tree | None:
    """Parse text with one byte for each character; return None for text without structure."""
    from tree_sitter import Parser

    if len(data) > MAX_LENGTH:
        return None
    parser = Parser(language)
    tree: Tree | None = None
    done, step, point = 0, FIRST_STEP, (0, 0)
    since, further = 0, MAX_LITERALS
    target = step
    while done < len(data) or tree is None:
        end = _step_end(data, target)
        end_point = _advance_point(data, done, end, point)
        if tree is not None:
            tree.edit(done, done, end, point, point, end_point)
        tree = _Work(data, done, end).parse(parser, tree)
        if tree is None or _is_deep(tree, done, end):
            return None
        done, step, point = end, min(2 * step, MAX_STEP), end_point
        target = done + step
        if not _has_many_errors(tree, since, end):
            since = end
            continue
        further -= 1
        target = _end_of_literal(data, since, end) if further else 0
        if not target:
            return None
    return tree


def _end_of_literal(data: bytes, start: int, end: int) -> int:
    """Return the end of a comment or text that begins within a step and ends behind it; else 0."""
    ends: list[int] = []
    for opening, closing in LITERALS:
        if opening == closing:
            is_open = data.count(opening, start, end) % 2 == 1
        else:
            at = data.rfind(opening, start, end)
            is_open = at >= 0 and data.find(closing, at + len(opening), end) < 0
        if is_open and (at := data.find(closing, end, end + MAX_LITERAL)) >= 0:
            ends.append(at + len(closing))
    return min(ends, default=0)


class _Work:
    """What the parser may do in one step."""

    def __init__(self, data: bytes, done: int, end: int) -> None:
        self._data, self._end = data, end
        self._reads = MAX_READS * (2 + (end - done) // BLOCK) + MAX_REREADS * (done // BLOCK)
        self._calls = LEAST_CALLS + (end - done) // CALL_LENGTH + done // CALL_RELENGTH

    def parse(self, parser: Parser, tree: Tree | None) -> Tree | None:
        """Parse the text, given the tree of what was known before; None: it was too much."""
        try:
            if tree is None:
                parsed = parser.parse(self._read, progress_callback=self._must_stop)
            else:
                parsed = parser.parse(self._read, tree, progress_callback=self._must_stop)
        except ValueError:  # it was stopped
            return None
        return parsed if self._reads > 0 else None

    def _read(self, offset: int, _: object) -> bytes:
        self._reads -= 1
        return self._data[offset : min(offset + BLOCK, self._end)] if self._reads > 0 else b""

    def _must_stop(self, *_: object) -> bool:
        self._calls -= 1
        return self._calls <= 0


def _step_end(data: bytes, target: int) -> int:
    """Return the end of a step: that of a line, if one ends soon after the target."""
    if target >= len(data):
        return len(data)
    line_end = data.find(b"\n", target, target + BLOCK)
    return target if line_end < 0 else line_end + 1


def _advance_point(data: bytes, start: int, end: int, point: tuple[int, int]) -> tuple[int, int]:
    """Return row and column of the end, from those of the start."""
    lines = data.count(b"\n", start, end)
    if not lines:
        return point[0], point[1] + end - start
    return point[0] + lines, end - data.rfind(b"\n", start, end) - 1


def _is_deep(tree: Tree, since: int, end: int) -> bool:
    """Return whether the tree has become a chain within a step."""
    cursor = tree.walk()
    for offset in range(since, end, BLOCK):
        while cursor.goto_first_child_for_byte(offset) is not None:
            if cursor.depth > MAX_DEPTH:
                return True
        cursor.reset(tree.root_node)
    return False


def _has_many_errors(tree: Tree, since: int, end: int) -> bool:
    """Return whether a step has many short pieces that the parser could not place."""
    cursor = tree.walk()
    errors = 0
    while True:
        node = cursor.node
        assert node is not None, "a cursor always has a node"
        first = cursor.goto_first_child_for_byte(since) if node.has_error else None
        if node.is_error:
            errors += max(1, node.child_count - (first or 0))
            if errors > MAX_ERRORS and end - since < ERROR_LENGTH * errors:
                return True
        if first is not None:
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
