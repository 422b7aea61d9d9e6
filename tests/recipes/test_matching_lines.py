"""Code that does not fit a page for agents is shown by the lines around the query's words."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire

QUERY = "which port does the server listen on when none is given"
VERBS = ("gather", "order", "merge", "prune", "weigh", "trace")
BUDGET = 790
LAST = "port_given"
LINE = f"    server = {LAST!r}  # listen on the port that is given to the server\n"
NAMES = ("listen_on_port", "given_server_port", "server_listen", "server_port", LAST)


def body(name: str, middle: str) -> str:
    before = "".join(f"    {name}_{verb} = {verb}(settings)\n" for verb in VERBS)
    after = "".join(f"    {verb}_all({name}_{verb})\n" for verb in VERBS)
    return f"def {name}(settings):\n{before}{middle}{after}    return settings\n\n\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".quire").mkdir()
    for name in NAMES:
        middle = f"    server = {name!r}  # listen on the port that is given to the server\n"
        (tmp_path / f"{name}.py").write_text(body(name, middle), "utf-8")
    return tmp_path


def test_a_definition_that_does_not_fit_is_shown_by_the_lines_that_match(project: Path) -> None:
    with quire.open(project) as store:
        store.index(embed=False)
        context = store.assemble(QUERY, recipe="agent", budget=BUDGET)
        levels = {source.path: source.level for source in context.sources}
        assert levels["port_given.py"] == "match"
        assert "def port_given(settings):\n    # … " in context.text
        assert LINE in context.text
        assert context.tokens <= BUDGET
        decision = next(each for each in context.decisions if each.path == "port_given.py")
        assert decision.verdict == "cut"
        assert decision.reason.startswith("shown by the lines around the words of the query: ")
        assert not store.verify(context.receipt, context.text).problems


def test_it_is_shown_whole_where_there_is_room(project: Path) -> None:
    with quire.open(project) as store:
        store.index(embed=False)
        context = store.assemble(QUERY, recipe="agent", budget=4000)
        assert {source.level for source in context.sources} == {"full"}


def test_without_the_level_its_declaration_is_shown(project: Path) -> None:
    with quire.open(project) as store:
        store.index(embed=False)
        context = store.assemble(QUERY, recipe="agent", budget=BUDGET, levels=["full", "signature"])
        assert "match" not in {source.level for source in context.sources}
        assert LINE not in context.text
