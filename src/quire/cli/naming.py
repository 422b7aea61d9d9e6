"""How are things called on the command line?

The engine speaks of a recipe's settings and of what a program may pass. Who typed an option is told
of that option; who wrote a recipe, of the recipe's key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from quire.errors import InputError, QuireError

# What the engine's errors begin with: the option's name here, its flag, and the recipe's key.
_NAMES: dict[str, tuple[str, str, str]] = {
    "pack": ("pack", "--pack", "fit.pack"),
    "order": ("order", "--order", "fit.order"),
    "overflow": ("overflow", "--overflow", "budget.overflow"),
    "format": ("format_", "--format", "render.format"),
    "fit.dedup": ("dedup", "--dedup", "fit.dedup"),
    "fit.per_document": ("per_document", "--per-document", "fit.per_document"),
    "levels": ("levels", "--levels", "fit.levels"),
    "render.cap": ("cap", "--cap", "render.cap"),
    "render.sources": ("sources", "--sources", "render.sources"),
    "rank.recent": ("recent", "--prefer-recent", "rank.recent"),
    "rank.feedback": ("feedback", "--feedback", "rank.feedback"),
    "cut": ("cut", "--cut", "fit.cut"),
    "types": ("types", "--types", "sections"),
    "limit": ("limit", "--limit", "sections"),
    "shares": ("shares", "--shares", "sections"),
    "system": ("system", "--system", "budget.system"),
    "k": ("k", "--k", "k"),
}
_FLAGS = {
    "budget.total": "--budget",
    **{key: flag for _, flag, key in _NAMES.values()},
}
_PHRASES = {
    "raise the budget to": "raise --budget to",
    "raise the budget, or lower the reserves": "raise --budget, or lower the reserves "
    "(--reserve none for none)",
    "let pieces be cut": "let pieces be cut (--overflow cut)",
    "allow an empty context": "allow an empty context (--allow-empty)",
    "`exact` compares": "--exact compares",
    "a date with `as_of`": "a date with --as-of",
    "same with `allow_secret`": "same with --allow-secret",
    "leave out `share`": "leave out --share",
}
_BEGINNING = re.compile(r"[a-z_.]+(?=:| is )")


@contextmanager
def as_typed(given: Mapping[str, Any]) -> Iterator[None]:
    """Let errors name what was typed; `given` holds None for what was not."""
    try:
        yield
    except QuireError as error:
        told = spoken(str(error))
        met = _BEGINNING.match(told)
        if met is not None and met[0] in _NAMES:
            option, flag, key = _NAMES[met[0]]
            told = (key if given.get(option) is None else flag) + told[met.end() :]
        raise type(error)(told) from error


@contextmanager
def in_file(file: str) -> Iterator[None]:
    """Let errors that name a line name the file as well."""
    try:
        yield
    except InputError as error:
        if not str(error).startswith("line "):
            raise
        place = "standard input" if file == "-" else file
        raise InputError(f"{place}, {error}") from error


def spoken(text: str) -> str:
    """Say what to do in options instead of in arguments."""
    for theirs, ours in _PHRASES.items():
        text = text.replace(theirs, ours)
    return text


def setting(key: str, value: object) -> str:
    """Write how a recipe's setting is given a value: by an option where there is one."""
    return f"{_FLAGS[key]} {value}" if key in _FLAGS else f"{key} = {value}"
