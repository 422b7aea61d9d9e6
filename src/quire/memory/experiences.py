"""Experiences: what was tried, and how it ended.

An experience is started, updated any number of times, and resolved once: `confirmed`, `falsified`
or `abandoned`. Its path names domain, strategy and outcome, and its text is stored on four axes,
each a kind of chunk, so that every question about experiences is a filter.

The tier says how far it can be trusted, and follows from how it was resolved:

- gold: with a result and a lesson; a falsified one also with the root cause
- silver: with a result
- bronze: without a result
- abandoned: given up
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from quire.core import chunking, hashing, stored_json
from quire.core.languages import ATTRIBUTE, with_language
from quire.core.types import OPEN, Document, Experience, Record
from quire.errors import InputError, unknown
from quire.memory.vocabulary import UNSTATED

KIND = "experience"
FOLDER = ".quire/experience"
FULL, STRATEGY, SURPRISE, ROOT_CAUSE = "full", "strategy", "surprise", "root_cause"
AXES = (FULL, STRATEGY, SURPRISE, ROOT_CAUSE)

CONFIRMED, FALSIFIED, ABANDONED = "confirmed", "falsified", "abandoned"
OUTCOMES = (CONFIRMED, FALSIFIED, ABANDONED)

ATTEMPT_FIELDS = ("hypothesis", "action", "prediction")
"""The fields that another attempt states again."""
UPDATABLE_FIELDS = ("goal", "domain", "strategy", *ATTEMPT_FIELDS)
"""The fields that an update may change."""
RESULT_FIELDS = ("result", "surprise", "root_cause", "lesson")
"""The fields that resolving it fills in."""
TEXT_FIELDS = ("goal", *ATTEMPT_FIELDS, *RESULT_FIELDS)
"""The fields that hold sentences."""

_INTEGER_FIELDS = ("iterations", "started", "updated", "resolved")
_RECORD_FIELDS = ("id", "author", "acl")
"""The fields that the record has itself; the others are its attributes."""


def start(
    values: Mapping[str, str], *, at: int, author: str | None, acl: tuple[str, ...] | None
) -> Experience:
    """Return a new experience: goal, domain and strategy, and what is known of the attempt."""
    cleaned = _clean({name: values.get(name, "") for name in UPDATABLE_FIELDS}, "goal")
    name = hashing.identifier("experience", at, author, acl, cleaned)
    return Experience(id=name, started=at, updated=at, author=author, acl=acl, **cleaned)


def update(experience: Experience, values: Mapping[str, str], *, at: int) -> Experience:
    """Update an open experience; another hypothesis, action or prediction is an iteration."""
    _refuse_resolved(experience, "updated")
    if not values:
        raise InputError("nothing to update", hint=f"set one of {', '.join(UPDATABLE_FIELDS)}")
    cleaned = _clean(values, *values)
    is_iteration = any(
        getattr(experience, name) and cleaned[name] != getattr(experience, name)
        for name in ATTEMPT_FIELDS
        if name in cleaned
    )
    return replace(
        experience,
        **cleaned,
        iterations=experience.iterations + is_iteration,
        updated=_clamp_time(experience, at),
    )


def resolve(
    experience: Experience, outcome: str, values: Mapping[str, str], *, at: int
) -> Experience:
    """Resolve an open experience."""
    if outcome not in OUTCOMES:
        raise unknown("outcome", outcome, OUTCOMES, field="outcome")
    _refuse_resolved(experience, "resolved")
    if outcome != ABANDONED and not experience.hypothesis:
        raise InputError(
            f"experience {experience.id} has no hypothesis that could be {outcome}",
            field="outcome",
            value=outcome,
            hint="update it with a hypothesis, or abandon it",
        )
    time = _clamp_time(experience, at)
    resolved = replace(
        experience,
        **_clean(values),
        outcome=outcome,
        updated=time,
        resolved=time,
    )
    return replace(resolved, tier=tier_of(resolved))


def tier_of(experience: Experience) -> str:
    """Return the tier of a resolved experience: how far it can be trusted."""
    if experience.outcome == ABANDONED:
        return ABANDONED
    if not experience.result:
        return "bronze"
    is_explained = experience.root_cause or experience.outcome == CONFIRMED
    return "gold" if experience.lesson and is_explained else "silver"


def path_of(domain: str, strategy: str, outcome: str, name: str) -> str:
    """Return the path of an experience; with `*` for some parts it is a glob to filter by."""
    return f"{FOLDER}/{domain}/{strategy}/{outcome}/{name}"


def chunk_kind(axis: str) -> str:
    """Return the kind of the chunks of an axis."""
    return f"{KIND}.{axis}"


def to_document(experience: Experience, split: chunking.Cut) -> Document:
    """Return the record and chunks that an experience is stored as."""
    record = Record(
        id=experience.id,
        kind=KIND,
        path=path_of(experience.domain, experience.strategy, experience.outcome, experience.id),
        title=chunking.first_words(experience.goal),
        modified=experience.updated if experience.resolved is None else experience.resolved,
        author=experience.author,
        acl=experience.acl,
        attrs=_attributes(experience),
    )
    texts = [(chunk_kind(axis), text) for axis in AXES if (text := axis_text(experience, axis))]
    chunks = chunking.make_chunks(record, texts, split)
    return Document(with_language(record, chunks), chunks)


def _attributes(experience: Experience) -> dict[str, str | int]:
    names = (field.name for field in fields(experience) if field.name not in _RECORD_FIELDS)
    values = {name: getattr(experience, name) for name in names}
    return {name: value for name, value in values.items() if value not in ("", None)}


@stored_json.of_record
def from_record(record: Record) -> Experience:
    """Return the experience that a record stores."""
    values: dict[str, Any] = {
        name: int(value) if name in _INTEGER_FIELDS else str(value)
        for name, value in record.attrs.items()
        if name != ATTRIBUTE
    }
    return Experience(id=record.id, author=record.author, acl=record.acl, **values)


def axis_text(experience: Experience, axis: str) -> str:
    """Return the text of an experience on an axis; empty if it has none there."""
    if axis == SURPRISE:
        return experience.surprise
    if axis == ROOT_CAUSE:
        return experience.root_cause
    outcome = experience.outcome + (f" - {experience.result}" if experience.result else "")
    if axis == STRATEGY:
        if experience.outcome == OPEN or experience.strategy == UNSTATED:
            return ""
        return _join_lines(
            f"{experience.strategy} in {experience.domain}",
            {"Action": experience.action, "Outcome": outcome, "Lesson": experience.lesson},
        )
    return _join_lines(
        f"{experience.domain} | {experience.strategy}",
        {
            "Goal": experience.goal,
            "Hypothesis": experience.hypothesis,
            "Action": experience.action,
            "Prediction": experience.prediction,
            "Outcome": outcome,
            "Surprise": experience.surprise,
            "Root cause": experience.root_cause,
            "Lesson": experience.lesson,
        },
    )


def _join_lines(head: str, lines: Mapping[str, str]) -> str:
    return "\n".join((head, *(f"{name}: {text}" for name, text in lines.items() if text)))


def _clean(values: Mapping[str, str], *required: str) -> dict[str, Any]:
    return {
        name: chunking.require_text(name, text)
        if name in required
        else chunking.check_length(name, text.strip())
        for name, text in values.items()
    }


def _refuse_resolved(experience: Experience, step: str) -> None:
    if experience.outcome != OPEN:
        raise InputError(
            f"experience {experience.id} is {experience.outcome} and cannot be {step}",
            hint="start another one",
        )


def _clamp_time(experience: Experience, at: int) -> int:
    """Return a time that is not before the last update, even if the clock was set back."""
    return max(at, experience.updated or at)
