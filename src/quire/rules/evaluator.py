"""Which contexts hold in a situation, of those that a viewer may read?

Context files are read from the store, as the viewer may read it: so rules are part of the state,
and nobody is ruled by what they may not see. Only the judge waits; its verdicts are kept, and a
receipt records them, so that a replay asks nobody.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field

from quire import rules
from quire.core.lru import LRUCache
from quire.core.protocols import Judge, View
from quire.core.types import (
    ContextFile,
    Failure,
    Filter,
    Mistake,
    Record,
    Recorded,
    Request,
    Ruled,
    Verdict,
)
from quire.errors import InputError
from quire.ingest import compute_record_id

KEPT_STATES = 8
KEPT_VERDICTS = 4096
JUDGE = "judge"
GLOBS = tuple(f"**/*{ending}" for ending in rules.ENDINGS) + tuple(
    f"**/{name}" for name in rules.PLAIN
)


@dataclass(frozen=True, slots=True)
class Contexts:
    """The context files that a viewer may read, by path."""

    files: Mapping[str, ContextFile]
    records: Mapping[str, Record]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class ActiveRules:
    """What holds in a situation."""

    ruled: Ruled = field(default_factory=lambda: Ruled((), ()))
    judge: str = ""
    """The name of the judge, if one was needed."""
    records: Mapping[str, Record] = field(default_factory=dict)
    """The records of the contexts that count, by path."""
    failed: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def counting(self) -> tuple[tuple[str, int], ...]:
        """The ids of the contexts' records, and how much each counts."""
        return tuple(
            (self.records[each.context.path].id, each.priority) for each in self.ruled.contexts
        )


class RuleEvaluator:
    """Rules over what a viewer may read; keeps what was read and judged last."""

    def __init__(self, judge: Callable[[], Judge], settings: Callable[[], Hashable]) -> None:
        self._open = judge
        self._settings = settings
        self._opened: Judge | None = None
        self._opened_by: Hashable = None
        self._opening = threading.Lock()
        self._contexts: LRUCache[str, Contexts] = LRUCache(KEPT_STATES)
        self._verdicts: dict[str, Verdict] = {}

    def close(self) -> None:
        """Let go of the judge's connections."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _judge(self) -> Judge:
        with self._opening:
            settings = self._settings()
            if settings != self._opened_by:  # they were edited
                self.close()
            if self._opened is None:
                self._opened = self._open()
                self._opened_by = settings
            return self._opened

    def situate(
        self, view: View, request: Request, recorded: Recorded | None, as_of: int | None
    ) -> ActiveRules:
        """Tell which contexts count, and which rules brought them in."""
        situation = rules.parse(request.situation or "{}")
        contexts = self._read(view)
        place = request.base
        chain = rules.chain(place, contexts.files)
        if place and place not in contexts.files and rules.form_of(place):
            raise InputError(f"there is no context {place!r} that this viewer may read")
        judge = self._judge() if recorded is None else _silent(recorded)
        ruled = rules.evaluate(
            chain,
            contexts.files,
            situation,
            judge,
            known=self._verdicts if recorded is None else recorded.verdicts,
            times={
                path: record.modified
                for path, record in contexts.records.items()
                if record.modified is not None
            },
            as_of=as_of,
        )
        if recorded is None:
            self._keep(ruled.verdicts)
        failed = {each.problem for each in ruled.rulings if each.failed}
        return ActiveRules(
            ruled,
            judge.name if ruled.verdicts or failed else "",
            {each.context.path: contexts.records[each.context.path] for each in ruled.contexts},
            tuple(Failure(JUDGE, reason) for reason in sorted(failed)),
            (
                *(str(mistake) for mistake in contexts.mistakes),
                *(
                    f"{each.path}: the rule {each.rule!r} injects {each.reference!r}, "
                    "which is not there"
                    for each in ruled.missing
                ),
                *ruled.notes,
            ),
        )

    def _keep(self, verdicts: Mapping[str, Verdict]) -> None:
        self._verdicts |= verdicts
        for key in [*self._verdicts][: max(0, len(self._verdicts) - KEPT_VERDICTS)]:
            self._verdicts.pop(key, None)

    def _read(self, view: View) -> Contexts:
        key = f"{view.roots().content} {sorted(view.viewer.principals)} {view.viewer.owner}"
        kept = self._contexts.get(key)
        if kept is not None:
            return kept
        files: dict[str, ContextFile] = {}
        records: dict[str, Record] = {}
        mistakes: list[Mistake] = []
        waiting = list(view.listing(Filter(paths=GLOBS)))
        while waiting:
            for record in waiting:
                text = "".join(chunk.text for chunk in view.chunks_of(record.id))
                found = rules.read(record.path, text)
                records[record.path] = record
                if isinstance(found, ContextFile):
                    files[record.path] = found
                else:
                    mistakes += found
            # Rules may bring in any document, and contexts extend any.
            wanted = {path for each in files.values() for path in _meant(each)} - records.keys()
            waiting = view.records(sorted(map(compute_record_id, wanted)))
        made = Contexts(files, records, (*mistakes, *rules.mistakes(files)))
        self._contexts.put(key, made)
        return made


def _meant(context: ContextFile) -> Iterator[str]:
    """Name the files that a context may bring in or extend."""
    references = [each for rule in context.injection_rules for each in rule.inject]
    for reference in (*references, *([context.extends] if context.extends else ())):
        yield from rules.candidates(reference)


def _silent(recorded: Recorded) -> Judge:
    """Give what stands for the judge in a replay: it adds nothing to what is recorded."""
    reasons = [failure.reason for failure in recorded.failed if failure.source == JUDGE]
    return rules.NoJudge(reasons[0] if reasons else "nobody is asked again", recorded.judge)
