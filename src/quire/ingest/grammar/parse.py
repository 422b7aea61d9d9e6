"""What tree does a text have, and what does it cost to find out?

Where a text has no order, the parser's time grows with the square of what it cannot place. So it
is given the text in steps, each taking over the tree of the one before, and it is stopped by
counts, never by a clock: when it reads the same places over and over, or when what it could not
place has become a crowd, or the tree a chain. The text then has no tree.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from quire.ingest.grammar.languages import GRAMMARS

if TYPE_CHECKING:
    from tree_sitter import Language, Query, Tree

LONGEST = 256 * 1024
"""A file of more characters is data, or generated: its lines tell enough of it."""
FIRST_STEP, LARGEST_STEP = 8192, 16384
"""Characters that the parser is given more, at first and at most."""
BLOCK = 1024
"""Characters that it reads at once."""
READS, READS_AGAIN = 40, 4
"""Times that it may read each block of a step, and of what it has seen before."""
CROWD, SHORT = 500, 12
"""So many things in a step that it cannot place, each of so few characters, have no order."""
DEEPEST = 500
"""Where a tree is deeper than this, it is a chain, no order of a program's."""


def missing_grammars() -> tuple[str, ...]:
    """Name the languages that have a grammar which is not installed: `quire[code]` brings them."""
    if find_spec("tree_sitter") is None:
        return tuple(GRAMMARS)
    return tuple(name for name, row in GRAMMARS.items() if find_spec(row.module) is None)


@cache
def loaded(name: str) -> tuple[Language, Query] | None:
    """Load a grammar and its query; None: its wheel is not installed."""
    grammar = GRAMMARS[name]
    try:
        from tree_sitter import Language, Query

        module = import_module(grammar.module)
    except ImportError:
        return None
    language = Language(getattr(module, grammar.entry)())
    return language, Query(language, grammar.query)


def tree_of(language: Language, data: bytes) -> Tree | None:
    """Parse a text of one byte a character; None: it has no order that can be found in time."""
    from tree_sitter import Parser

    if len(data) > LONGEST:
        return None
    parser = Parser(language)
    tree: Tree | None = None
    done, step, place = 0, FIRST_STEP, (0, 0)
    while done < len(data) or tree is None:
        end = _step_end(data, done + step)
        reads = READS * (2 + (end - done) // BLOCK) + READS_AGAIN * (done // BLOCK)

        def block(offset: int, _: object, limit: int = end) -> bytes:
            nonlocal reads
            reads -= 1
            return data[offset : min(offset + BLOCK, limit)] if reads > 0 else b""

        reached = _place_behind(data, done, end, place)
        if tree is None:
            tree = parser.parse(block)
        else:
            tree.edit(done, done, end, place, place, reached)
            tree = parser.parse(block, tree)
        if reads <= 0 or _is_deep(tree, done, end) or _is_crowded(tree, done, end):
            return None
        done, step, place = end, min(2 * step, LARGEST_STEP), reached
    return tree


def _step_end(data: bytes, wanted: int) -> int:
    """End a step behind a line, if one ends soon."""
    if wanted >= len(data):
        return len(data)
    line_end = data.find(b"\n", wanted, wanted + BLOCK)
    return wanted if line_end < 0 else line_end + 1


def _place_behind(data: bytes, start: int, end: int, place: tuple[int, int]) -> tuple[int, int]:
    """Give row and column of an offset, from those of an earlier one."""
    lines = data.count(b"\n", start, end)
    if not lines:
        return place[0], place[1] + end - start
    return place[0] + lines, end - data.rfind(b"\n", start, end) - 1


def _is_deep(tree: Tree, since: int, end: int) -> bool:
    """Tell whether the tree has become a chain in what it has seen since."""
    cursor = tree.walk()
    for place in range(since, end, BLOCK):
        while cursor.goto_first_child_for_byte(place) is not None:
            if cursor.depth > DEEPEST:
                return True
        cursor.reset(tree.root_node)
    return False


def _is_crowded(tree: Tree, since: int, end: int) -> bool:
    """Tell whether there is a crowd of short things in a step that the parser could not place."""
    cursor = tree.walk()
    crowd = 0
    while True:
        node = cursor.node
        assert node is not None, "a cursor stands on a node"
        first = cursor.goto_first_child_for_byte(since) if node.has_error else None
        if node.is_error:
            crowd += max(1, node.child_count - (first or 0))
            if crowd > CROWD and end - since < SHORT * crowd:
                return True
        if first is not None:
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
