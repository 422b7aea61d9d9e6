"""The three flows give a person what they need, in a real handbook."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import quire
from quire import ContextHints, ContextPayload, ContextRequest, Focus, Quire, TokenBudget
from tests.workspace.test_real_importers import documents

pytestmark = [
    pytest.mark.bench_data,
    pytest.mark.skipif("BENCH_DATA" not in os.environ, reason="BENCH_DATA is not set"),
]


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = tmp_path_factory.mktemp("handbook")
    documents("ws_sourcegraph_handbook", root / "pages")
    (root / "quire.toml").write_text('[embed]\nprovider = "none"\n')
    with quire.open(root) as opened:
        made = opened.blocks.import_pages(
            root / "pages", "markdown", at=1_700_000_000, share=["public"]
        )
        assert made.pages == 880
        yield opened


def page_of(handbook: Quire, title: str) -> str:
    found = handbook.blocks.tree()
    return next(block.id for _, block in found if (block.type, block.text) == ("page", title))


def ids(payload: ContextPayload, section: str) -> list[str]:
    (found,) = [each for each in payload.sections if each.type == section]
    return [item.block_id for item in found.items]


def test_a_page_is_summarised_from_its_own_blocks(handbook: Quire) -> None:
    page = page_of(handbook, "On-call")
    payload = handbook.workspace.build(
        ContextRequest(
            "Summarize this page",
            "alice",
            focus=Focus(page_id=page),
            token_budget=TokenBudget(3000, 2500, 200, 200, 0, 0, 100),
        )
    )
    own = [block.id for _, block in handbook.blocks.tree(page)]
    shown = ids(payload, "focus")
    assert [name for name in shown if name in own] == [name for name in own if name in shown]
    assert len({*shown} & {*own}) > len(shown) * 3 // 4
    assert 2500 <= payload.metadata.total_tokens <= 3000
    assert "#### On-call > Responsibilities\n" in payload.serialized
    assert handbook.workspace.validate(payload, "alice").valid


def test_a_chat_finds_what_it_asks_for(handbook: Quire) -> None:
    payload = handbook.workspace.build(
        ContextRequest(
            "Who is the incident lead and what are they responsible for?",
            "alice",
            "chat",
            token_budget=TokenBudget(4000, 0, 2500, 500, 500, 300, 200),
            hints=ContextHints(prioritize_types=("paragraph",)),
        )
    )
    assert "The incident lead is responsible for resolving the incident" in payload.serialized
    assert {section.type for section in payload.sections} == {"semantic", "relations", "activity"}
    assert handbook.workspace.validate(payload, "alice").valid


def test_a_task_is_broken_down_with_what_stands_around_it(handbook: Quire) -> None:
    page = page_of(handbook, "On-call")
    blocks = {block.id: block for _, block in handbook.blocks.tree(page)}
    task = next(block for block in blocks.values() if block.type == "list")
    assert task.parent is not None
    payload = handbook.workspace.build(
        ContextRequest(
            "Break this task into subtasks",
            "alice",
            focus=Focus(block_id=task.id),
            token_budget=TokenBudget(2000, 1200, 500, 200, 0, 0, 100),
        )
    )
    assert task.id in ids(payload, "focus")
    # The heading above it is its title, not a piece of its own.
    assert f"#### {blocks[page].text} > {blocks[task.parent].text}" in payload.serialized
    assert payload.metadata.total_tokens <= 2000
    assert handbook.workspace.validate(payload, "alice").valid
    again = handbook.replay(payload.receipt, "alice")[1]
    assert again == []
