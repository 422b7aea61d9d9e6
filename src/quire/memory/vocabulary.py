"""Which categories, domains and strategies are there?

A shipped list each, which `[learn]` in quire.toml extends. Names stand in paths, where filters find
them by globs: so they are of small letters, digits and hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from quire.core.types import LearnSettings
from quire.errors import ConfigError, InputError

CATEGORIES = ("fact", "preference", "decision", "error")
UNSTATED = "unstated"
"""The strategy of an experience that does not tell of one, such as most post-mortems."""
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


def known(setting: str, shipped: Sequence[str], added: Sequence[str]) -> tuple[str, ...]:
    """Give the shipped names and those that a setting adds to them."""
    for name in added:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"[learn] {setting}: {name!r} is no name: "
                "use up to 40 small letters, digits and hyphens"
            )
    return tuple(dict.fromkeys((*shipped, *added)))


def check(what: str, given: str, names: Sequence[str], setting: str) -> None:
    """Refuse a name that is not among those known, and say which are."""
    if given not in names:
        raise InputError(
            f"there is no {what} {given!r}: use {', '.join(names)}; "
            f"`[learn] {setting}` in quire.toml adds more"
        )


def check_attempt(domain: str | None, strategy: str | None, added: LearnSettings) -> None:
    """Refuse a domain or a strategy of an experience that there is none of."""
    if domain is not None:
        check("domain", domain, known("domains", DOMAINS, added.domains), "domains")
    if strategy is not None:
        there = known("strategies", STRATEGIES, added.strategies)
        check("strategy", strategy, there, "strategies")
