"""Commits are shown where the question asks for history, or where they are the best there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from quire import Quire
from quire.core.types import Section
from quire.pipeline.intents import holds_phrase
from quire.pipeline.recipe import load
from tests.conftest import Tree
from tests.recipes.world import commit

POOL = '''\
def get_connection(pool):
    """Take a connection out of the pool; wait while the pool blocks."""
    return pool.get(block=True)
'''
SECTION = "commits"
NOW = 1_780_000_000


@pytest.fixture
def project(tree: Tree) -> Iterator[Quire]:
    """A project with a commit that has little to do with its code."""
    document = "# Pool\n\nA pool blocks while all of its connections are in use.\n"
    bump = "Bump actions/cache: connections of the runner are pooled"
    commit(tree, {"pool.py": POOL, "docs/pool.md": document}, bump, NOW)
    more = POOL + "\n\ndef close(pool):\n    pool.clear()\n"
    commit(tree, {"pool.py": more}, "Add close, which releases what is kept", NOW + 60)
    with tree.open() as quire:
        quire.index(embed=False)
        yield quire


def shown(quire: Quire, query: str, **options: Any) -> set[str]:
    page = quire.assemble(query, recipe="agent", allow_empty=True, **options)
    assert quire.verify(page.receipt, page.text).problems == ()
    return {item.section for item in page.items}


def test_a_question_about_code_gets_no_commits(project: Quire) -> None:
    query = "What happens when all connections of the pool are in use and it blocks?"
    assert shown(project, query) == {"code", "documents"}
    page = project.assemble(query, recipe="agent")
    (commit, *_) = [one for one in page.decisions if one.path.startswith(".git/")]
    assert (commit.step, commit.verdict) == ("relevance", "dropped")
    assert "does not ask for commits" in commit.reason
    (told, *_) = project.why_not(query, commit.path, recipe="agent")
    assert [(each.step, each.setting, each.value) for each in told.relaxed] == [
        ("relevance", "rank.floor", 0)
    ]


@pytest.mark.parametrize(
    "query",
    [
        "Why was the pool of connections changed?",
        "Who added the pool of connections? Look at the history.",
        "Since when are connections of the runner pooled",
    ],
)
def test_a_question_about_history_gets_them(project: Quire, query: str) -> None:
    assert SECTION in shown(project, query)


def test_who_names_the_section_asks_for_it(project: Quire) -> None:
    query = "connections of the pool in use"
    assert SECTION not in shown(project, query)
    assert SECTION in shown(project, query, types=["code", "commits"])
    assert SECTION in shown(project, query, floor=0)


def test_a_commit_that_is_as_relevant_as_the_best_file_is_shown(project: Quire) -> None:
    assert SECTION in shown(project, "bump actions/cache of the runner")


def test_every_phrase_is_found_in_a_question() -> None:
    (commits,) = [section for section in load("agent").sections if section.name == SECTION]
    for phrase in commits.asked:
        assert holds_phrase(f"Tell me, {phrase.upper()} it?", commits.asked)
    assert not holds_phrase("When is CONNECT used to go on, and why is it slow?", commits.asked)
    for state in (
        "How does the pool decide whether a connection was dropped?",
        "What runs after a file was removed, if a handler has been added?",
    ):
        assert not holds_phrase(state, commits.asked), "what happens in the program is no history"
    assert Section("other").asked == ()
