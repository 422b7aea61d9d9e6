"""Collect every regular expression of the package, and make strings that are hard for each.

A backtracking matcher is slow where a text can be read in many ways. The strings come from the
pattern itself: for each loop the words that lead to it, its body many times over, and an end that
does not match; besides runs of each character that the pattern tells apart, alone and in pairs.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice, product
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Any

import quire
from quire.adapters.extras import MissingFrameworkError

SOURCE = Path(quire.__file__).parent
METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")
FROM_EVERY_PLACE = frozenset(METHODS) - {"match", "fullmatch"}

Operation = Callable[[re.Pattern[Any], Any], object]
OPERATIONS: Mapping[str, Operation] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    # The first match ends a search, so each text is searched to its end.
    "search": lambda pattern, text: sum(1 for _ in pattern.finditer(text)),
    # As the output of a command is searched: in lines of limited length.
    "lines": lambda pattern, text: sum(1 for _ in pattern.finditer(_break_lines(text))),
}
LINE_LENGTH = 400


def _break_lines(text: str) -> str:
    starts = range(0, len(text), LINE_LENGTH)
    return "\n".join(text[start : start + LINE_LENGTH] for start in starts)


@dataclass(frozen=True, slots=True)
class Use:
    """A pattern, where it is, and how it is applied."""

    place: str
    pattern: re.Pattern[Any]
    operations: frozenset[str]


# --- Collect -----------------------------------------------------------------------------------


def iter_modules() -> Iterator[tuple[str, Path]]:
    """Yield the name and file of each module of the package."""
    yield "quire", SOURCE / "__init__.py"
    for module in pkgutil.walk_packages([str(SOURCE)], "quire."):
        parts = module.name.split(".")[1:]
        path = SOURCE.joinpath(*parts)
        yield module.name, path / "__init__.py" if module.ispkg else path.with_suffix(".py")


def collect_values() -> dict[str, re.Pattern[Any]]:
    """Return the patterns that modules hold, by the first place at which each is met."""
    patterns: dict[str, re.Pattern[Any]] = {}
    for name, _ in iter_modules():
        if name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(name)
        except MissingFrameworkError:  # an adapter whose framework is not installed
            continue
        for key, value in vars(module).items():
            for path, pattern in _find_patterns(value, f"{name}.{key}", 0):
                patterns.setdefault(path, pattern)
    return patterns


def _find_patterns(value: Any, path: str, depth: int) -> Iterator[tuple[str, re.Pattern[Any]]]:
    if isinstance(value, re.Pattern):
        yield path, value
    elif depth > 3:
        return
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _find_patterns(item, f"{path}[{key!r}]", depth + 1)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for at, item in enumerate(value):
            yield from _find_patterns(item, f"{path}[{at}]", depth + 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from _find_patterns(getattr(value, part.name), f"{path}.{part.name}", depth + 1)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the module `re` in the source."""

    place: str
    function: str
    pattern: str | None
    """The pattern, if it is written in the call."""
    flags: int
    assigned: bool
    """Whether the result is the value of a name, or of a part of it, at the top of the module."""


def collect_calls() -> list[Call]:
    """Return the calls of `re.compile`, `re.sub` and so on in the source."""
    calls = []
    for name, path in iter_modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top = {
            id(node)
            for statement in tree.body
            if isinstance(statement, (ast.Assign, ast.AnnAssign))
            for node in ast.walk(statement)
        }
        for function in ast.walk(tree):
            if not isinstance(function, ast.Call) or not _is_re(function.func):
                continue
            assert isinstance(function.func, ast.Attribute)
            calls.append(
                Call(
                    f"{name}:{_scope(tree, function)}",
                    function.func.attr,
                    _literal(function.args[0]),
                    _flags(function),
                    id(function) in top,
                )
            )
    return calls


def _is_re(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in {"compile", *METHODS}
    )


def _scope(tree: ast.Module, call: ast.Call) -> str:
    names = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= call.lineno <= (node.end_lineno or 0)
    ]
    return names[-1] if names else ""


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _flags(call: ast.Call) -> int:
    named = [
        int(getattr(re, node.attr))
        for argument in (*call.args[1:], *(keyword.value for keyword in call.keywords))
        for node in ast.walk(argument)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "re"
    ]
    return sum(set(named))


def collect_operations() -> dict[str, set[str]]:
    """Return the methods that are called on each constant, by its qualified name.

    A constant that is used in any other way than by calling a method may be used in all ways.
    """
    used: dict[str, set[str]] = {}
    for module, path in iter_modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = _imports(tree)
        called = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                called[id(node.value)] = node.attr
        for node in ast.walk(tree):
            loaded = isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
            if loaded and (name := _constant(module, imported, node)):
                used.setdefault(name, set()).add(called.get(id(node), "other"))
    return used


def _imports(tree: ast.Module) -> dict[str, str]:
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _constant(module: str, imported: Mapping[str, str], node: ast.AST) -> str:
    """Return the qualified name of a constant, whether of this module or of another."""
    if isinstance(node, ast.Name) and node.id.lstrip("_").isupper():
        return imported.get(node.id, f"{module}.{node.id}")
    if (
        isinstance(node, ast.Attribute)
        and node.attr.lstrip("_").isupper()
        and isinstance(node.value, ast.Name)
        and node.value.id in imported
    ):
        return f"{imported[node.value.id]}.{node.attr}"
    return ""


def collect_uses(made: Mapping[tuple[str, str], Iterable[re.Pattern[Any]]]) -> list[Use]:
    """Return every pattern with the ways in which it is applied.

    `made` has those that functions compile, by their place and the way in which they are applied.
    """
    operations = collect_operations()
    uses: dict[tuple[Any, int], Use] = {}

    def add(place: str, pattern: re.Pattern[Any], ways: Iterable[str]) -> None:
        ways = set(ways)
        simple = {"search"} if ways & FROM_EVERY_PLACE else set()
        simple |= ways & {"match", "fullmatch", "lines"}
        if "other" in ways or not ways:
            simple = {"match", "fullmatch", "search"}
        key = (pattern.pattern, pattern.flags)
        known = uses[key].operations if key in uses else frozenset()
        first = uses[key].place if key in uses else place
        uses[key] = Use(first, pattern, known | simple)

    for place, pattern in collect_values().items():
        add(place, pattern, operations.get(place, ()))
    for call in collect_calls():
        if call.pattern is not None and not call.assigned:
            ways = () if call.function == "compile" else (call.function,)
            add(call.place, re.compile(call.pattern, call.flags), ways)
    for (place, way), patterns in made.items():
        for at, pattern in enumerate(patterns):
            add(f"{place}[{at}]", pattern, (way,))
    return sorted(uses.values(), key=lambda use: use.place)


# --- Hard strings ------------------------------------------------------------------------------

LIKELY = " \ta1_-.*`<([{\"'#/:=\n\u00e9\u4e00\x00"
MAX_CHARACTERS = 40
MAX_RUNS = 8
MAX_SAMPLES = 6
MAX_PREFIXES = 4
MAX_STEPS = 200
"""Triples of states that are visited for each pair of loops."""
REPEAT = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
INNER = {
    **dict.fromkeys(REPEAT, 2),
    sre.SUBPATTERN: 3,
    sre.ASSERT: 1,
    sre.ASSERT_NOT: 1,
}
"""Where an operation has its body."""
SINGLE = (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY)
START = 0
ENDS = ("", "\x00", "!\n", "\\")
"""What may not match after a run."""


def hard_strings(pattern: re.Pattern[Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield beginnings, words to repeat and ends that together may take a pattern long."""
    text = pattern.pattern
    tree = sre_parse.parse(text, pattern.flags & ~int(re.DEBUG))
    seen = set()
    for words in (*_runs(tree), *_ambiguous_words(tree, pattern.flags)):
        if words[1] and words not in seen:
            seen.add(words)
            if isinstance(text, bytes):
                first, pump, last = (word.encode("latin-1", "replace") for word in words)
                yield first, pump, last
            else:
                yield words


def _runs(tree: Any) -> Iterator[tuple[str, str, str]]:
    """Yield runs of single characters and of words of the pattern."""
    characters = _characters(tree)[:MAX_RUNS]
    prefixes = list(dict.fromkeys(_prefixes(tree)))
    for pump in dict.fromkeys((*characters, *_bodies(tree), *filter(None, prefixes))):
        for end in ENDS:
            yield "", pump, end
    for first in characters:
        for second in characters:
            if first != second:
                yield "", first + second, "\x00"
                # A long run before another: each start in the first reads the second.
                yield first * 2000, second, ""
        # Runs that grow: no run closes an earlier one.
        for gap in (" ", "\n"):
            yield "".join(first * at + gap for at in range(1, 60)), gap, ""


def _characters(tree: Any) -> list[str]:
    """Return characters that the pattern tells apart."""
    tests = [_test(item) for item in _singles(tree)]
    literals = [chr(value) for op, value in _singles(tree) if op is sre.LITERAL]
    literals += [c for op, value in _singles(tree) if op is sre.IN for c in _members(value)]
    chosen: dict[tuple[bool, ...], str] = {}
    for character in (*literals, *LIKELY):
        chosen.setdefault(tuple(test(character) for test in tests), character)
    ordered = [character for key, character in chosen.items() if any(key)]
    return ordered[:MAX_CHARACTERS]


def _singles(tree: Any) -> Iterator[tuple[Any, Any]]:
    for op, value in tree:
        if op in SINGLE:
            yield op, value
        else:
            for inner in _children(op, value):
                yield from _singles(inner)


def _children(op: Any, value: Any) -> Iterable[Any]:
    if op in INNER:
        return (value[INNER[op]],)
    if op is sre.ATOMIC_GROUP:
        return (value,)
    if op is sre.BRANCH:
        return tuple(value[1])
    if op is sre.GROUPREF_EXISTS:
        return tuple(part for part in value[1:] if part is not None)
    return ()


def _test(item: tuple[Any, Any]) -> Callable[[str], bool]:
    op, value = item
    if op is sre.LITERAL:
        return lambda character: ord(character) == value
    if op is sre.NOT_LITERAL:
        return lambda character: ord(character) != value
    if op is sre.ANY:
        return lambda character: character != "\n"
    single = re.compile(_class_text(value))
    return lambda character: single.match(character) is not None


_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


def _class_text(items: Any) -> str:
    out = "["
    for op, value in items:
        if op is sre.NEGATE:
            out += "^"
        elif op is sre.LITERAL:
            out += f"\\U{value:08x}"
        elif op is sre.RANGE:
            out += f"\\U{value[0]:08x}-\\U{value[1]:08x}"
        else:
            out += _CATEGORIES[value]
    return out + "]"


def _members(items: Any) -> Iterator[str]:
    """Yield the characters that a class names, and the first of each range."""
    for op, value in items:
        if op is sre.LITERAL:
            yield chr(value)
        elif op is sre.RANGE:
            yield chr(value[0])


def _bodies(tree: Any) -> Iterator[str]:
    """Yield words that a loop of the pattern reads once."""
    for op, value in tree:
        if op in REPEAT and value[1] > 8:
            yield from _samples(value[2])
        for inner in _children(op, value):
            yield from _bodies(inner)


def _prefixes(tree: Any) -> Iterator[str]:
    """Yield words that lead from the start of the pattern to each of its points."""
    before = [""]
    for op, value in tree:
        for inner in _children(op, value):
            yield from (before[0] + more for more in _prefixes(inner))
        before = [word + more for word in before for more in _item_samples(op, value)]
        before = before[:2]
        yield from before


def _samples(tree: Any) -> list[str]:
    words = [""]
    for op, value in tree:
        words = [word + more for word in words for more in _item_samples(op, value)]
        words = list(dict.fromkeys(words))[:MAX_SAMPLES]
    return words


def _item_samples(op: Any, value: Any) -> list[str]:
    if op in SINGLE:
        test = _test((op, value))
        literal = [chr(value)] if op is sre.LITERAL else []
        if op is sre.IN:
            literal = list(_members(value))[:2]
        return list(dict.fromkeys(c for c in (*literal, *"a 1\n", *LIKELY) if test(c)))[:3] or [""]
    if op in REPEAT:
        low, high, body = value
        few = [word * max(1, low) for word in _samples(body)]
        return [*few[:3], ""] if low == 0 and high else few
    if op is sre.SUBPATTERN:
        return _samples(value[3])
    if op is sre.ATOMIC_GROUP:
        return _samples(value)
    if op is sre.BRANCH:
        return [word for branch in value[1] for word in _samples(branch)[:2]][:MAX_SAMPLES]
    return [""]


# A pattern as an automaton whose states are its single characters. It forgives too much: counts
# are loops, and what is never tried again (possessive, atomic) is. So it finds too many words, and
# the measurement decides.


@dataclass(frozen=True, slots=True)
class _Part:
    nullable: bool
    first: frozenset[int]
    last: frozenset[int]


class _Automaton:
    def __init__(self, tree: Any, flags: int) -> None:
        self.items: list[tuple[Any, Any]] = [(None, None)]
        self.follow: dict[int, set[int]] = {START: set()}
        self._groups: dict[int, Any] = {}
        part = self._sequence(tree)
        self.follow[START] |= part.first
        self.characters = _characters(tree)
        fold = bool(flags & re.IGNORECASE)
        tests = [None, *(_test(item) for item in self.items[1:])]
        self._accepts = [frozenset(self.characters)] + [
            frozenset(
                character
                for character in self.characters
                if test is not None
                and (
                    test(character)
                    or (fold and (test(character.upper()) or test(character.lower())))
                )
            )
            for test in tests[1:]
        ]

        self._steps = {
            (state, character): self._step(state, character)
            for state in self.follow
            for character in self.characters
        }

    def _step(self, state: int, character: str) -> tuple[int, ...]:
        after = (one for one in sorted(self.follow[state]) if character in self._accepts[one])
        return (START, *after) if state == START else tuple(after)

    def step(self, state: int, character: str) -> tuple[int, ...]:
        """Return the states after a character; from the start one may also start later."""
        return self._steps[state, character]

    def loops(self) -> list[int]:
        """Return the states that can be reached again from themselves."""
        return [START, *(state for state in self.follow if state in self._reachable(state))]

    def _reachable(self, state: int) -> set[int]:
        seen: set[int] = set()
        waiting = [state]
        while waiting:
            for following in self.follow[waiting.pop()] - seen:
                seen.add(following)
                waiting.append(following)
        return seen

    def words_to(self, target: int) -> Iterator[str]:
        """Yield short words that lead from the start to a state, with different last characters."""
        if target == START:
            yield ""
            return
        words = {START: ""}
        waiting = deque([START])
        ends: set[str] = set()
        while waiting:
            state = waiting.popleft()
            for character in self.characters:
                for following in self.step(state, character):
                    if following == target and character not in ends:
                        ends.add(character)
                        yield words[state] + character
                    if following not in words:
                        words[following] = words[state] + character
                        waiting.append(following)

    def shared_words(self, one: int, other: int) -> Iterator[str]:
        """Yield words that lead from one state to itself and to another, and from that to itself."""
        begin, goal = (one, one, other), (one, other, other)
        words: dict[tuple[int, ...], str] = {begin: ""}
        waiting: deque[tuple[int, ...]] = deque([begin])
        given = 0
        while waiting and len(words) < MAX_STEPS:
            states = waiting.popleft()
            for character in self.characters:
                for following in product(*(self.step(state, character) for state in states)):
                    if following == goal:
                        yield words[states] + character
                        given += 1
                        if given == 2:
                            return
                    if following not in words:
                        words[following] = words[states] + character
                        waiting.append(following)

    def _sequence(self, tree: Any) -> _Part:
        nullable, first, last = True, frozenset[int](), frozenset[int]()
        for op, value in tree:
            part = self._item(op, value)
            for state in last:
                self.follow[state] |= part.first
            first = first | part.first if nullable else first
            last = last | part.last if part.nullable else part.last
            nullable = nullable and part.nullable
        return _Part(nullable, first, last)

    def _item(self, op: Any, value: Any) -> _Part:
        if op in SINGLE:
            state = len(self.items)
            self.items.append((op, value))
            self.follow[state] = set()
            return _Part(nullable=False, first=frozenset({state}), last=frozenset({state}))
        if op in REPEAT:
            part = self._sequence(value[2])
            if value[1] > 1:
                for state in part.last:
                    self.follow[state] |= part.first
            return _Part(part.nullable or value[0] == 0, part.first, part.last)
        if op is sre.GROUPREF:
            return self._sequence(self._groups[value])
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            # What a lookahead reads leads nowhere; a lookbehind reads what was read before.
            ahead = self._sequence(value[1]).first if value[0] > 0 else frozenset[int]()
            return _Part(nullable=True, first=ahead, last=frozenset())
        parts = [self._sequence(inner) for inner in _children(op, value)]
        if op is sre.SUBPATTERN and value[0] is not None:
            self._groups[value[0]] = value[3]
        if not parts:
            return _Part(nullable=True, first=frozenset(), last=frozenset())
        return _Part(
            any(part.nullable for part in parts) or op is sre.GROUPREF_EXISTS,
            frozenset().union(*(part.first for part in parts)),
            frozenset().union(*(part.last for part in parts)),
        )


def _ambiguous_words(tree: Any, flags: int) -> Iterator[tuple[str, str, str]]:
    """Yield words that two loops of a pattern read, one after the other, in many ways."""
    automaton = _Automaton(tree, flags)
    loops = automaton.loops()
    for one in loops:
        prefixes = list(islice(automaton.words_to(one), MAX_PREFIXES))
        pumps = dict.fromkeys(
            pump for other in loops if one != other for pump in automaton.shared_words(one, other)
        )
        for prefix in prefixes:
            for pump in pumps:
                for end in ENDS:
                    yield prefix, pump, end


# --- Measure -----------------------------------------------------------------------------------

REPEATS = (8, 16, 24, 36, 54, 80, 120, 200)
"""How often a word is repeated at first: exponential growth shows here, before it takes hours."""
LENGTHS = (400, 1000, 4000)
SUSPICIOUS = 0.004
"""Seconds at 4,000 characters; a pattern that reads each character once takes a tenth of it."""


def find_slow(use: Use) -> list[str]:
    """Return descriptions of the strings on which a pattern takes more than linear time."""
    found = []
    recipes = list(hard_strings(use.pattern))
    for operation in sorted(use.operations):
        apply = OPERATIONS[operation]
        for recipe in recipes:
            slow = _find_growth(apply, use.pattern, recipe)
            if slow is not None:
                found.append(f"{operation} {slow[:30]!r}... ({len(slow)} characters)")
                break
    return found


def _find_growth(apply: Operation, pattern: re.Pattern[Any], recipe: tuple[Any, ...]) -> Any:
    first, pump, last = recipe
    times = [*REPEATS, *(length // len(pump) for length in LENGTHS)]
    before = first + pump * times[0] + last
    for count in times[1:]:
        word = first + pump * count + last
        if _cpu(apply, pattern, word) > SUSPICIOUS:
            return word if _grows(apply, pattern, before, word) else None
        before = word
    return None


def _cpu(apply: Operation, pattern: re.Pattern[Any], text: Any) -> float:
    start = time.process_time()
    apply(pattern, text)
    return time.process_time() - start


def _grows(apply: Operation, pattern: re.Pattern[Any], short: Any, long: Any) -> bool:
    slow = min(_cpu(apply, pattern, long) for _ in range(5))  # once may be a pause of the machine
    if slow <= SUSPICIOUS or len(long) < 2000:
        return slow > SUSPICIOUS  # milliseconds for some hundred characters
    fast = min(_cpu(apply, pattern, short) for _ in range(5))
    return slow > SUSPICIOUS and slow > 2 * fast * len(long) / len(short)
