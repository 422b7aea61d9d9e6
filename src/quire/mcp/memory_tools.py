"""How does a client write down what it learned?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from quire.core.serialize import to_plain
from quire.errors import InputError
from quire.mcp.session import Answer, Given, Session, Step
from quire.system.clock import now


def remember(asker: Session, given: Given, step: Step) -> Answer:
    """Remember a text."""
    step("opening the store")
    quire = asker.quire(create=True)
    step("remembering")
    written = quire.memories.add(given.pop("text"), at=now(), **given)
    return Answer(to_plain(written))


# What each operation on an experience takes beside its name; the first ones must be there.
_TAKES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "start": (
        ("goal", "domain"),
        ("strategy", "hypothesis", "action", "prediction", "share"),
    ),
    "update": (
        ("id",),
        ("goal", "domain", "strategy", "hypothesis", "action", "prediction"),
    ),
    "resolve": (("id", "outcome"), ("result", "surprise", "root_cause", "lesson")),
    "list": ((), ("domain", "strategy", "outcome")),
    "show": (("id",), ()),
}


OPERATIONS = tuple(_TAKES)


def experience(asker: Session, given: Given, step: Step) -> Answer:
    """Record what is tried and how it ends, or look it up."""
    operation = given.pop("operation")
    needs, may = _TAKES[operation]
    missing = [name for name in needs if name not in given]
    unknown = [name for name in given if name not in (*needs, *may)]
    if missing or unknown:
        wrong = f"lacks {', '.join(missing)}" if missing else f"takes no {', '.join(unknown)}"
        raise InputError(f"{operation} {wrong}: it takes {', '.join((*needs, *may)) or 'nothing'}")
    step("opening the store")
    quire = asker.quire(create=operation == "start")
    step(operation)
    notes: Iterable[str] = ()
    if operation == "list":
        found = quire.experiences.list(**given)
    elif operation == "show":
        found = [quire.experiences.get(given["id"])]
    else:
        first, rest = given.pop(needs[0]), given
        if operation == "start":
            written = quire.experiences.start(first, at=now(), **rest)
        elif operation == "update":
            written = quire.experiences.update(first, at=now(), **rest)
        else:
            written = quire.experiences.resolve(first, rest.pop("outcome"), at=now(), **rest)
        found, notes = [written.value], written.notes
    told = {"experiences": to_plain(found), "notes": list(notes)}
    return Answer(told, "experiences")
