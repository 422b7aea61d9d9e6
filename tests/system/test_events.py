"""Events for operators: silent by default, complete when asked for, and never any content."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog

import quire
from quire import RetrievalResult
from quire.core.types import Failure, Hits
from quire.errors import BudgetTooSmallError, StoreError
from quire.retrieval import COLLECTORS, Collected, Task, run_all
from quire.system import events
from tests.conftest import Tree

PLANTED = "quagmire zeppelin marmalade"
SECOND = "obelisk rhubarb"
QUERY = "where does the zeppelin marmalade xylophone go"


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    yield
    events.stop_writing()
    structlog.reset_defaults()


@pytest.fixture
def told() -> list[dict[str, Any]]:
    """Everything that is told to a configured structlog."""
    heard: list[dict[str, Any]] = []

    def hear(_: Any, level: str, event: Any) -> Any:
        heard.append({**event, "level": level})
        raise structlog.DropEvent

    events.stop_writing()  # which another test may have asked for
    structlog.configure(processors=[hear])
    return heard


def fill(tree: Tree) -> None:
    tree.fill(
        {
            f"{SECOND.replace(' ', '-')}.md": f"# {SECOND.title()}\n\n{PLANTED} goes there.\n",
            "docs/other.md": f"More of {PLANTED}.\n",
            "marmalade.png": b"\x89PNG\0",
        }
    )


def run_everything(tree: Tree) -> None:
    """Index, remember, search and assemble, with and without failures."""
    fill(tree)
    with tree.open() as store:
        store.index(embed=False)
        store.memories.add(f"Remember the {PLANTED}.")
        store.search(QUERY, k=3)
        for recipe in ("documents", "entities", "agent", "workspace"):
            store.assemble(QUERY, recipe=recipe, budget=2000, allow_empty=True)
            store.assemble(QUERY, recipe=recipe, budget=2000, allow_empty=True)
        with pytest.raises(BudgetTooSmallError):
            store.assemble(QUERY, budget=2, reserve={})
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(COLLECTORS, "lexical", failing("lexical"))
            store.assemble(QUERY, recipe="agent", budget=2000, allow_empty=True)
            store.assemble(QUERY, budget=1999, allow_empty=True)
    made = quire.ContextAssembler(budget=500, reserve={})
    made.assemble(QUERY, [RetrievalResult(PLANTED, f"{SECOND}.md", 1.0)])
    with pytest.raises(quire.ContextAssemblyError):
        quire.ContextAssembler(refuse).assemble(QUERY)


def failing(name: str) -> Any:
    from dataclasses import replace

    def fail(*_: object) -> Hits:
        raise StoreError(f"no answer to {QUERY}: {PLANTED} in {SECOND}.md")

    return replace(COLLECTORS[name], collect=fail)


def refuse(query: str, k: int) -> list[RetrievalResult]:
    raise ConnectionError(f"{query}: {PLANTED} {k}")


def test_no_event_holds_content(tree: Tree, told: list[dict[str, Any]]) -> None:
    run_everything(tree)
    names = {event["event"] for event in told}
    assert names >= {
        "index_finished",
        "search_finished",
        "assemble_finished",
        "assemble_failed",
        "source_failed",
    }
    lines = json.dumps(told).lower()
    words = {*re.findall(r"\w+", f"{PLANTED} {SECOND} {QUERY}".lower())} - {
        "the",
        "go",
        "does",
        "where",
    }
    assert [word for word in sorted(words) if word in lines] == []
    assert str(tree.root).lower() not in lines
    assert "owner" not in lines
    (failure,) = [event for event in told if event.get("source") == "brought"]
    assert (failure["error"], failure["level"]) == ("ConnectionError", "warning")


def test_an_event_tells_how_much_and_how_long(tree: Tree, told: list[dict[str, Any]]) -> None:
    fill(tree)
    with tree.open() as store:
        store.index(embed=False)
        first = store.assemble(QUERY, budget=2000)
        store.assemble(QUERY, budget=2000)
    index, *assembled = told
    assert (index["event"], index["indexed"], index["skipped"]) == ("index_finished", 2, 1)
    assert [event["cached"] for event in assembled] == [False, True]
    for event in assembled:
        assert event["event"] == "assemble_finished"
        assert (event["recipe"], event["tokens"]) == ("documents", first.tokens)
        assert event["receipt"] == first.receipt["hash"]
        assert isinstance(event["duration_ms"], int)


def test_a_late_and_a_slow_source_are_told(
    told: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait() -> Collected:
        time.sleep(0.2)
        return Collected({}, ())

    def fail() -> Collected:
        raise ValueError(PLANTED)

    answers = run_all([Task("code", wait, timeout=1), Task("values", fail)])
    assert [type(answer.failures[0]) for answer in answers] == [Failure, Failure]
    monkeypatch.setattr(events, "SLOW_MS", -1)
    with events.source("lexical"):
        pass
    kept = [{key: event[key] for key in event if key != "duration_ms"} for event in told]
    assert kept == [
        {"event": "source_timeout", "level": "warning", "source": "code", "timeout_ms": 1},
        {"event": "source_failed", "level": "warning", "source": "values", "error": "ValueError"},
        {"event": "source_slow", "level": "warning", "source": "lexical"},
    ]


def test_the_standard_library_hears_it_too(tree: Tree, caplog: pytest.LogCaptureFixture) -> None:
    fill(tree)
    with caplog.at_level(logging.INFO, logger="quire"):
        tree.index()
    (record,) = [record for record in caplog.records if record.name == "quire"]
    assert record.levelno == logging.INFO
    assert record.getMessage().startswith("index_finished chunks=2 commits=0 duration_ms=")
    assert record.__dict__["indexed"] == 2


def test_a_handler_that_fails_disturbs_nobody(tree: Tree) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    structlog.configure(processors=[fail])
    fill(tree)
    assert tree.index().indexed == 2


PROGRAM = """
import sys
import quire
with quire.open(sys.argv[1]) as store:
    store.index(embed=False)
    store.assemble("walrus", budget=2000, allow_empty=True)
assert "structlog" not in sys.modules, "who does not log loads no logger"
"""


def test_a_library_is_silent_by_default(tree: Tree) -> None:
    fill(tree)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tree.root)], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_the_command_logs_json_if_asked(tree: Tree) -> None:
    fill(tree)

    def events_of(call: Callable[[], Any]) -> list[dict[str, Any]]:
        lines = call().stderr.splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    assert events_of(lambda: tree.call("index", "--no-embed")) == []
    (index,) = events_of(lambda: tree.call("index", "--no-embed", "--log-json"))
    assert (index["event"], index["unchanged"], index["level"]) == ("index_finished", 2, "info")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", index["timestamp"])
    (made,) = events_of(lambda: tree.call("assemble", QUERY, "--log-json"))
    assert made["event"] == "assemble_finished"
    assert events_of(lambda: tree.call("assemble", QUERY)) == [], "the next command is silent again"
    by_variable = tree.run("search", "zeppelin", env={"QUIRE_LOG_JSON": "1"})
    assert [one["event"] for one in events_of(lambda: by_variable)] == ["search_finished"]
    hook = tree.run(
        "hook",
        "prompt",
        "--timeout",
        "60",
        stdin=json.dumps({"prompt": QUERY}),
        env={"QUIRE_LOG_JSON": "1"},
    )
    assert "assemble_finished" in [one["event"] for one in events_of(lambda: hook)]
    json.loads(hook.stdout)


def test_a_library_that_another_thread_imports_just_now_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Until it is whole, a module is in the table of modules without anything in it."""
    seen = iter([type(sys)("structlog")])
    real = sys.modules

    class Modules(dict[str, Any]):
        def get(self, name: str, default: Any = None) -> Any:
            return next(seen, structlog) if name == "structlog" else real.get(name, default)

    monkeypatch.setattr(sys, "modules", Modules(real))
    with caplog.at_level(logging.WARNING, logger="quire"):
        events.emit("source_failed", events.WARNING, source="lexical")
    assert "source_failed" in caplog.text
