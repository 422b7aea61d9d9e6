"""The names of categories, domains and strategies.

Each has a shipped list, which `[learn]` in quire.toml extends. Names are parts of paths, where
filters find them by globs: so they consist of lower-case letters, digits and hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from quire.core.types import LearnSettings
from quire.errors import ConfigError, InputError

CATEGORIES = ("fact", "preference", "decision", "error")
UNSTATED = "unstated"
"""The strategy of an experience that states none, such as most post-mortems."""
OPERATIONS = "operations"
DOMAINS = (
    "debugging",
    "feature",
    "refactoring",
    "testing",
    "performance",
    "security",
    "configuration",
    "deployment",
    "data",
    "integration",
    "documentation",
    OPERATIONS,
)
STRATEGIES = (
    "systematic-elimination",
    "divide-and-conquer",
    "root-cause-analysis",
    "check-assumptions",
    "read-the-error",
    "research-first",
    "copy-from-similar",
    "small-steps",
    "trial-and-error",
    "ask-someone",
    UNSTATED,
)

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def extend_names(setting: str, shipped: Sequence[str], added: Sequence[str]) -> tuple[str, ...]:
    """Return the shipped names and those that a setting adds to them."""
    for name in added:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{name!r} is not a name",
                value=name,
                hint="use up to 40 lower-case letters, digits and hyphens",
                place=f"[learn] {setting}",
            )
    return tuple(dict.fromkeys((*shipped, *added)))


def check_name(what: str, name: str, names: Sequence[str], setting: str) -> None:
    """Raise `InputError` for an unknown name."""
    if name not in names:
        raise InputError(
            f"unknown {what} {name!r}",
            field=what,
            value=name,
            allowed=names,
            hint=f"`[learn] {setting}` in quire.toml adds more",
        )


def check_attempt(domain: str | None, strategy: str | None, added: LearnSettings) -> None:
    """Raise `InputError` for an unknown domain or strategy of an experience."""
    if domain is not None:
        check_name("domain", domain, extend_names("domains", DOMAINS, added.domains), "domains")
    if strategy is not None:
        names = extend_names("strategies", STRATEGIES, added.strategies)
        check_name("strategy", strategy, names, "strategies")
