"""Reading a question about a workspace: what it is after, and what is left to search for.

"Which of my tasks are overdue?" has no word in common with its answers, and "summarize this page"
names what the user is viewing. The words that reveal an intent (a table of the recipe), a date or
a reference to the focus are taken out of the question; what they mean is kept beside it. The rest
is searched for, with the title of the focus where the question refers to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from quire.core.types import Intent
from quire.retrieval import TaskQuery, name_words
from quire.store.index.analyzer import STOP_WORDS

TASKS = "tasks"
"""The intent whose answers are tasks."""
SUMMARY = "summary"
"""The intent to sum up: its words say nothing of the topic of what the user is viewing."""
WORD = re.compile(r"[\w'\u2019-]+")
REFERENCES = frozenset(
    """page task project note document doc table database board section block item ticket plan list
    sprint milestone meeting release version incident issue bug story epic feature decision proposal
    guide runbook report card row record checklist roadmap programme program thread""".split()  # noqa: SIM905 - read as prose, it is easier to check
)
"""What a user calls the record that they are viewing, after `this` or `the current`."""
POINTERS = (("this",), ("the", "current"), ("current",), ("here",))
OVERDUE = ("overdue", "past due", "late", "behind schedule", "missed", "slipped", "past their due")
FINISHED = ("done", "finished", "completed", "closed", "ticked off", "checked off")
ALL_STATES = ("all tasks", "every task", "open and done")
DATED = ("due", "deadline", "deadlines", "due date", "due dates")
MINE = ("my", "mine", "i", "me", "assigned to me")
SPLIT = ("subtask", "subtasks", "sub-tasks", "break down", "split", "break")
"""Words of a request to divide one task: it asks for tasks like it, not for a list."""
FILLERS = frozenset(
    """list show tell give find need needs want get got still left yet open pending outstanding
    remaining unfinished incomplete everything anything thing things something item items next
    please current currently upcoming coming assigned owned belong belonging team us let lets
    going there theres whats what's which who's that's i'm status work""".split()  # noqa: SIM905 - see above
)
"""Words that say nothing about the topic of tasks."""
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A question and what it means."""

    text: str
    """What is searched for; empty: nothing that could be."""
    intents: tuple[str, ...] = ()
    tasks: TaskQuery | None = None
    refers_to_focus: bool = False


def parse_query(
    query: str,
    intents: Mapping[str, Intent],
    *,
    focus: str | None,
    as_of: int | None,
    guess: Callable[[], str] = str,
) -> ParsedQuery:
    """Read a question; `focus` is the title of the record that the user is viewing.

    `guess` returns an intent, or nothing, where the words reveal none.
    """
    if not intents:
        return ParsedQuery(query)
    words = split_question(query)
    found = find_intents(words, intents)
    reference = set(_reference(words)) if focus is not None else set()
    about_focus = bool(reference)
    text = query
    tasks = None
    if TASKS in found and not _positions(words, SPLIT):
        used = {*reference, *_positions(words, intents[TASKS].words)}
        tasks, topic = _parse_tasks(words, used, about_focus, as_of)
        text = " ".join(topic)
    elif about_focus:
        asked = _positions(words, intents[SUMMARY].words) if SUMMARY in found else set()
        text = " ".join(word for at, word in enumerate(words) if at not in {*reference, *asked})
    if about_focus and tasks is None:
        text = f"{text} {focus}".strip()
    if not found and (guessed := guess()) in intents:
        found = (guessed,)
        if guessed == TASKS:  # no word is known to mean tasks, so all of them are searched for
            places = {*reference, *_positions(words, FINISHED)}
            tasks, _ = _parse_tasks(words, places, about_focus, as_of)
            tasks = replace(tasks, done=False, guessed=True)
    return ParsedQuery(text, found, tasks, about_focus)


def split_question(query: str) -> list[str]:
    """Return the words of a question, in small letters."""
    return [word.lower().replace("\u2019", "'") for word in WORD.findall(query)]


def holds_phrase(query: str, phrases: Iterable[str]) -> bool:
    """Tell whether a question has one of several words, or words in a row."""
    return bool(_positions(split_question(query), phrases))


def find_intents(words: Iterable[str], intents: Mapping[str, Intent]) -> tuple[str, ...]:
    """Return the intents that words reveal, in the order of the recipe."""
    words = [*words]
    return tuple(name for name, intent in intents.items() if _positions(words, intent.words))


def _parse_tasks(
    words: list[str], used: set[int], about_focus: bool, as_of: int | None
) -> tuple[TaskQuery, list[str]]:
    overdue = _positions(words, OVERDUE)
    finished = _positions(words, FINISHED) if not overdue else set()
    every = _positions(words, ALL_STATES)
    mine = _positions(words, MINE)
    dated = _positions(words, DATED)
    at, due = _period(words, as_of)
    used = {*used, *overdue, *finished, *every, *mine, *dated, *at}
    topic = [
        word.removesuffix("'s")
        for place, word in enumerate(words)
        if place not in used and word not in STOP_WORDS and word not in FILLERS
    ]
    return TaskQuery(
        overdue=bool(overdue),
        done=None if every else bool(finished),
        dated=bool(dated),
        due=due,
        mine=bool(mine),
        of_focus=about_focus,
        words=name_words(*topic),
    ), topic


def _period(words: list[str], as_of: int | None) -> tuple[set[int], tuple[int, int] | None]:
    """Return the places of the words for a period, and the moments between which it lies."""
    for phrase, first, last, unit in PERIODS:
        at = _positions(words, (phrase,))
        if at:
            return at, None if as_of is None else _moments(as_of, first, last, unit)
    return set(), None


PERIODS = (
    ("today", 0, 1, "day"),
    ("tonight", 0, 1, "day"),
    ("tomorrow", 1, 2, "day"),
    ("soon", 0, 14, "day"),
    ("this week", 0, 1, "week"),
    ("next week", 1, 2, "week"),
    ("this month", 0, 1, "month"),
    ("next month", 1, 2, "month"),
)
"""Periods: where they begin and end, in units that are counted from the current one."""


def _moments(as_of: int, first: int, last: int, unit: str) -> tuple[int, int]:
    day = datetime.fromtimestamp(as_of, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "month":
        month = day.year * 12 + day.month - 1
        begin, end = (
            day.replace(year=number // 12, month=number % 12 + 1, day=1)
            for number in (month + first, month + last)
        )
    else:
        length, start = (7 * DAY, day - DAY * day.weekday()) if unit == "week" else (DAY, day)
        begin, end = start + length * first, start + length * last
    return int(begin.timestamp()), int(end.timestamp())


def _reference(words: list[str]) -> Iterator[int]:
    """Yield the places of the words that refer to what the user is viewing."""
    for at, word in enumerate(words):
        for pointer in POINTERS:
            end = at + len(pointer)
            if tuple(words[at:end]) != pointer:
                continue
            if word == "here":
                yield at
            elif end < len(words) and words[end].removesuffix("'s") in REFERENCES:
                yield from range(at, end + 1)
            elif end == len(words) and pointer == ("this",):
                yield at


def _positions(words: list[str], phrases: Iterable[str]) -> set[int]:
    """Return the places of the words of all phrases that occur."""
    places: set[int] = set()
    for phrase in phrases:
        parts = phrase.split()
        for at in range(len(words) - len(parts) + 1):
            if words[at : at + len(parts)] == parts:
                places.update(range(at, at + len(parts)))
    return places
