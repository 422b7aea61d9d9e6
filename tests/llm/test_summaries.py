"""Texts that do not fit are summarized, and receipts record the summaries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import quire
from quire import Block, Context, Quire, count_tokens
from quire.core.types import Hits
from quire.errors import StoreError
from quire.indexing.audit import parse_receipt
from quire.pipeline.summarize import NO_WRITER
from quire.retrieval import COLLECTORS
from tests.conftest import trust
from tests.llm.test_writer import tasks_in
from tests.serving import VARIABLE, Endpoint, Reply, said, served

NOW = 1_780_000_000
LONG = " ".join(
    ["The walrus ate the migration plan."]
    + [f"Sentence {number} tells of nothing at all." for number in range(80)]
)
OTHER = " ".join(f"Walrus {number} slept through the migration." for number in range(80))


def brief(question: dict[str, Any]) -> Reply:
    entries = [
        {"number": task["number"], "text": f"A walrus, in {task['words']} words or fewer."}
        for task in tasks_in(question)
    ]
    return said("openai", "texts", entries)


def tasks_of(question: dict[str, Any]) -> list[str]:
    """Return the tasks of a request, without their numbers."""
    return [json.dumps({**task, "number": 0}) for task in tasks_in(question)]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served(brief) as server:
        yield server


@pytest.fixture
def workspace(tmp_path: Path, endpoint: Endpoint) -> Iterator[Quire]:
    (tmp_path / "quire.toml").write_text(
        '[embed]\nprovider = "none"\n[writer]\nprovider = "llm"\nmodel = "small"\nretries = 0\n'
        f'url = "{endpoint.url}"\nkey_env = "{VARIABLE}"\n'
    )
    trust(tmp_path)
    with quire.open(tmp_path) as opened:
        opened.blocks.put(
            [
                Block("plan", "page", "Plan", access=("public",)),
                Block("long", "paragraph", LONG, "plan", 0),
                Block("other", "paragraph", OTHER, "plan", 1),
            ],
            at=NOW,
        )
        yield opened


def assembled(workspace: Quire, **more: Any) -> Context:
    options: dict[str, Any] = {
        "recipe": "workspace",
        "focus": "long",
        "budget": 400,
        "shares": {"focus": 300, "semantic": 0, "relations": 0, "activity": 0},
        "cut": "summarize",
    }
    return workspace.assemble("walrus migration", **options | more)


def test_a_summary_stands_for_what_does_not_fit(workspace: Quire, endpoint: Endpoint) -> None:
    context = assembled(workspace)
    assert "(summarized) A walrus, in " in context.text
    assert context.tokens == count_tokens(context.text) <= 400
    assert context.truncated
    assert context.failed == ()
    (decision,) = [d for d in context.decisions if "summarized" in d.reason][:1]
    assert (decision.verdict, decision.step) == ("cut", "fit")
    assert LONG in {text for task in tasks_in(endpoint.questions[0]) for text in task["texts"]}
    receipt = context.receipt
    assert receipt["writer"] == f"llm:{endpoint.url}/chat/completions small/1"
    summaries = receipt["summaries"]
    assert isinstance(summaries, Mapping)
    assert set(summaries.values()) <= {
        f"A walrus, in {task['words']} words or fewer." for task in tasks_in(endpoint.questions[0])
    }
    assert workspace.verify(receipt, context.text).problems == ()


def test_a_replay_asks_nobody(workspace: Quire, endpoint: Endpoint) -> None:
    context = assembled(workspace)
    requests = len(endpoint.questions)
    endpoint.usual = Reply("gone", 410)
    receipt = parse_receipt(json.dumps(context.receipt))
    again, differences = workspace.replay(receipt)
    assert differences == []
    assert again.text == context.text
    assert len(endpoint.questions) == requests
    forged = json.loads(json.dumps(context.receipt))
    name = next(iter(forged["summaries"]))
    forged["summaries"][name] = "All is well."
    assert workspace.verify(forged, context.text).problems


def test_the_same_task_is_not_sent_twice(workspace: Quire, endpoint: Endpoint) -> None:
    first = assembled(workspace)
    assert assembled(workspace) == first
    assert workspace.verify_determinism(
        "walrus migration", recipe="workspace", focus="long", budget=400, cut="summarize"
    )
    lines = [line for question in endpoint.questions for line in tasks_of(question)]
    assert len(lines) == len(set(lines))


def test_a_failed_writer_is_reported_and_sentences_are_chosen(
    workspace: Quire, endpoint: Endpoint
) -> None:
    endpoint.usual = Reply({"error": "no money"}, 402)
    context = assembled(workspace)
    assert [failure.source for failure in context.failed] == ["writer"]
    assert "status 402: " in context.failed[0].reason
    assert "The walrus ate the migration plan." in context.text
    assert "summarized" not in context.text
    again, differences = workspace.replay(parse_receipt(json.dumps(context.receipt)))
    assert differences == []
    assert again.text == context.text
    endpoint.usual = brief
    assert "(summarized)" in assembled(workspace).text, "a failure is not kept"


def test_one_summary_of_two_may_fail(workspace: Quire, endpoint: Endpoint) -> None:
    endpoint.steps = [said("openai", "texts", [{"number": 2, "text": "Told in short."}])]
    workspace.memories.add(LONG, at=NOW)
    workspace.memories.add(OTHER, at=NOW)
    context = workspace.assemble(
        "walrus migration", recipe="agent", types=["memories"], budget=1000, cut="summarize"
    )
    first, second = (task["texts"][0] for task in tasks_in(endpoint.questions[0]))
    assert "(summarized) Told in short." in context.text
    assert first[:30] in context.text
    assert second[:30] not in context.text
    assert [failure.source for failure in context.failed] == ["writer"]


def test_a_summary_that_is_too_long_is_cut(workspace: Quire, endpoint: Endpoint) -> None:
    endpoint.usual = lambda question: said(
        "openai",
        "texts",
        [
            {"number": task["number"], "text": "Much too long it is. " * 130}
            for task in tasks_in(question)
        ],
    )
    context = assembled(workspace)
    assert context.tokens <= 400
    assert "(summarized) Much too long it is." in context.text


def test_without_a_writer_sentences_are_chosen_and_a_note_says_so(tmp_path: Path) -> None:
    (tmp_path / "quire.toml").write_text('[embed]\nprovider = "none"\n')
    with quire.open(tmp_path) as opened:
        opened.blocks.put([Block("long", "page", LONG, access=("public",))], at=NOW)
        context = assembled(opened)
        assert NO_WRITER in context.notes
        assert context.receipt["writer"] == ""
        other = assembled(opened, cut="extractive")
        assert NO_WRITER not in other.notes
        assert other.text == context.text
        assert NO_WRITER not in assembled(opened, budget=8000).notes, "nothing was cut"


def test_items_of_a_page_are_summarized_too(workspace: Quire, endpoint: Endpoint) -> None:
    workspace.memories.add(OTHER, at=NOW)
    context = workspace.assemble(
        "walrus migration", recipe="agent", types=["memories"], budget=1000, cut="summarize"
    )
    assert "(summarized) A walrus, in " in context.text
    assert OTHER[:100] not in context.text
    assert context.tokens <= 1000
    again, differences = workspace.replay(parse_receipt(json.dumps(context.receipt)))
    assert (again.text, differences) == (context.text, [])


def test_why_not_knows_the_summaries(workspace: Quire, endpoint: Endpoint) -> None:
    context = assembled(workspace)
    inside = {source.path for source in context.sources}
    assert ".quire/block/other" in inside, "only because others are told in fewer words"
    requests = len(endpoint.questions)
    for path in sorted(inside):
        (reason,) = workspace.why_not(
            "walrus migration",
            path,
            recipe="workspace",
            focus="long",
            budget=400,
            shares={"focus": 300, "semantic": 0, "relations": 0, "activity": 0},
            cut="summarize",
        )
        assert reason.inside, path
    assert len(endpoint.questions) == requests


def test_failures_are_replayed_in_their_order(
    workspace: Quire, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "walruses.toml"
    recipe.write_text(
        'extends = "workspace"\n[fit]\ncut = "summarize"\n'
        '[sections.zoo]\ntitle = "Zoo"\nsources = ["lexical"]\nk = 5\nweight = 300\n'
    )
    endpoint.usual = Reply({"error": "no money"}, 402)

    def broken(*_: object) -> Hits:
        raise StoreError("the words are gone")

    monkeypatch.setitem(COLLECTORS, "lexical", replace(COLLECTORS["lexical"], collect=broken))
    options = {"recipe": str(recipe), "focus": "long", "budget": 400}
    context = workspace.assemble("walrus migration", **options)  # type: ignore[arg-type]
    assert [failure.source for failure in context.failed] == [
        "semantic.lexical",
        "writer",
        "zoo.lexical",
    ]
    monkeypatch.undo()
    receipt = parse_receipt(json.dumps(context.receipt))
    again, differences = workspace.replay(receipt, keep_failures=True)
    assert differences == []
    assert again.text == context.text


def test_new_settings_hold_for_the_next_context(workspace: Quire, tmp_path: Path) -> None:
    assert "(summarized)" in assembled(workspace).text
    (tmp_path / "quire.toml").write_text('[embed]\nprovider = "none"\n')
    assert "(summarized)" not in assembled(workspace).text
