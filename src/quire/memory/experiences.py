"""What was tried, and how did it end?

An experience is started, updated any number of times, and resolved once: `confirmed`, `falsified`
or `abandoned`. It is kept under a path that says domain, strategy and outcome, and on four axes,
each a kind of chunk: so every question about experiences is a filter.

How far it can be trusted follows from how it was resolved:

- gold: with a result and a lesson; a falsified one also with the root cause
- silver: with a result
- bronze: without
- abandoned: given up
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from quire.core import chunking, hashing
from quire.core.types import OPEN, Document, Experience, Record
from quire.errors import InputError
from quire.memory.vocabulary import UNSTATED

KIND = "experience"
FOLDER = ".quire/experience"
FULL, STRATEGY, SURPRISE, ROOT_CAUSE = "full", "strategy", "surprise", "root_cause"
AXES = (FULL, STRATEGY, SURPRISE, ROOT_CAUSE)

CONFIRMED, FALSIFIED, ABANDONED = "confirmed", "falsified", "abandoned"
OUTCOMES = (CONFIRMED, FALSIFIED, ABANDONED)

TRIED = ("hypothesis", "action", "prediction")
"""What another attempt states anew."""
CHANGED = ("goal", "domain", "strategy", *TRIED)
"""What an update may change."""
ENDED = ("result", "surprise", "root_cause", "lesson")
"""What is known when it has ended."""
SAID = ("goal", *TRIED, *ENDED)
"""All that is said in sentences."""

_NUMBERS = ("iterations", "started", "updated", "resolved")
_ELSEWHERE = ("id", "author", "acl")
"""What the record itself keeps."""


def start(
    told: Mapping[str, str], *, at: int, author: str | None, acl: tuple[str, ...] | None
) -> Experience:
    """Begin an experience: goal, domain and strategy, and whatever of the attempt is known."""
    said = _cleaned({name: told.get(name, "") for name in CHANGED}, "goal")
    name = hashing.identifier("experience", at, author, acl, said)
    return Experience(id=name, started=at, updated=at, author=author, acl=acl, **said)


def update(experience: Experience, told: Mapping[str, str], *, at: int) -> Experience:
    """Go on with an open one; a hypothesis, action or prediction said anew is another attempt."""
    _refuse_resolved(experience, "updated")
    if not told:
        raise InputError(f"nothing to update: give one of {', '.join(CHANGED)}")
    said = _cleaned(told, *told)
    again = any(
        getattr(experience, name) and said[name] != getattr(experience, name)
        for name in TRIED
        if name in said
    )
    return replace(
        experience,
        **said,
        iterations=experience.iterations + again,
        updated=_not_before(experience, at),
    )


def resolve(
    experience: Experience, outcome: str, told: Mapping[str, str], *, at: int
) -> Experience:
    """End an open one."""
    if outcome not in OUTCOMES:
        raise InputError(f"there is no outcome {outcome!r}: use {', '.join(OUTCOMES)}")
    _refuse_resolved(experience, "resolved")
    if outcome != ABANDONED and not experience.hypothesis:
        raise InputError(
            f"experience {experience.id} has no hypothesis that could be {outcome}: "
            "update it with one, or abandon it"
        )
    moment = _not_before(experience, at)
    ended = replace(
        experience,
        **_cleaned(told),
        outcome=outcome,
        updated=moment,
        resolved=moment,
    )
    return replace(ended, tier=tier(ended))


def tier(experience: Experience) -> str:
    """Tell how far a resolved experience can be trusted."""
    if experience.outcome == ABANDONED:
        return ABANDONED
    if not experience.result:
        return "bronze"
    explained = experience.root_cause or experience.outcome == CONFIRMED
    return "gold" if experience.lesson and explained else "silver"


def path(domain: str, strategy: str, outcome: str, name: str) -> str:
    """Give the path that an experience is kept under; with `*` for some parts it is a filter."""
    return f"{FOLDER}/{domain}/{strategy}/{outcome}/{name}"


def chunk_kind(axis: str) -> str:
    """Give the kind of the chunks that speak on an axis."""
    return f"{KIND}.{axis}"


def document(experience: Experience, cut: chunking.Cut) -> Document:
    """Give the record and chunks that an experience is kept as."""
    one = experience
    record = Record(
        id=one.id,
        kind=KIND,
        path=path(one.domain, one.strategy, one.outcome, one.id),
        title=chunking.first_words(one.goal),
        modified=one.updated if one.resolved is None else one.resolved,
        author=one.author,
        acl=one.acl,
        attrs={
            each.name: value
            for each in fields(one)
            if each.name not in _ELSEWHERE and (value := getattr(one, each.name)) not in ("", None)
        },
    )
    spoken = [(chunk_kind(axis), text) for axis in AXES if (text := axis_text(one, axis))]
    return Document(record, chunking.make_chunks(record, spoken, cut))


def experience_of(record: Record) -> Experience:
    """Read an experience back from what it is kept as."""
    told: dict[str, Any] = {
        name: int(value) if name in _NUMBERS else str(value) for name, value in record.attrs.items()
    }
    return Experience(id=record.id, author=record.author, acl=record.acl, **told)


def axis_text(experience: Experience, axis: str) -> str:
    """Say what an experience says on an axis; nothing, if it is silent on it."""
    one = experience
    if axis == SURPRISE:
        return one.surprise
    if axis == ROOT_CAUSE:
        return one.root_cause
    ended = one.outcome + (f" - {one.result}" if one.result else "")
    lines = {"Action": one.action, "Outcome": ended, "Lesson": one.lesson}
    if axis == STRATEGY:
        stated = one.outcome != OPEN and one.strategy != UNSTATED
        return _story(f"{one.strategy} in {one.domain}", lines) if stated else ""
    return _story(
        f"{one.domain} | {one.strategy}",
        {
            "Goal": one.goal,
            "Hypothesis": one.hypothesis,
            "Action": one.action,
            "Prediction": one.prediction,
            "Outcome": ended,
            "Surprise": one.surprise,
            "Root cause": one.root_cause,
            "Lesson": one.lesson,
        },
    )


def _story(head: str, lines: Mapping[str, str]) -> str:
    return "\n".join((head, *(f"{name}: {text}" for name, text in lines.items() if text)))


def _cleaned(told: Mapping[str, str], *needed: str) -> dict[str, Any]:
    return {
        name: chunking.require_text(name, text)
        if name in needed
        else chunking.check_length(name, text.strip())
        for name, text in told.items()
    }


def _refuse_resolved(experience: Experience, step: str) -> None:
    if experience.outcome != OPEN:
        raise InputError(
            f"experience {experience.id} is {experience.outcome}: it cannot be {step} any more; "
            "start another"
        )


def _not_before(experience: Experience, at: int) -> int:
    """A clock that was set back does not let an experience end before it began."""
    return max(at, experience.updated or at)
