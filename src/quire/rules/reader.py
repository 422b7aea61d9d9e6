"""Reading of context files, and of the files that they refer to.

One reader serves the commands, which read the disk, and the engine, which reads the store as a
viewer may read it. A source says which files exist and gives their texts; the reader parses them,
follows their references and collects their mistakes. A file with mistakes is left out, and the
others still apply.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Protocol

from quire.core.types import ContextFile, Mistake
from quire.rules.discovery import candidate_paths
from quire.rules.inheritance import find_broken_extends
from quire.rules.parser import parse_context_file


class ContextSource(Protocol):
    """A place that context files are read from."""

    def find_existing(self, paths: Collection[str]) -> Collection[str]:
        """Return those of some paths at which a file exists."""

    def read_texts(self, paths: Collection[str]) -> Iterator[tuple[str, str | Mistake]]:
        """Yield the text of each file with its path, or why it cannot be read.

        A file that may not be read at all (ignored, hidden) is left out, as if it did not exist.
        """


class ContextReader:
    """The context files that were read so far, and their mistakes."""

    def __init__(self, source: ContextSource) -> None:
        self._source = source
        self._requested: set[str] = set()
        self._followed: set[str] = set()
        self._mistakes: set[Mistake] = set()
        self.contexts: dict[str, ContextFile] = {}

    def load(self, paths: Iterable[str]) -> None:
        """Read some files, except those that were read before."""
        requested = sorted(set(paths) - self._requested)
        if not requested:
            return
        self._requested.update(requested)
        for path, text in self._source.read_texts(requested):
            parsed = (text,) if isinstance(text, Mistake) else parse_context_file(path, text)
            if isinstance(parsed, ContextFile):
                self.contexts[path] = parsed
            else:
                self._mistakes.update(parsed)

    def follow_extends(self) -> None:
        """Read what the contexts extend, and what that extends in turn."""
        while paths := self.contexts.keys() - self._followed:
            self._followed |= paths
            self._load_references(paths, _extended)

    def follow_injections(self) -> None:
        """Read what the rules of the contexts inject, and what that extends.

        An injected context adds no rules of its own, so what it injects is not read.
        """
        self._load_references(self.contexts, _injected)
        self.follow_extends()

    def mistakes(self) -> tuple[Mistake, ...]:
        """Return what is wrong with the files that were read, in the order of their paths."""
        return sort_mistakes({*self._mistakes, *find_broken_extends(self.contexts)})

    def _load_references(
        self, paths: Iterable[str], references_of: Callable[[ContextFile], Iterable[str]]
    ) -> None:
        references = {
            reference for path in paths for reference in references_of(self.contexts[path])
        }
        if not references:
            return
        candidates = {path for reference in references for path in candidate_paths(reference)}
        existing = self._source.find_existing(candidates)
        targets = (
            next((path for path in candidate_paths(reference) if path in existing), None)
            for reference in references
        )
        self.load(path for path in targets if path is not None)


def sort_mistakes(mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """Return each mistake once, in the order of paths and lines."""
    return tuple(sorted(set(mistakes), key=lambda item: (item.path, item.line, item.reason)))


def _extended(context: ContextFile) -> Iterable[str]:
    return () if context.extends is None else (context.extends,)


def _injected(context: ContextFile) -> Iterable[str]:
    return (reference for rule in context.injection_rules for reference in rule.inject)
