"""Evaluation of rules over the context files that a viewer may read.

Context files are read from the store through the viewer's view: rules are part of the state, and no
rule reaches a viewer who may not read its file. Only the judge waits. Its verdicts are cached, and
a receipt records them, so that a replay asks nobody.
"""

from __future__ import annotations

import threading
from collections import ChainMap
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from quire.core.lru import LRUCache
from quire.core.protocols import Judge, View
from quire.core.types import (
    ContextFile,
    Failure,
    HitCount,
    Mistake,
    Record,
    Recorded,
    Request,
    RuleEvaluation,
    Verdict,
)
from quire.errors import InputError
from quire.rules.discovery import detect_format
from quire.rules.inheritance import resolve_chain
from quire.rules.priority import evaluate
from quire.rules.reader import ContextReader
from quire.rules.situation import parse_situation
from quire.rules.sources import StoreSource
from quire.rules.verdict_file import VerdictFile
from quire.rules.verdicts import NoJudge

MAX_CACHED_STATES = 8
MAX_CACHED_VERDICTS = 4096
JUDGE = "judge"
"""The source of a failure to judge."""


@dataclass(frozen=True, slots=True)
class ReadableContexts:
    """The context files that a viewer may read, and their records, by path."""

    files: Mapping[str, ContextFile]
    records: Mapping[str, Record]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class ActiveRules:
    """What applies in a situation."""

    evaluation: RuleEvaluation = field(default_factory=lambda: RuleEvaluation((), ()))
    judge: str = ""
    """The name of the judge, if one was needed."""
    records: Mapping[str, Record] = field(default_factory=dict)
    """The records of the active contexts, by path."""
    failed: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def priorities(self) -> tuple[tuple[str, int, bool], ...]:
        """Return each active context: its record id, its priority, and whether a rule names it."""
        return tuple(
            (self.records[item.context.path].id, item.priority, bool(item.rules))
            for item in self.evaluation.contexts
        )


class RuleEvaluator:
    """Evaluates rules over what a viewer may read; caches context files and verdicts.

    Args:
        open_judge: Opens the judge when the first rule needs it.
        settings: Returns the settings of the judge; it is opened again when they change.
        verdict_file: Returns where verdicts are kept between processes; None: nowhere.
    """

    def __init__(
        self,
        open_judge: Callable[[], Judge],
        settings: Callable[[], Hashable],
        verdict_file: Callable[[], VerdictFile | None] = lambda: None,
    ) -> None:
        self._open_judge = open_judge
        self._settings = settings
        self._verdict_file = verdict_file
        self._count = HitCount()
        self._judge: Judge | None = None
        self._judge_settings: Hashable = None
        self._lock = threading.Lock()
        self._contexts: LRUCache[str, ReadableContexts] = LRUCache(MAX_CACHED_STATES)
        self._verdicts: dict[str, Verdict] = {}

    @property
    def count(self) -> HitCount:
        """How many verdicts were needed, and how many were known already."""
        return self._count

    def forget(self) -> None:
        """Forget all verdicts, those on disk as well."""
        self._verdicts = {}
        file = self._verdict_file()
        if file is not None:
            file.clear()

    def close(self) -> None:
        """Close the connections of the judge."""
        if self._judge is not None:
            self._judge.close()
            self._judge = None

    def evaluate(
        self, view: View, request: Request, recorded: Recorded | None, as_of: int | None
    ) -> ActiveRules:
        """Return the contexts that apply to a request, and the rules that injected them."""
        situation = parse_situation(request.situation or "{}")
        contexts = self._read_contexts(view)
        place = request.base
        chain = resolve_chain(place, contexts.files)
        if place and place not in contexts.files and detect_format(place):
            raise InputError(
                f"{place!r} is not a context file that this viewer may read",
                field="base",
                value=place,
            )
        judge = self._current_judge() if recorded is None else _replay_judge(recorded)
        known = self._known_verdicts() if recorded is None else recorded.verdicts
        evaluation = evaluate(
            chain,
            contexts.files,
            situation,
            judge,
            known=known,
            times={
                path: record.modified
                for path, record in contexts.records.items()
                if record.modified is not None
            },
            as_of=as_of,
        )
        if recorded is None:
            self._cache_verdicts(evaluation.verdicts, known)
        problems = {outcome.problem for outcome in evaluation.outcomes if outcome.failed}
        return ActiveRules(
            evaluation=evaluation,
            judge=judge.name if evaluation.verdicts or problems else "",
            records={
                item.context.path: contexts.records[item.context.path]
                for item in evaluation.contexts
            },
            failed=tuple(Failure(JUDGE, reason) for reason in sorted(problems)),
            notes=(
                *map(str, contexts.mistakes),
                *(
                    f"{dangling.path}: the rule {dangling.rule!r} injects {dangling.reference!r}, "
                    "which does not exist"
                    for dangling in evaluation.missing
                ),
                *evaluation.notes,
            ),
        )

    def _current_judge(self) -> Judge:
        with self._lock:
            settings = self._settings()
            if settings != self._judge_settings:  # they were edited
                self.close()
            if self._judge is None:
                self._judge = self._open_judge()
                self._judge_settings = settings
            return self._judge

    def _known_verdicts(self) -> Mapping[str, Verdict]:
        file = self._verdict_file()
        return self._verdicts if file is None else ChainMap(self._verdicts, file.load())

    def _cache_verdicts(
        self, verdicts: Mapping[str, Verdict], known: Mapping[str, Verdict]
    ) -> None:
        new = {key: verdict for key, verdict in verdicts.items() if key not in known}
        with self._lock:
            self._count = self._count.plus(len(verdicts) - len(new), len(verdicts))
        file = self._verdict_file()
        if file is not None and new:
            file.save(new)
        self._verdicts |= verdicts
        for key in [*self._verdicts][: max(0, len(self._verdicts) - MAX_CACHED_VERDICTS)]:
            self._verdicts.pop(key, None)

    def _read_contexts(self, view: View) -> ReadableContexts:
        key = f"{view.roots().content} {sorted(view.viewer.principals)} {view.viewer.owner}"
        cached = self._contexts.get(key)
        if cached is not None:
            return cached
        source = StoreSource(view)
        reader = ContextReader(source)
        reader.load(source.list_paths())
        reader.follow_extends()
        reader.follow_injections()
        contexts = ReadableContexts(reader.contexts, source.records, reader.mistakes())
        self._contexts.put(key, contexts)
        return contexts


def _replay_judge(recorded: Recorded) -> Judge:
    """Return the judge of a replay: it adds no verdict to those that were recorded."""
    reasons = [failure.reason for failure in recorded.failed if failure.source == JUDGE]
    return NoJudge(reasons[0] if reasons else "nobody is asked again", recorded.judge)
