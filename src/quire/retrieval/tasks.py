"""The tasks collector: tasks of the workspace, by state, due date, owner and page.

A question such as "which tasks are overdue?" has no word in common with its answers. What is asked
for is read off the question beforehand (`pipeline/intents.py`); this collector finds the tasks that
satisfy all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from quire.core.protocols import View
from quire.core.tasks import PAGE_KINDS, TASK_KINDS, Task, read_task
from quire.core.types import NO_FILTER, Filter, Hits, Record
from quire.retrieval import hierarchy
from quire.retrieval.query import Query, TaskQuery

TASKS = "tasks"
ANSWER_SCORE, PARTIAL_SCORE = 10_000, 1000
"""The score of the first task, if the tasks are all that the question asks for, and if not."""
SHORT = 3
"""Words of at most this many letters keep a final s."""
WORD = re.compile(r"[^\W_]+")
FAR = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Found:
    """A task, and the records that contain it."""

    record: Record
    task: Task
    above: tuple[Record, ...]

    @property
    def words(self) -> frozenset[str]:
        """The words of its text, its owners and the titles of the pages that contain it."""
        pages = (record.title for record in self.above if record.kind in PAGE_KINDS)
        return name_words(self.record.title, *self.task.owners, *pages)


def find_tasks(view: View, query: Query) -> list[Found]:
    """Return all tasks that a question asks for."""
    wanted = query.tasks
    if wanted is None:
        return []
    tasks = [
        found
        for found in _tasks(view, query.where)
        if _has_state(found.task, wanted, query.as_of) and _is_due(found.task, wanted)
    ]
    return _narrow(view, tasks, query, wanted)


def collect_tasks(view: View, query: Query, depth: int) -> Hits:
    """Find the tasks that a question asks for, the first that are due first."""
    wanted = query.tasks
    if wanted is None:
        return Hits(())
    tasks = find_tasks(view, query)
    best = ANSWER_SCORE if all(wanted.words <= found.words for found in tasks) else PARTIAL_SCORE
    tasks.sort(key=lambda found: (found.task.due or FAR, found.record.path, found.record.id))
    limit = query.option(TASKS, "items")
    scored = [(found.record.id, max(0, best - rank)) for rank, found in enumerate(tasks[:limit])]
    return hierarchy.hits_of_records(view, scored, depth, query.where)


def _tasks(view: View, where: Filter) -> Iterator[Found]:
    records = [*view.listing(Filter(kinds=(*TASK_KINDS, *PAGE_KINDS)))]
    wanted = None if where == NO_FILTER else {record.id for record in view.listing(where)}
    tasks = {
        record.id: task
        for record in records
        if (wanted is None or record.id in wanted) and (task := read_task(record)) is not None
    }
    above = hierarchy.ancestors(view, [record for record in records if record.id in tasks])
    for record in records:
        if record.id in tasks:
            yield Found(record, tasks[record.id], above[record.id])


def _has_state(task: Task, wanted: TaskQuery, as_of: int | None) -> bool:
    if wanted.overdue:
        return as_of is not None and task.is_overdue(as_of)
    return wanted.done is None or task.done == wanted.done


def _is_due(task: Task, wanted: TaskQuery) -> bool:
    if wanted.due is None:
        return task.due is not None or not wanted.dated
    if task.due is None:
        return False
    first, last = wanted.due
    return first < task.due.timestamp() <= last


def _narrow(view: View, tasks: list[Found], query: Query, wanted: TaskQuery) -> list[Found]:
    """Keep the tasks of the focus, the user and the topic that the question names."""
    if wanted.of_focus and query.focus is not None:
        pages = _pages_of(view, query.focus)
        tasks = [
            found
            for found in tasks
            if not pages.isdisjoint({found.record.id, *(page.id for page in found.above)})
        ]
    # In a workspace where no task has an owner, all of them are the user's.
    if wanted.mine and any(found.task.owners for found in tasks):
        own = name_words(view.viewer.actor)
        tasks = [found for found in tasks if own and own <= name_words(*found.task.owners)]
    if not wanted.words:
        return tasks
    counts = [len(wanted.words & found.words) for found in tasks]
    best = max(counts, default=0)
    if wanted.guessed and not best:
        return tasks
    # A task about half of what is asked for is about something else.
    enough = best * 2 >= len(wanted.words) and best > 0
    return [found for found, count in zip(tasks, counts, strict=True) if enough and count == best]


def name_words(*names: str) -> frozenset[str]:
    """Return the words of names, without the endings that a question adds to them."""
    return frozenset(
        word.removesuffix("s") if len(word) > SHORT else word
        for name in names
        for word in WORD.findall(name.casefold())
    )


def _pages_of(view: View, focus: str) -> set[str]:
    """Return the focus if it is a page, else the innermost page that contains it."""
    for record in view.records([focus]):
        chain = (record, *hierarchy.ancestors(view, [record])[record.id])
        return {next((page.id for page in chain if page.kind in PAGE_KINDS), record.id)}
    return set()
