"""Which context files does a project have, and what follows from them?

Files are found as an index finds them: what is ignored, a link, a secret or under `.quire` is no
context. Only what a place needs is read: its folders' contexts, what they extend and bring in. A
file with mistakes is left out and told, and the rest still holds.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from quire import rules
from quire.config import Config
from quire.core.protocols import Embedder, Judge
from quire.core.types import (
    ContextFile,
    FoundFile,
    IngestSettings,
    Linked,
    Mistake,
    Resolved,
    Ruled,
    Situation,
    Skipped,
)
from quire.embed import open_embedder
from quire.errors import InputError
from quire.ingest import walk
from quire.ingest.paths import relative_paths

LONGEST = 4 * rules.LONGEST
"""Bytes of a file: no character has more than four."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the context files of a project say, and what is wrong with them."""

    contexts: tuple[ContextFile, ...]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """What holds at a place, the contexts that say so, and what was left out."""

    place: str
    chain: tuple[Linked, ...]
    resolved: Resolved
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class Tested:
    """Which rules apply at a place in a situation, and what was left out."""

    place: str
    ruled: Ruled
    mistakes: tuple[Mistake, ...]


def check(settings: Config, paths: Sequence[str | os.PathLike[str]] = ()) -> Checked:
    """Check the context files below some paths, or of the whole project."""
    under = relative_paths(settings.root, paths)
    files = _Files(settings.root, settings.ingest)
    met = files.below(under)
    files.follow(files.extended)
    files.follow(files.injected)
    asked = {path for path in files.contexts if path in met}
    wrong = [
        *(one for one in files.mistakes if one.path in met),
        *(one for one in rules.mistakes(files.contexts) if one.path in met),
        *(one for path in asked for one in _dangling(files, path)),
    ]
    named = [Path(path).name for path in paths]
    if not met and any(map(rules.form_of, named)):
        raise InputError(
            f"{paths[0]} is ignored, so it is no context: see .gitignore, .quireignore"
        )
    return Checked(
        tuple(files.contexts[path] for path in sorted(asked)),
        tuple(sorted(set(wrong), key=lambda one: (one.path, one.line, one.reason))),
    )


def holding(settings: Config, path: str | os.PathLike[str] = ".") -> Held:
    """Tell what holds at a path, and where each part comes from."""
    place, files = _around(settings, path)
    chain = rules.chain(place, files.contexts)
    resolved = rules.merge([link.context for link in chain])
    return Held(place, chain, resolved, files.wrong())


def applying(
    settings: Config,
    path: str | os.PathLike[str],
    situation: Situation,
    judge: Judge | None = None,
) -> Tested:
    """Tell which rules apply at a path in a situation; by the configured judge if none is given."""
    situation = rules.checked(situation)
    place, files = _around(settings, path)
    files.follow(files.injected)
    chain = rules.chain(place, files.contexts)
    with ExitStack() as opened:
        if judge is None:
            judge = rules.open_judge(settings.judge, partial(_embedder, settings, opened))
            opened.callback(judge.close)
        ruled = rules.evaluate(chain, files.contexts, situation, judge)
    return Tested(place, ruled, files.wrong())


def situation_of(text: str) -> Situation:
    """Read a situation from JSON, or say what is wrong with it."""
    return rules.parse(text)


def _embedder(settings: Config, opened: ExitStack) -> Embedder | None:
    embedder = open_embedder(settings.embed)
    if embedder is not None:
        opened.callback(embedder.close)
    return embedder


def _around(settings: Config, path: str | os.PathLike[str]) -> tuple[str, _Files]:
    (place,) = relative_paths(settings.root, [path], must_exist=False)
    files = _Files(settings.root, settings.ingest)
    for folder in rules.folders(place):
        files.load(files.listed(folder))
    files.follow(files.extended)
    return place, files


class _Files:
    """The context files of a project that were read so far."""

    def __init__(self, root: Path, settings: IngestSettings) -> None:
        self._root = root
        self._settings = settings
        self._seen: set[str] = set()
        self.contexts: dict[str, ContextFile] = {}
        self.mistakes: list[Mistake] = []

    def below(self, under: Sequence[str]) -> set[str]:
        """Read all contexts below some paths; gives the paths of those that were met."""
        met = [one for one in walk(self._root, under, self._settings) if rules.form_of(one.path)]
        self._read(met)
        return {one.path for one in met}

    def load(self, paths: Iterable[str]) -> None:
        """Read these files, as far as they are there and not read yet."""
        wanted = {path for path in paths if path not in self._seen}
        if wanted:
            met = walk(self._root, sorted(wanted), self._settings)
            self._read(one for one in met if one.path in wanted)

    def listed(self, folder: str) -> list[str]:
        """Name the contexts that stand in a folder."""
        try:
            names = os.listdir(self._root / folder)  # noqa: PTH208 - names, not paths
        except OSError:  # a file, or not there yet
            return []
        # Spelled as a walk spells it: names are UTF-8, other bytes are written out (`\xff`).
        spelled = (os.fsencode(name).decode("utf-8", "backslashreplace") for name in names)
        return [posixpath.join(folder, name) for name in spelled if rules.form_of(name)]

    def follow(self, references: Callable[[ContextFile], Iterable[str]]) -> None:
        """Read what the contexts refer to, and what that extends."""
        done: set[str] = set()
        while todo := [path for path in sorted(self.contexts) if path not in done]:
            done.update(todo)
            for path in todo:
                context = self.contexts[path]
                wanted = {*references(context), *self.extended(context)}
                for reference in sorted(wanted):
                    self.load(self._meant(reference))
            if references == self.injected:  # what is brought in brings nothing further
                references = self.extended

    def _meant(self, reference: str) -> Iterator[str]:
        for path in rules.candidates(reference):
            if os.path.isfile(self._root / path):  # noqa: PTH113 - which never raises
                yield path
                return

    @staticmethod
    def extended(context: ContextFile) -> Iterable[str]:
        """Name what a context extends."""
        return () if context.extends is None else (context.extends,)

    @staticmethod
    def injected(context: ContextFile) -> Iterable[str]:
        """Name what a context's rules bring in."""
        return (reference for rule in context.injection_rules for reference in rule.inject)

    def wrong(self) -> tuple[Mistake, ...]:
        """Tell what is wrong with the files that were read."""
        found = {*self.mistakes, *rules.mistakes(self.contexts)}
        return tuple(sorted(found, key=lambda one: (one.path, one.line, one.reason)))

    def _read(self, met: Iterable[FoundFile | Skipped]) -> None:
        for one in met:
            if one.path in self._seen:
                continue
            self._seen.add(one.path)
            if isinstance(one, Skipped):
                self.mistakes.append(Mistake(one.path, 0, f"not read: {one.reason}"))
                continue
            text = _text(one)
            found = text if isinstance(text, Mistake) else rules.read(one.path, text)
            if isinstance(found, ContextFile):
                self.contexts[one.path] = found
            else:
                self.mistakes += [found] if isinstance(found, Mistake) else found


def _text(file: FoundFile) -> str | Mistake:
    if file.size > LONGEST:
        return Mistake(file.path, 0, f"{file.size} bytes; a context has at most {LONGEST}")
    try:
        with Path(file.location).open("rb") as opened:
            data = opened.read(LONGEST + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        return Mistake(file.path, 0, f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Mistake(file.path, line, "no UTF-8 text: save it as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _dangling(files: _Files, path: str) -> Iterator[Mistake]:
    """Tell which references of a context's rules lead to no file."""
    for rule in files.contexts[path].injection_rules:
        for reference in rule.inject:
            if rules.found(reference, files.contexts) is None:
                reason = f"rule {rule.name!r}: {reference!r} is not there, or it has mistakes"
                yield Mistake(path, rule.line, reason)
