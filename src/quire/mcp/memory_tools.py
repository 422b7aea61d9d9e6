"""Tools that write down what a client learned: memories and experiences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from quire.core.json_schema import record, text, texts
from quire.core.serialize import to_plain
from quire.errors import InputError
from quire.mcp.schemas import NOTES, answer, objects
from quire.mcp.session import Session
from quire.mcp.tool import Arguments, Step, Tool, ToolResult
from quire.system.clock import now

SHARE = texts("Who can read it: NAME, @GROUP, public or owner (default: only the viewer).")
DOMAIN = text("debugging, feature, testing, performance, security, deployment, …")
STRATEGY = text("How you proceed: check-assumptions, small-steps, read-the-error, …")

# The arguments of each operation on an experience: the required ones, then the optional ones.
_OPERATIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
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
_STRING = {"type": "string"}
_OPTIONAL_STRING = {"type": ["string", "null"]}
_OPTIONAL_STRINGS = {"type": ["array", "null"], "items": {"type": "string"}}


def remember(session: Session, arguments: Arguments, step: Step) -> ToolResult:
    """Add a memory."""
    step("opening the store")
    quire = session.quire(create=True)
    step("remembering")
    written = quire.memories.add(arguments.pop("text"), at=now(), **arguments)
    return ToolResult(to_plain(written))


def experience(session: Session, arguments: Arguments, step: Step) -> ToolResult:
    """Record an experience, or look one up."""
    operation = arguments.pop("operation")
    required, optional = _OPERATIONS[operation]
    _check_arguments(operation, arguments, required, optional)
    step("opening the store")
    quire = session.quire(create=operation == "start")
    step(operation)
    notes: Iterable[str] = ()
    shown = []
    if "id" in arguments:
        shown = [quire.experiences.get(arguments["id"], shared_only=session.shared_only)]
    if operation == "list":
        experiences = quire.experiences.list(**arguments, shared_only=session.shared_only)
    elif operation == "show":
        experiences = shown
    else:
        subject = arguments.pop(required[0])
        if operation == "start":
            written = quire.experiences.start(subject, at=now(), **arguments)
        elif operation == "update":
            written = quire.experiences.update(subject, at=now(), **arguments)
        else:
            outcome = arguments.pop("outcome")
            written = quire.experiences.resolve(subject, outcome, at=now(), **arguments)
        experiences, notes = [written.value], written.notes
    return ToolResult(to_plain({"experiences": experiences, "notes": notes}), "experiences")


def _check_arguments(
    operation: str, arguments: Arguments, required: tuple[str, ...], optional: tuple[str, ...]
) -> None:
    missing = [name for name in required if name not in arguments]
    unexpected = [name for name in arguments if name not in (*required, *optional)]
    if missing or unexpected:
        problem = (
            f"{operation} needs {', '.join(missing)}"
            if missing
            else f"{operation} does not take {', '.join(unexpected)}"
        )
        allowed = ", ".join((*required, *optional)) or "nothing"
        raise InputError(problem, field="operation", hint=f"it takes {allowed}")


TOOLS = (
    Tool(
        "remember",
        "Remember",
        "Keep a fact, a preference, a decision or an error for later contexts.",
        lambda: record(
            {
                "text": text("What to remember, in a sentence or two.", minLength=1),
                "category": text("fact (default), preference, decision or error."),
                "importance": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": 1,
                    "description": "From 0 to 1 (default: 0.5).",
                },
                "supersedes": text("Id of the memory that this one replaces."),
                "share": SHARE,
            },
            "text",
        ),
        answer(
            {
                "id": _STRING,
                "content": _STRING,
                "category": _STRING,
                "importance": {"type": "number"},
                "created": _OPTIONAL_STRING,
                "edited": _OPTIONAL_STRING,
                "author": _OPTIONAL_STRING,
                "share": _OPTIONAL_STRINGS,
                "supersedes": _OPTIONAL_STRING,
                "superseded_by": _OPTIONAL_STRING,
                "count": {"type": "integer"},
                "repeated": _OPTIONAL_STRING,
                "notes": NOTES["notes"],
            }
        ),
        remember,
        read_only=False,
        idempotent=False,
    ),
    Tool(
        "experience",
        "Experiences",
        "Record what you try and how it ends: start (goal, domain), update (id), resolve (id, "
        "outcome); list and show look experiences up. Later contexts draw on them.",
        lambda: record(
            {
                "operation": text("What to do.", enum=list(_OPERATIONS)),
                "id": text("update, resolve, show: which experience."),
                "goal": text("start: what you want to reach."),
                "domain": DOMAIN,
                "strategy": STRATEGY,
                "hypothesis": text("What you believe."),
                "action": text("What you do to find out."),
                "prediction": text("What you expect to see if it is true."),
                "outcome": text(
                    "resolve, list: confirmed, falsified or abandoned (list: also open)."
                ),
                "result": text("What you saw."),
                "surprise": text("What was unexpected."),
                "root_cause": text("Why the hypothesis failed."),
                "lesson": text("What worked, and what to do next time."),
                "share": SHARE,
            },
            "operation",
        ),
        answer(
            {
                "experiences": objects(
                    {
                        "id": _STRING,
                        "domain": _STRING,
                        "strategy": _STRING,
                        "goal": _STRING,
                        "hypothesis": _STRING,
                        "action": _STRING,
                        "prediction": _STRING,
                        "result": _STRING,
                        "surprise": _STRING,
                        "root_cause": _STRING,
                        "lesson": _STRING,
                        "outcome": _STRING,
                        "tier": _STRING,
                        "source": _STRING,
                        "iterations": {"type": "integer"},
                        "started": _OPTIONAL_STRING,
                        "updated": _OPTIONAL_STRING,
                        "resolved": _OPTIONAL_STRING,
                        "author": _OPTIONAL_STRING,
                        "share": _OPTIONAL_STRINGS,
                    }
                ),
                "notes": NOTES["notes"],
            }
        ),
        experience,
        read_only=False,
        idempotent=False,
    ),
)
