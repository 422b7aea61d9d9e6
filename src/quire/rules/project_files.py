"""Context files of a project on disk: check them, list what applies at a place, test a situation.

Only what a place needs is read: the contexts of its folders, what those extend and what their rules
inject. A file with mistakes is reported and left out, and the others still apply.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from quire.config import Config
from quire.core.frozen import dataclass
from quire.core.protocols import Embedder, Judge
from quire.core.types import (
    ChainLink,
    ContextFile,
    MergedContext,
    Mistake,
    RuleEvaluation,
    Situation,
)
from quire.embed import open_embedder
from quire.errors import InputError
from quire.ingest.paths import resolve_paths
from quire.rules import open_judge
from quire.rules.discovery import detect_format
from quire.rules.inheritance import (
    Contexts,
    find_dangling,
    inherited_folders,
    merge,
    resolve_chain,
)
from quire.rules.places import with_relative_path
from quire.rules.priority import evaluate
from quire.rules.reader import ContextReader, sort_mistakes
from quire.rules.situation import validate_situation
from quire.rules.sources import DiskSource


@dataclass(frozen=True, slots=True)
class CheckedFiles:
    """The context files of a project, and the mistakes in them."""

    contexts: tuple[ContextFile, ...]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class PlaceRules:
    """What applies at a place, the contexts that it comes from, and mistakes in them."""

    place: str
    chain: tuple[ChainLink, ...]
    merged: MergedContext
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class PlaceEvaluation:
    """Which rules apply at a place in a situation, and mistakes in their files."""

    place: str
    evaluation: RuleEvaluation
    mistakes: tuple[Mistake, ...]


def check_files(settings: Config, paths: Sequence[str | os.PathLike[str]] = ()) -> CheckedFiles:
    """Check the context files below some paths, or of the whole project."""
    source = DiskSource(settings.root, settings.ingest)
    reader = ContextReader(source)
    listed = source.list_below(resolve_paths(settings.root, paths))
    if not listed and any(detect_format(Path(path).name) for path in paths):
        raise InputError(
            "the file is ignored, so it is not a context",
            value=str(paths[0]),
            hint="see .gitignore and .quireignore",
            place=str(paths[0]),
        )
    reader.load(listed)
    reader.follow_extends()
    reader.follow_injections()
    contexts = tuple(reader.contexts[path] for path in sorted(listed & reader.contexts.keys()))
    mistakes = [mistake for mistake in reader.mistakes() if mistake.path in listed]
    return CheckedFiles(
        contexts, sort_mistakes([*mistakes, *_dangling_mistakes(contexts, reader.contexts)])
    )


def list_rules(settings: Config, path: str | os.PathLike[str] = ".") -> PlaceRules:
    """Return what applies at a path, and where each part comes from."""
    place, reader = _read_place(settings, path)
    chain = resolve_chain(place, reader.contexts)
    merged = merge([link.context for link in chain])
    return PlaceRules(place, chain, merged, reader.mistakes())


def evaluate_rules(
    settings: Config,
    path: str | os.PathLike[str],
    situation: Situation,
    judge: Judge | None = None,
) -> PlaceEvaluation:
    """Evaluate the rules at a path in a situation; without a judge, by the configured one."""
    situation = with_relative_path(settings.root, validate_situation(situation))
    place, reader = _read_place(settings, path)
    reader.follow_injections()
    chain = resolve_chain(place, reader.contexts)
    with ExitStack() as stack:
        if judge is None:
            judge = open_judge(settings.judge, partial(_open_embedder, settings, stack))
            stack.callback(judge.close)
        evaluation = evaluate(chain, reader.contexts, situation, judge)
    return PlaceEvaluation(place, evaluation, reader.mistakes())


def _read_place(settings: Config, path: str | os.PathLike[str]) -> tuple[str, ContextReader]:
    (place,) = resolve_paths(settings.root, [path], must_exist=False)
    source = DiskSource(settings.root, settings.ingest)
    reader = ContextReader(source)
    for folder in inherited_folders(place):
        reader.load(source.list_folder(folder))
    reader.follow_extends()
    return place, reader


def _open_embedder(settings: Config, stack: ExitStack) -> Embedder | None:
    embedder = open_embedder(settings.embed)
    if embedder is not None:
        stack.callback(embedder.close)
    return embedder


def _dangling_mistakes(checked: Iterable[ContextFile], contexts: Contexts) -> Iterator[Mistake]:
    """Yield a mistake for each reference of a rule that leads to no context."""
    for context in checked:
        for rule in context.injection_rules:
            for dangling in find_dangling(rule, context.path, contexts):
                reason = (
                    f"rule {rule.name!r}: {dangling.reference!r} does not exist or has mistakes"
                )
                yield Mistake(context.path, rule.line, reason)
