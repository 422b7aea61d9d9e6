"""The prompts of the server: questions that a client offers its user, filled with a context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from quire.errors import InputError, unknown
from quire.mcp import context_tools
from quire.mcp.session import Session

Arguments = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text that is made of arguments and of a context."""

    name: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]
    """Name, description, and whether it is required."""
    render: Callable[[Session, Arguments], str]


def _ignore_step(_: str) -> None:
    pass


def _for_task(session: Session, arguments: Arguments) -> str:
    query = {"query": arguments["task"]}
    context = context_tools.assemble(session, query, _ignore_step).data["text"]
    return f"{arguments['task']}\n\n{context or 'Nothing is known of it yet.'}"


def _before_debugging(session: Session, arguments: Arguments) -> str:
    query = {"domain": arguments.get("domain", "debugging")}
    if "strategy" in arguments:
        query["strategy"] = arguments["strategy"]
    context = context_tools.premortem(session, query, _ignore_step).data["text"]
    failure = arguments.get("failure", "Something fails.")
    return (
        f"{failure}\n\nBefore you look for the cause, read what went wrong before. Then say which "
        "of it may be at work here, and what you check first.\n\n"
        f"{context or 'Nothing is known to have gone wrong before.'}"
    )


PROMPTS = (
    Prompt(
        "context_for_task",
        "Begin a task with what is known of it.",
        (("task", "What to do.", True),),
        _for_task,
    ),
    Prompt(
        "premortem_before_debugging",
        "Look at past failures before the search for a cause begins.",
        (
            ("failure", "What fails.", False),
            ("domain", "debugging (default), performance, security, deployment, …", False),
            ("strategy", "How you proceed.", False),
        ),
        _before_debugging,
    ),
)
_BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def render(session: Session, name: str, arguments: Arguments) -> tuple[Prompt, str]:
    """Return a prompt and its text."""
    prompt = _BY_NAME.get(name)
    if prompt is None:
        raise unknown("prompt", name, _BY_NAME)
    missing = [key for key, _, required in prompt.arguments if required and not arguments.get(key)]
    if missing:
        raise InputError(f"prompt {name} needs {', '.join(missing)}", field="arguments")
    return prompt, prompt.render(session, {key: text for key, text in arguments.items() if text})
