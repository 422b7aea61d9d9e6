"""A shop with code, a history, memories and attempts, which the agent of these tests knows."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import Any

from quire import Quire
from tests.conftest import Tree

NOW = 1_700_000_000
DAY = 86_400

CODE = {
    "src/cache.py": '''"""How long are answers kept?"""


def evict_expired_sessions(limit: int) -> int:
    """Drop sessions from the cache that nobody has used for an hour."""
    return limit


def warm_session_cache(names: list[str]) -> None:
    """Fill the cache with sessions before the first request."""
    print(names)


class SessionCache:
    """Keeps sessions in memory, and asks the database for the rest."""

    def lookup(self, key: str) -> str:
        """Find a session by its key in the cache."""
        return key
''',
    "src/payments.py": '''"""Who pays what?"""


def charge_card(card: str, cents: int) -> bool:
    """Charge a card once, however often the request is repeated."""
    return bool(card) and cents > 0


def refund_payment(payment: str) -> None:
    """Give the money back."""
    print(payment)
''',
    "src/login.py": '''"""Who is it?"""


def check_password(name: str, password: str) -> bool:
    """Compare a password in constant time."""
    return name == password


def slow_login_query(name: str) -> list[str]:
    """Read the session table for a login; slow without an index."""
    return [name]
''',
}

HISTORY: Sequence[tuple[dict[str, str], str]] = (
    (CODE, "Begin the shop\n\nCache, payments and login."),
    ({"docs/cache.md": "# Cache\n\nSessions live for an hour.\n"}, "Describe the session cache"),
    (
        {"src/login.py": CODE["src/login.py"] + "\n\nRETRIES = 3\n", "docs/login.md": "Slow.\n"},
        "Login: retry the slow session query\n\nThe session table has no index, so a login waits.",
    ),
    (
        {"src/payments.py": CODE["src/payments.py"] + "\n\nLIMIT = 10\n"},
        "Payments: charge a card at most ten times",
    ),
)

MEMORIES: Sequence[tuple[str, str, float]] = (
    ("The staging host of the session cache is named heron.", "decision", 0.9),
    ("Sessions expire after one hour without a request.", "fact", 0.5),
    ("Logins are slow on Mondays, when the session table is rebuilt.", "fact", 0.7),
    ("The team prefers small commits with a reason in their message.", "preference", 0.3),
    ("Card payments are refunded by the finance team alone.", "decision", 0.6),
    ("psycopg raised 'too many connections' when the pool was not closed.", "error", 0.8),
)

ATTEMPTS: Sequence[dict[str, Any]] = (
    {
        "goal": "Find out why login is slow",
        "domain": "performance",
        "strategy": "check-assumptions",
        "hypothesis": "The session table has no index",
        "action": "Read the plan of the login query",
        "prediction": "The plan scans the whole table",
        "outcome": "falsified",
        "result": "The plan uses the index; the time is spent waiting for a connection",
        "surprise": "The pool of connections was never closed",
        "root_cause": "Connections leaked in the retry loop of the login",
        "lesson": "Measure where the time goes before guessing at the database",
    },
    {
        "goal": "Make the session cache smaller",
        "domain": "performance",
        "strategy": "small-steps",
        "hypothesis": "Most sessions are never read again",
        "action": "Evict expired sessions every minute",
        "prediction": "Memory falls by half",
        "outcome": "confirmed",
        "result": "Memory fell by sixty percent",
        "lesson": "Evict by last use, in small steps",
    },
    {
        "goal": "Stop double charges of cards",
        "domain": "debugging",
        "strategy": "root-cause-analysis",
        "hypothesis": "The client sends the request twice",
        "action": "Log the key of each request",
        "prediction": "Two requests have the same key",
        "outcome": "falsified",
        "result": "Each request came once; the worker ran it twice",
        "surprise": "The queue delivers a message again after thirty seconds",
        "root_cause": "The worker confirmed the message only after the charge",
        "lesson": "Make every charge safe to repeat",
    },
    {
        "goal": "Speed up the login page in the browser",
        "domain": "performance",
        "strategy": "trial-and-error",
        "hypothesis": "The images are too large",
        "action": "Compress the images",
        "outcome": "abandoned",
    },
    {
        "goal": "Find the leak of memory in the cache",
        "domain": "debugging",
        "strategy": "systematic-elimination",
        "hypothesis": "Sessions are kept forever",
        "action": "Count the sessions every minute",
        "prediction": "The count grows",
        "outcome": "falsified",
        "result": "The count stays the same while memory grows",
        "root_cause": "Log records held on to requests",
    },
    {
        "goal": "Reduce waiting for connections at login",
        "domain": "performance",
        "strategy": "check-assumptions",
        "hypothesis": "A larger pool of connections helps",
        "action": "Double the pool",
        "prediction": "Logins no longer wait",
        "outcome": "falsified",
        "result": "Logins wait just as long, for the database is busy",
        "surprise": "A nightly report held a lock on the session table",
        "root_cause": "The report locked the session table while it was read",
        "lesson": "Look for locks before adding connections",
    },
)

FLAKY = [
    {
        "goal": f"Mend the flaky test of the {what}",
        "domain": "testing",
        "strategy": "read-the-error",
        "hypothesis": f"The {what} reads the clock of the machine",
        "action": "Give the test a clock of its own",
        "prediction": "The test passes a hundred times",
        "outcome": "confirmed",
        "result": f"The test of the {what} passed a hundred times",
        "lesson": f"Give tests a clock of their own, as in the {what}",
    }
    for what in ("nightly report", "monthly invoice", "weekly digest", "daily backup")
]
"""So much alike that they become a value."""

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada Writer",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Carl Keeper",
    "GIT_COMMITTER_EMAIL": "carl@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def commit(tree: Tree, files: dict[str, str], message: str, at: int) -> None:
    """Write files and commit them."""
    tree.fill(files)
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{at} +0000")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env = {**kept, **IDENTITY, **dates}
    if not (tree.root / ".git").exists():
        _git(tree, env, "init", "--quiet", "--initial-branch=main")
        (tree.root / ".git" / "info" / "exclude").write_text(".quire\nquire.toml\n")
    _git(tree, env, "add", "--all")
    _git(tree, env, "commit", "--quiet", "--message", message)


def _git(tree: Tree, env: dict[str, str], *words: str) -> None:
    subprocess.run(["git", *words], cwd=tree.root, env=env, check=True, capture_output=True)


def work(tree: Tree) -> None:
    """Let the shop have its history."""
    for number, (files, message) in enumerate(HISTORY):
        commit(tree, files, message, NOW - (40 - 10 * number) * DAY)


def attempt(quire: Quire, told: dict[str, Any], at: int, **more: Any) -> str:
    """Try something, and tell how it ended."""
    ended = ("outcome", "result", "surprise", "root_cause", "lesson")
    tried = {name: text for name, text in told.items() if name not in ended}
    one = quire.experiences.start(tried.pop("goal"), at=at, **tried, **more).value
    known = {name: told[name] for name in ended[1:] if name in told}
    quire.experiences.resolve(one.id, told["outcome"], at=at, viewer=more.get("viewer"), **known)
    return one.id


def live(quire: Quire) -> None:
    """Let the agent remember and try all of it."""
    for number, (text, category, importance) in enumerate(MEMORIES):
        quire.memories.add(
            text, at=NOW - (20 - number) * DAY, category=category, importance=importance
        )
    for number, told in enumerate([*ATTEMPTS, *FLAKY]):
        attempt(quire, told, NOW - (20 - number) * DAY)
