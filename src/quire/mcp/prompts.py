"""Which questions does a client offer its user, with what is known put in?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from quire.errors import InputError
from quire.mcp import context_tools
from quire.mcp.session import Session

Arguments = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with gaps that are filled by arguments and by what is known."""

    name: str
    about: str
    arguments: tuple[tuple[str, str, bool], ...]
    """Their names, what they are, and whether they must be there."""
    say: Callable[[Session, Arguments], str]


def _nothing(_: str) -> None:
    """Nobody watches."""


def _for_task(asker: Session, given: Arguments) -> str:
    asked = {"query": given["task"]}
    known = context_tools.assemble(asker, asked, _nothing).told["text"]
    return f"{given['task']}\n\n{known or 'Nothing is known of it yet.'}"


def _before_debugging(asker: Session, given: Arguments) -> str:
    asked = {"domain": given.get("domain", "debugging")}
    if "strategy" in given:
        asked["strategy"] = given["strategy"]
    known = context_tools.premortem(asker, asked, _nothing).told["text"]
    failure = given.get("failure", "Something fails.")
    return (
        f"{failure}\n\nBefore you look for the cause, read what went wrong before. Then say which "
        "of it may be at work here, and what you check first.\n\n"
        f"{known or 'Nothing is known to have gone wrong before.'}"
    )


PROMPTS = (
    Prompt(
        "context_for_task",
        "Begin a task with what is known of it.",
        (("task", "What is to be done.", True),),
        _for_task,
    ),
    Prompt(
        "premortem_before_debugging",
        "Look at past failures before the search for a cause begins.",
        (
            ("failure", "What fails.", False),
            ("domain", "debugging (default), performance, security, deployment, …", False),
            ("strategy", "How it is gone about.", False),
        ),
        _before_debugging,
    ),
)


def said(asker: Session, name: str, given: Arguments) -> tuple[Prompt, str]:
    """Give a prompt and its text."""
    for prompt in PROMPTS:
        if prompt.name == name:
            break
    else:
        there = ", ".join(prompt.name for prompt in PROMPTS)
        raise InputError(f"there is no prompt {name!r}: there are {there}")
    missing = [key for key, _, needed in prompt.arguments if needed and not given.get(key)]
    if missing:
        raise InputError(f"prompt {name} lacks {', '.join(missing)}")
    return prompt, prompt.say(asker, {key: text for key, text in given.items() if text})
