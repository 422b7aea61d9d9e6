"""The most common uses from Python are one line each, and mistakes are refused by name."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.errors import InputError
from tests.conftest import Tree

FILES = {
    "docs/login.md": "# Login\n\nThe login asks for a token, and the token expires.\n",
    "docs/deploy.md": "# Deploy\n\nA deploy takes the token of the release manager.\n",
    "src/login.py": "def login(token: str) -> bool:\n    return bool(token)\n",
}


@pytest.fixture
def project(tree: Tree) -> Tree:
    tree.fill(FILES)
    tree.index(embed=False)
    return tree


@pytest.mark.parametrize("k", ["3", 2.5, None, True])
def test_a_number_of_hits_that_is_none_is_refused(project: Tree, k: Any) -> None:
    with project.open() as q, pytest.raises(InputError, match="expected a whole number") as raised:
        q.search("token", k=k)
    assert raised.value.field == "k"


def test_a_search_result_is_a_sequence_of_hits(project: Tree) -> None:
    with project.open() as q:
        result = q.search("token", k=5)
        assert len(result) == len(list(result)) == len(result.results) > 1
        assert result[0] is result.results[0]
        assert result[:2] == result.results[:2]
        for hit in result:
            assert (hit.path, hit.lines) == (hit.chunk.path, hit.chunk.lines)
            assert (hit.title, hit.text) == (hit.chunk.title, hit.chunk.text)
        assert not q.search("nothingofthekind")


def test_filters_are_plain_arguments(project: Tree) -> None:
    with project.open() as q:
        assert {hit.path for hit in q.search("token", paths=["docs/**"])} == {
            "docs/login.md",
            "docs/deploy.md",
        }
        assert {hit.path for hit in q.search("token", kinds=["code"])} == {"src/login.py"}
        where = quire.Filter(kinds=("code",))
        assert q.search("token", where=where) == q.search("token", kinds=["code"])
        with pytest.raises(InputError, match=r"paths: .*where"):
            q.search("token", paths=["docs/**"], where=where)
        with pytest.raises(InputError, match="paths: expected a list"):
            q.search("token", paths="docs/**")
        with pytest.raises(InputError, match="since: expected a date"):
            q.search("token", since="yesterday")


def test_the_twin_of_search_gives_the_same(project: Tree) -> None:
    with project.open() as q:
        assert asyncio.run(q.search_async("token", k=2)) == q.search("token", k=2)


def test_a_context_is_iterable_over_its_sources_and_a_page_over_its_items(project: Tree) -> None:
    with project.open() as q:
        q.memories.add("The token is kept in the vault.")
        context = q.assemble("token", recipe="agent")
        assert list(context) == list(context.sources) != []
        assert len(context) == len(context.sources)
        page = q.agent.assemble_context("token")
        assert list(page) == list(page.items) != []
        assert {item.source for item in page} <= {"memory", "code", "document"}


def test_explain_says_what_became_of_each_candidate_even_if_nothing_fits(project: Tree) -> None:
    with project.open() as q:
        explained = q.explain("token", budget=11, reserve={})
        assert explained.sources == ()
        assert {decision.path for decision in explained.decisions} == {*FILES}


def test_what_is_written_without_a_time_is_written_now(project: Tree) -> None:
    with project.open() as q:
        before = int(time.time())
        memory = q.memories.add("Deploys happen on Tuesdays.").value
        experience = q.experiences.start("a faster login", domain="debugging").value
        (page,) = q.blocks.put([quire.Block("", "page", "Plan")]).value
        after = int(time.time())
        for written in (memory.created, experience.started, page.created):
            assert written is not None
            assert before <= written <= after
        assert q.memories.add("Before that.", at=7).value.created == 7


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budgte": 4000}, "'budgte'; did you mean 'budget'?"),
        ({"recipee": "agent"}, "'recipee'; did you mean 'recipe'?"),
        ({"budget": "4000"}, "budget: expected a whole number, not '4000'"),
    ],
)
def test_a_wrong_option_is_refused_by_name(
    project: Tree, wrong: dict[str, Any], message: str
) -> None:
    with project.open() as q:
        for ask in (q.assemble, q.explain, q.verify_determinism):
            with pytest.raises(InputError) as refused:
                ask("token", **wrong)
            assert message in str(refused.value)


def test_a_wrong_filter_is_refused_by_name(project: Tree) -> None:
    wrong: dict[str, Any] = {"path": ["docs/**"]}
    with project.open() as q, pytest.raises(InputError, match="'path'; did you mean 'paths'"):
        q.search("token", **wrong)


def test_a_wrong_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere does not exist; check the name"):
        quire.open(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is a folder, not a store; name a file with store"):
        quire.open(tmp_path, store=tmp_path)


def test_the_services_are_made_once(project: Tree) -> None:
    with project.open() as q:
        for name in ("documents", "memories", "blocks", "access", "rules", "agent", "workspace"):
            assert getattr(q, name) is getattr(q, name)
