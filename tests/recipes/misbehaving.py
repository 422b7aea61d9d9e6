"""A store that keeps to the contract, but misbehaves for some kinds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from quire import Quire
from quire.core.protocols import View
from quire.core.types import Filter, Hit, Hits, Recipe
from quire.errors import StoreError
from quire.pipeline.recipe import load

SOON = 400
"""Milliseconds that a test waits for a section."""

Answer = Callable[[View, Hits], Any]


def raises(_: View, __: Hits) -> Hits:
    raise ZeroDivisionError("a mistake of the engine")


def refuses(_: View, __: Hits) -> Hits:
    raise StoreError("the disk is on fire")


def garbage(_: View, __: Hits) -> str:
    return "no hits at all"


def halves(_: View, hits: Hits) -> Hits:
    return Hits(tuple(Hit(hit.id, hit.score / 2, hit.path, 0, 0) for hit in hits.hits))  # type: ignore[arg-type]


def unplaced(_: View, hits: Hits) -> Hits:
    return Hits(tuple(replace(hit, sequence=None) for hit in hits.hits))  # type: ignore[arg-type]


def twice(_: View, hits: Hits) -> Hits:
    return Hits(hits.hits + hits.hits)


def invented(_: View, __: Hits) -> Hits:
    return Hits((Hit("0" * 32, 7, "nowhere", 0, 0),))


def unasked(view: View, _: Hits) -> Hits:
    """Answer with what belongs into another section."""
    return view.lexical("login session", 5, Filter(kinds=("memory",)))


class Hang:
    """Answers only when it is let go."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.ended = threading.Event()

    def __call__(self, view: View, _: Hits) -> Hits:
        assert self.free.wait(60), "somebody lets go"
        try:
            # By now the snapshot may be over: asking on must do no harm to anybody.
            return view.lexical("login", 5)
        finally:
            self.ended.set()


class Misbehaving:
    """A store whose views answer some questions by words as they should not."""

    def __init__(self, store: Any, answers: Mapping[str, Answer]) -> None:
        self._store = store
        self.answers = dict(answers)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def view(self, *given: Any, **more: Any) -> AbstractContextManager[View]:
        return self._viewed(*given, **more)

    @contextmanager
    def _viewed(self, *given: Any, **more: Any) -> Iterator[View]:
        with self._store.view(*given, **more) as view:
            yield _View(view, self.answers)  # type: ignore[misc]


class _View:
    def __init__(self, view: View, answers: Mapping[str, Answer]) -> None:
        self._view = view
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def lexical(self, query: str, k: int, where: Filter, **options: Any) -> Any:
        hits = self._view.lexical(query, k, where, **options)
        for kind in where.kinds:
            if kind in self._answers:
                return self._answers[kind](self._view, hits)
        return hits


def misbehave(quire: Quire, **answers: Answer) -> Misbehaving:
    """Let an open store misbehave for kinds; `experience_full` stands for `experience.full`."""
    store = Misbehaving(
        quire.store, {kind.replace("__", "."): answer for kind, answer in answers.items()}
    )
    quire._project.store = store
    return store


def impatient(name: str = "agent", timeout: int = SOON) -> Recipe:
    """Give a recipe that does not wait for long."""
    recipe = load(name)
    sections = tuple(replace(section, timeout=timeout) for section in recipe.sections)
    return replace(recipe, sections=sections)
