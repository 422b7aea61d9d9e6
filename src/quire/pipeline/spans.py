"""Find the pieces of a context in its text, so that a reader sees which line comes from where.

A format may escape a text, indent it, or show a part of it, so lines are compared and not whole
texts. A line that several pieces have is given to the one whose lines it stands among. A line that
no piece has, such as a marker, belongs to none. The spans joined are the text, to the byte.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_MIN_LETTERS = 3
"""A line with fewer letters and digits says nothing about where it comes from."""
_MIN_PART = 16
"""A part of a line must be this long to be looked for in a piece."""
_MIN_START = 32
"""The beginning of a line that is looked for where the line as a whole is not found."""
_MARKS = re.compile(r"[`*_]")
_PREFIX = re.compile(r"^(?:[>|#*+-]+|[0-9]+[.:|])\s+")
# Begins where a run of such characters begins, so that each run is looked at once.
_CUT = re.compile(r"(?<![\s….\[\]])\s*+(?:\[?(?:…|\.\.\.)\]?)++$")
# A backslash before what could pass for a line of the format, behind marks of a comment or list.
_ESCAPE = re.compile(r"^(\W*?)\\")
_ANYWHERE = -1
"""The place of a line in a piece that has it, but not as a line."""
_MAX_PLACES = 2
"""In a piece that repeats a line, the first place of it is looked at, and this many of those that
come next."""
_MAX_PIECES = 8
"""Of the pieces that have a line, those are looked at that are nearest to the line before."""
_MAX_STEPS = 8
"""So many readings of the text so far are followed, the best ones."""
_GAP = 1
"""What it costs to leave out lines of a piece."""
_AGAIN = 3
"""What it costs to go back in a piece."""
_SWITCH = 2
"""What it costs to go on with another piece; behind a line that no piece has it is less."""
_MIDDLE = 1
"""What it costs to begin a piece behind its first line."""
_Cost = tuple[int, int]
"""What a reading of the text costs, and how far it jumps from piece to piece."""


@dataclass(frozen=True, slots=True)
class Span:
    """Successive lines of a context that come from the same piece, or from none."""

    text: str
    piece: int | None
    """The number of the piece."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A line of a piece that a line of the text may be."""

    piece: int
    line: int
    """Its number among the lines of the piece that say something."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The best reading of the text up to a line that ends in a place."""

    place: _Place
    cost: _Cost
    before: _Step | None


def find_spans(text: str, pieces: Sequence[str]) -> tuple[Span, ...]:
    """Split the text of a context where one piece ends and another begins.

    Args:
        text: The text of the context.
        pieces: The texts of its pieces, in the order in which it shows them.
    """
    lines = text.splitlines(keepends=True)
    spans: list[Span] = []
    for line, owner in zip(lines, _assign(lines, _Pieces(pieces)), strict=True):
        if spans and spans[-1].piece == owner:
            spans[-1] = Span(spans[-1].text + line, owner)
        else:
            spans.append(Span(line, owner))
    return tuple(spans)


def _assign(lines: Sequence[str], pieces: _Pieces) -> list[int | None]:
    """Return the piece of each line."""
    telling = {number: _forms(line) for number, line in enumerate(lines) if _is_telling(line)}
    owners: list[int | None] = [None] * len(lines)
    for number, piece in _read(lines, telling, pieces).items():
        owners[number] = piece
    shown = [number for number, line in enumerate(lines) if line.strip()]
    _extend(lines, shown, owners, pieces)
    _extend(lines, shown[::-1], owners, pieces)
    return _fill_gaps(lines, owners)


def _read(lines: Sequence[str], telling: dict[int, list[str]], pieces: _Pieces) -> dict[int, int]:
    """Return the pieces of the lines that say something: of all readings the one that costs least.

    A piece is best read from its first line to its last one, and the pieces in their order.
    """
    steps: list[_Step] = []
    read: list[int] = []
    is_after_marker = False
    for number, line in enumerate(lines):
        if number not in telling:
            # A bracket may be a part of any piece; what no piece has, such as dots, is a marker.
            is_after_marker |= bool(line.strip()) and not pieces.have(line)
            continue
        places = pieces.places(telling[number], steps)
        if not places:
            is_after_marker = True
            continue
        steps = _go_on(steps, places, is_after_marker=is_after_marker)
        steps = sorted(steps, key=lambda step: step.cost)[:_MAX_STEPS]
        read.append(number)
        is_after_marker = False
    step = next(iter(steps), None)
    found: dict[int, int] = {}
    for number in reversed(read):
        assert step is not None  # each line that was read has a step
        found[number] = step.place.piece
        step = step.before
    return found


def _go_on(
    before: Sequence[_Step], places: Iterable[_Place], *, is_after_marker: bool
) -> list[_Step]:
    """Return the best steps to the places of a line from those to the line before it."""
    steps: list[_Step] = []
    for place in places:
        best = _Step(place, (_cost_to_begin(place), place.piece), None)
        for at, step in enumerate(before):
            cost, jump = _cost(step.place, place, is_after_marker=is_after_marker)
            whole = (step.cost[0] + cost, step.cost[1] + jump)
            if at == 0 or whole < best.cost:
                best = _Step(place, whole, step)
        steps.append(best)
    return steps


def _cost(place: _Place, then: _Place, *, is_after_marker: bool) -> _Cost:
    """Return what it costs to go on with another line, and how far that jumps over pieces."""
    if then.piece != place.piece:
        cost = _SWITCH - is_after_marker + _cost_to_begin(then)
        return cost, abs(then.piece - place.piece - 1)
    if _ANYWHERE in (place.line, then.line) or then.line > place.line + 1:
        return _GAP, 0
    if then.line <= place.line:
        return _AGAIN, 0
    return _GAP * is_after_marker, 0


def _cost_to_begin(place: _Place) -> int:
    return _MIDDLE if place.line != 0 else 0


def _extend(
    lines: Sequence[str], shown: Sequence[int], owners: list[int | None], pieces: _Pieces
) -> None:
    """Give lines that say nothing, such as brackets, to the piece beside them that has them."""
    for beside, number in pairwise(shown):
        owner = owners[beside]
        if owners[number] is None and owner is not None and pieces.has_small(owner, lines[number]):
            owners[number] = owner


def _fill_gaps(lines: Sequence[str], found: Sequence[int | None]) -> list[int | None]:
    """Give empty lines to the piece that goes on behind them."""
    filled = [*found]
    start: int | None = None
    for number, line in enumerate(lines):
        if not line.strip():
            start = number if start is None else start
            continue
        if start is not None and start > 0 and filled[start - 1] == found[number]:
            filled[start:number] = [found[number]] * (number - start)
        start = None
    return filled


class _Pieces:
    """The lines of the pieces, and which pieces have a line."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces
        self._lines: list[list[str]] = []
        """Of each piece those that say something."""
        self._places: dict[str, dict[int, list[int]]] = {}
        """The lines of each piece at which a text stands."""
        self._small: dict[str, set[int]] = {}
        """The pieces of lines that say nothing."""
        for number, piece in enumerate(pieces):
            lines = [line.strip() for line in piece.splitlines() if line.strip()]
            self._lines.append([line for line in lines if _is_telling(line)])
            for line in lines:
                if not _is_telling(line):
                    self._small.setdefault(line, set()).add(number)
            for at, line in enumerate(self._lines[-1]):
                self._places.setdefault(line, {}).setdefault(number, []).append(at)

    def have(self, line: str) -> bool:
        """Tell whether any piece has a line that says nothing."""
        return any(form in self._small for form in _forms(line))

    def has_small(self, piece: int, line: str) -> bool:
        """Tell whether a piece has a line that says nothing."""
        return any(piece in self._small.get(form, ()) for form in _forms(line))

    def places(self, forms: Sequence[str], steps: Sequence[_Step]) -> list[_Place]:
        """Return where a line stands in the pieces; of many places those next to the best steps."""
        found = self._find(forms)
        reached: dict[int, int] = {}
        for step in steps:  # the best one first
            reached.setdefault(step.place.piece, step.place.line)
        among = list(found)
        start = max(0, bisect_left(among, next(iter(reached), 0)) - _MAX_PIECES // 2)
        places: list[_Place] = []
        for piece in among[start : start + _MAX_PIECES]:
            lines = found[piece]
            then = bisect_right(lines, reached.get(piece, 0))
            chosen = dict.fromkeys((lines[0], *lines[then : then + _MAX_PLACES]))
            places += (_Place(piece, line) for line in chosen)
        return places

    def _find(self, forms: Sequence[str]) -> dict[int, list[int]]:
        """Return the lines of each piece at which one of the forms of a line stands."""
        for form in forms:
            if form in self._places:
                return self._places[form]
        for form in forms:
            if len(form) >= _MIN_PART:
                among = [number for number, piece in enumerate(self._pieces) if form in piece]
                if among:
                    return {number: [self._line_with(number, form)] for number in among}
        start = _flat(forms[-1])[:_MIN_START] if forms else ""
        if len(start) < _MIN_START:
            return {}
        # A summary: the lines of a paragraph joined, without its marks.
        flat = (_flat(piece) for piece in self._pieces)
        return {number: [_ANYWHERE] for number, piece in enumerate(flat) if start in piece}

    def _line_with(self, piece: int, part: str) -> int:
        found = (at for at, line in enumerate(self._lines[piece]) if part in line)
        return next(found, _ANYWHERE)


@lru_cache(maxsize=256)
def _flat(text: str) -> str:
    """Return a text on one line, without the marks of emphasis and code."""
    return " ".join(_MARKS.sub("", text).split())


def _forms(line: str) -> list[str]:
    """Return the line as it stands, unescaped, without what marks a list, and without a cut."""
    bare = line.strip()
    forms = [bare, html.unescape(bare)]
    forms += [_ESCAPE.sub(r"\1", form) for form in forms]
    forms += [_PREFIX.sub("", form) for form in forms]
    forms += [_CUT.sub("", form) for form in forms]
    return [form for form in dict.fromkeys(forms) if form]


def _is_telling(line: str) -> bool:
    return sum(char.isalnum() for char in line) >= _MIN_LETTERS
