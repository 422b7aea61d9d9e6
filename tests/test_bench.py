"""Does the benchmark still measure what it says?"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import agent, assemble, cache, hook, peers, profiling, protocol
from bench.report import Table
from quire import tokens

CHUNKS = 300


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Table]:
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(assemble, "peers_python", lambda: None)
    for name in ("WATCHED", "MANY_ASKED", "AGAIN", "IN_A_ROW"):
        monkeypatch.setattr(assemble, name, 2)
    monkeypatch.setattr(assemble, "MANY", 60)
    return list(assemble.tables([CHUNKS], 1, slow=False))


@pytest.mark.model
def test_assembling_is_measured(found: list[Table]) -> None:
    whole, by_step, many, memory = found
    rows = {str(row[0]): row for row in whole.rows}
    assert set(rows) == {
        "its vector at hand",
        "the question embedded",
        "the same question again",
    }
    for table in (by_step, many):
        steps = [row[0] for row in table.rows]
        assert {"gather: words", "gather: meaning", "dedup", "prove", "receipt"} <= set(steps)
        for column in (1, 2, 3, 4):
            *parts, whole_of_it = [row[column] for row in table.rows]
            assert all(isinstance(part, float) and part >= 0 for part in parts)
            assert sum(map(float, map(str, parts))) == pytest.approx(whole_of_it)
    assert {row[0] for row in memory.rows} >= {"one assembly, at its peak (traced)"}
    assert all(0 < float(str(row[1])) < 2000 for row in memory.rows[:3])


@pytest.mark.model
def test_each_kind_of_answer_is_profiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(profiling, "ASKED", 2)
    whole, steps = profiling.tables([CHUNKS])
    answers = {"assemble", "search", "agent page", "workspace page", "hook"}
    assert {row[0] for row in whole.rows} == answers == set(steps.columns[1:])
    assert all(float(str(row[1])) > 0 for row in whole.rows)
    assert {"gather", "dedup", "receipt"} <= {row[0] for row in steps.rows}


def test_the_steps_are_put_back() -> None:
    from quire.pipeline import steps as pipeline_steps

    before = pipeline_steps.STEPS
    with pytest.raises(ZeroDivisionError), assemble.steps():
        raise ZeroDivisionError
    assert pipeline_steps.STEPS is before


def test_peers_join_what_fits() -> None:
    found = [("a.md", "one two three\n"), ("b.md", "four five six\n"), ("c.md", "seven\n")]
    cost = [tokens.open_counter().count(f"# {path}\n{text}\n") for path, text in found]
    text, used = peers.joined(found, sum(cost))
    assert (text.count("# "), used) == (3, sum(cost))
    text, used = peers.joined(found, cost[0] + cost[1] - 1)
    assert (text, used) == ("# a.md\none two three\n\n", cost[0])
    assert peers.joined(found, 0) == ("", 0)


def test_hooks_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "TIMES", 1)
    (table,) = hook.tables()
    rows = {str(row[0]): [float(str(cell)) for cell in row[1:]] for row in table.rows}
    assert rows[hook.BARE][-2:] == [1.0, 1.0]
    told = ("session-start", "prompt, by words", "post-tool, the first failure")
    for name in told:
        assert rows[name][-1] > 0


@pytest.mark.model
def test_pages_for_agents_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    for name in ("ASKED", "WATCHED", "IN_A_ROW"):
        monkeypatch.setattr(agent, name, 4)
    sizes = {"memories": 60, "code units": 60, "experiences": 132, "commits": 60}
    times, by_step, memory = agent.tables(sizes)
    assert [str(row[0]).partition(",")[0] for row in times.rows] == [
        "assemble_context",
        "premortem",
    ] * 2
    assert {"gather", "dedup", "receipt"} <= {row[0] for row in by_step.rows}
    assert all(float(str(row[1])) >= 0 for row in memory.rows[:3])
    assert all("made-up" in table.notes[0] for table in (times, by_step, memory))


def test_the_protocol_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import quire

    (tmp_path / ".quire").mkdir()
    source = protocol.REPOSITORY / "src" / "quire" / "core" / "lru.py"
    (tmp_path / "lru.py").write_bytes(source.read_bytes())
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
    monkeypatch.setattr(protocol, "_project", lambda: (tmp_path, "one file"))
    monkeypatch.setattr(protocol, "STARTS", 1)
    monkeypatch.setattr(protocol, "WARM", 1)
    handshake, proxy = protocol.tables([], 2)
    assert [row[0] for row in handshake.rows][-1] == "none"
    assert all(float(str(row[1])) > 0 for row in handshake.rows)
    assert [row[0] for row in proxy.rows][-1] == protocol.AGAIN
    assert all(0 < float(str(row[1])) <= float(str(row[2])) for row in proxy.rows)


def test_the_page_on_capacity_is_made_of_its_figures() -> None:
    import json

    from bench import capacity, capacity_page

    figures = json.loads(capacity.FIGURES.read_text("utf-8"))
    page = capacity_page.PAGE.read_text("utf-8")
    assert capacity_page.page(figures) == page, "python -m bench.capacity"
