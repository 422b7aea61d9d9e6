"""Globs as in .gitignore, matched by git's own rules.

A walk applies them to one entry of one folder at a time, from the top down: only then is an
excluded folder never entered, and a re-included folder (`*`, then `!*/`) not mistaken for the files
in it. For a whole path, as in access rules and filters, the last pattern that matches the path or a
folder above it decides. Patterns and paths are compared as bytes, as in git.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

GLOB_SPECIAL = re.compile(rb"[*?\[\\]")
NEVER = b"(?!)"
NOT_SLASH = rb"[^/]"
MAX_GROUPS = 32
"""Patterns in one expression: the time that it takes grows with the square of their number."""

CLASSES = {
    b"alnum": rb"[0-9A-Za-z]",
    b"alpha": rb"[A-Za-z]",
    b"blank": rb"[ \t]",
    b"cntrl": rb"[\x00-\x1f\x7f]",
    b"digit": rb"[0-9]",
    b"graph": rb"[\x21-\x7e]",
    b"lower": rb"[a-z]",
    b"print": rb"[\x20-\x7e]",
    b"punct": rb"[!-/:-@\[-`{-~]",
    b"space": rb"[ \t\n\r]",
    b"upper": rb"[A-Z]",
    b"xdigit": rb"[0-9A-Fa-f]",
}


class _Pattern(NamedTuple):
    negated: bool
    folders_only: bool
    by_name: bool
    """Compared with the entry's name alone, at any depth."""
    regex: bytes
    literal: bytes | None = None
    """The only text that it matches, if there is only one."""


class _Alternatives:
    """Patterns that are compared with one text: finds the last that matches."""

    def __init__(self, patterns: Iterable[tuple[int, _Pattern]]) -> None:
        last: dict[bytes, tuple[int, _Pattern]] = {}
        for at, pattern in patterns:  # of two that are equal only the last counts
            last[pattern.regex] = (at, pattern)
        self._literals: Mapping[bytes, int] = {
            pattern.literal: at for at, pattern in last.values() if pattern.literal is not None
        }
        others = sorted((at for at, each in last.values() if each.literal is None), reverse=True)
        regexes = {at: pattern.regex for at, pattern in last.values()}
        parts = [others[start : start + MAX_GROUPS] for start in range(0, len(others), MAX_GROUPS)]
        self.expressions = tuple(_compile([regexes[at] for at in part]) for part in parts)
        """Each has a group for each pattern; the last patterns come first."""
        self._orders = tuple(map(tuple, parts))

    def last(self, text: bytes) -> int:
        """Return the index of the last pattern that matches; -1 if none does."""
        last = self._literals.get(text, -1)
        for expression, order in zip(self.expressions, self._orders, strict=True):
            if order[0] < last:
                break
            if match := expression.fullmatch(text):
                return max(last, order[(match.lastindex or 0) - 1])
        return last


@dataclass(frozen=True, slots=True)
class _Matcher:
    """Finds the last pattern that matches a name or a path."""

    names: _Alternatives
    paths: _Alternatives

    def last(self, name: bytes, path: bytes) -> int:
        """Return the index of the last pattern that matches; -1 if none does."""
        return max(self.names.last(name), self.paths.last(path))


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one ignore file."""

    negated: tuple[bool, ...]
    files: _Matcher
    folders: _Matcher

    def decide(self, name: bytes, path: bytes, *, folder: bool) -> bool | None:
        """Tell whether an entry is ignored (True), re-included (False) or not matched (None)."""
        last = (self.folders if folder else self.files).last(name, path)
        return None if last < 0 else not self.negated[last]


class Globs:
    """Globs over whole paths: the last that matches a path, or a folder above it, decides."""

    def __init__(self, globs: Sequence[str]) -> None:
        patterns = _parse_patterns(glob.encode("utf-8", "surrogatepass") for glob in globs)
        self._rules = _rules_of(patterns)
        self._shortcut = _shortcut(patterns)

    def match(self, path: str) -> bool:
        """Tell whether a path matches."""
        rules = self._rules
        if rules is None:
            return False
        whole = path.encode("utf-8", "surrogatepass")
        if self._shortcut is not None:
            return self._shortcut.fullmatch(whole) is not None
        last = rules.files.last(whole.rpartition(b"/")[2], whole)
        end = whole.find(b"/")
        while end >= 0:
            folder = whole[:end]
            last = max(last, rules.folders.last(folder.rpartition(b"/")[2], folder))
            end = whole.find(b"/", end + 1)
        return last >= 0 and not rules.negated[last]


def _shortcut(patterns: Sequence[_Pattern]) -> re.Pattern[bytes] | None:
    """Return one expression for a path and all folders above it, if the patterns allow that."""
    if not 0 < len(patterns) <= MAX_GROUPS:
        return None
    if any(each.negated or each.by_name or each.folders_only for each in patterns):
        return None
    whole = b"|".join(b"(?:" + each.regex + b")" for each in patterns)
    return re.compile(b"(?:" + whole + b")(?:/.*)?", re.DOTALL)


def is_glob(text: str) -> bool:
    """Tell whether a text is a valid glob: not empty, no comment, no set without an end."""
    pattern = _parse_pattern(text.encode("utf-8", "surrogatepass"))
    return "\0" not in text and pattern is not None and NEVER not in pattern.regex


def path_glob(path: str) -> str:
    """Return the glob that matches exactly one path below the root."""
    return "/" + re.sub(r"([*?\[\]\\ ])", r"\\\1", path)


def literal_prefix(glob: str) -> str:
    """Return the literal prefix of all paths that a glob matches; empty if there is none."""
    anchored = "/" in glob[:-1] and not is_negated(glob)
    plain = re.split(r"[*?\[\\]", glob, maxsplit=1)[0].removeprefix("/")
    return plain.rstrip("/ ") if anchored else ""


def is_negated(glob: str) -> bool:
    """Tell whether a glob excludes paths that earlier ones match."""
    return glob.startswith("!")


def parse_rules(data: bytes) -> Rules | None:
    """Parse an ignore file; None if it contains no pattern."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    return compile_rules(line.removesuffix(b"\r") for line in data.split(b"\n"))


def compile_rules(lines: Iterable[bytes]) -> Rules | None:
    """Compile the lines of an ignore file; None if they contain no pattern."""
    return _rules_of(_parse_patterns(lines))


def _parse_patterns(lines: Iterable[bytes]) -> list[_Pattern]:
    return [pattern for line in lines if (pattern := _parse_pattern(line)) is not None]


def _rules_of(patterns: Sequence[_Pattern]) -> Rules | None:
    if not patterns:
        return None
    numbered = list(enumerate(patterns))
    of_files = [(at, pattern) for at, pattern in numbered if not pattern.folders_only]
    folders = _matcher(numbered)
    return Rules(
        negated=tuple(pattern.negated for pattern in patterns),
        files=folders if len(of_files) == len(numbered) else _matcher(of_files),
        folders=folders,
    )


def _matcher(patterns: Sequence[tuple[int, _Pattern]]) -> _Matcher:
    return _Matcher(
        _Alternatives((at, pattern) for at, pattern in patterns if pattern.by_name),
        _Alternatives((at, pattern) for at, pattern in patterns if not pattern.by_name),
    )


def _compile(regexes: Sequence[bytes]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(b"(" + regex + b")" for regex in regexes), re.DOTALL)


def _parse_pattern(line: bytes) -> _Pattern | None:
    if line.startswith(b"#"):
        return None
    line = _strip_trailing_spaces(line.partition(b"\0")[0])
    negated = line.startswith(b"!")
    if negated:
        line = line[1:]
    folders_only = line.endswith(b"/")
    if folders_only:
        line = line[:-1]
    if not line:
        return None
    by_name = b"/" not in line
    line = line.removeprefix(b"/")
    special = GLOB_SPECIAL.search(line)
    if special is None:
        return _Pattern(negated, folders_only, by_name, re.escape(line), literal=line)
    if by_name:
        return _Pattern(negated, folders_only, by_name, _translate(line, pathname=False))
    # Git compares the literal prefix first and gives only the rest to its glob matcher: so the
    # two stars of `a**/b` count as a beginning.
    prefix = special.start()
    regex = re.escape(line[:prefix]) + _translate(line[prefix:], pathname=True)
    return _Pattern(negated, folders_only, by_name, regex)


def _strip_trailing_spaces(line: bytes) -> bytes:
    end = len(line)
    while end and line[end - 1] == 0x20:
        end -= 1
    backslashes = len(line[:end]) - len(line[:end].rstrip(b"\\"))
    if backslashes % 2 and end < len(line):
        end += 1  # the space is escaped
    return line[:end]


class _Unit:
    """The part of a glob between two `**`: fixed parts, with a `*` between each two."""

    def __init__(self, deep: bytes = b"", deep_lazy: bytes = b"") -> None:
        self.deep = deep
        self.deep_lazy = deep_lazy
        self.parts = [b""]

    def add(self, regex: bytes) -> None:
        self.parts[-1] += regex

    def regex(self, *, last: bool) -> bytes:
        """Return a regular expression that never tries a part at two places.

        The first place at which a part matches is as good as any later one, since the stars after
        it match the rest; only the very last part has to reach the end.
        """
        first, *starred = self.parts
        free = len(starred) - 1 if last else len(starred)
        out = first
        for at, part in enumerate(starred):
            out += b"(?>[^/]*?" + part + b")" if at < free else b"[^/]*" + part
        if last or not self.deep_lazy:
            return self.deep + out
        return b"(?>" + self.deep_lazy + out + b")"


def _translate(glob: bytes, *, pathname: bool) -> bytes:
    units = [_Unit()]
    at = 0
    while at < len(glob):
        byte = glob[at : at + 1]
        if byte == b"*":
            end = at
            while glob[end : end + 1] == b"*":
                end += 1
            rest = glob[end:]
            free_standing = at == 0 or glob[at - 1 : at] == b"/"
            deep = pathname and end - at > 1 and free_standing
            if deep and rest.startswith(b"/"):
                units.append(_Unit(b"(?:.*/)?", b"(?:.*?/)??"))
                end += 1
            elif deep and (not rest or rest.startswith(b"\\/")):
                units.append(_Unit(b".*", b".*?"))
            else:
                units[-1].parts.append(b"")
            at = end
        elif byte == b"?":
            units[-1].add(NOT_SLASH)
            at += 1
        elif byte == b"[":
            regex, at = _bracket(glob, at + 1)
            units[-1].add(regex)
        elif byte == b"\\":
            if at + 1 == len(glob):
                return NEVER
            units[-1].add(re.escape(glob[at + 1 : at + 2]))
            at += 2
        else:
            units[-1].add(re.escape(byte))
            at += 1
    return b"".join(unit.regex(last=unit is units[-1]) for unit in units)


def _bracket(glob: bytes, at: int) -> tuple[bytes, int]:
    """Translate a set such as `[a-z]`, from after its bracket; returns its end as well."""
    negated = glob[at : at + 1] in (b"!", b"^")
    at += negated
    first = at
    members: set[int] = set()
    previous: int | None = None
    while at == first or glob[at : at + 1] != b"]":
        member = _member(glob, at, previous)
        if member is None:
            return NEVER, len(glob)
        codes, previous, at = member
        members |= codes
    if negated:
        members = set(range(256)) - members
    members.discard(ord("/"))  # only a slash matches a slash
    return (_set(members) if members else NEVER), at + 1


def _set(members: set[int]) -> bytes:
    """Return an expression for one of some bytes, which is short: a file may hold many sets."""
    ranges: list[list[int]] = []
    for code in sorted(members):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return b"[" + b"".join(b"\\x%02x-\\x%02x" % (first, last) for first, last in ranges) + b"]"


def _member(glob: bytes, at: int, previous: int | None) -> tuple[set[int], int | None, int] | None:
    """Read one member of a set: its bytes, the start of a range, and the place of the next.

    None: the set is malformed, so that the pattern matches nothing.
    """
    this, following = glob[at : at + 1], glob[at + 1 : at + 2]
    if this == b"-" and previous is not None and following not in (b"", b"]"):
        at += 2 if following == b"\\" else 1
        return (set(range(previous, glob[at] + 1)), None, at + 1) if at < len(glob) else None
    if this == b"[" and following == b":":
        end = glob.find(b"]", at + 2)
        if end > at + 2 and glob[end - 1 : end] == b":":
            named = CLASSES.get(glob[at + 2 : end - 1])
            return (_class_codes(named), None, end + 1) if named else None
    elif this == b"\\":
        at += 1
    return ({glob[at]}, glob[at], at + 1) if at < len(glob) else None


def _class_codes(regex: bytes) -> set[int]:
    return {code for code in range(256) if re.match(regex, bytes([code]))}
