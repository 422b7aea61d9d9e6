"""The tasks collector: which tasks of a workspace a question brings in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quire
from quire import Block, ContextRequest, Focus, Quire

AS_OF = "2026-11-16"
READERS = ("public",)


def blocks() -> list[Block]:
    """Two projects with tasks, a page that speaks of tasks, and a database with rows."""
    return [
        Block(
            "search", "page", "Search Ranking", access=READERS, properties={"owner": "Ana Gomez"}
        ),
        Block("s1", "todo", "Write the migration plan", "search", 0, {"due": "2026-10-01"}),
        Block("s2", "todo", "Choose features", "search", 1, {"due": "2026-09-12", "done": True}),
        Block(
            "s3",
            "todo",
            "Review the load test",
            "search",
            2,
            {"due": "2026-11-30", "assignee": "bo"},
        ),
        Block("s4", "todo", "Tell support", "search", 3),
        Block(
            "session", "page", "Session Service", access=READERS, properties={"due": "2026-12-15"}
        ),
        Block("t1", "todo", "Split the login handler", "session", 0, {"due": "2026-11-01"}),
        Block("guide", "page", "Pairing guide", access=READERS),
        Block(
            "g1", "paragraph", "No need to finish the last task; tasks are never overdue.", "guide"
        ),
        Block("board", "db", "Board", access=READERS),
        Block(
            "r1",
            "db_row",
            "Renew the contract",
            "board",
            0,
            {"due": "2026-11-02", "status": "open"},
        ),
        Block("r2", "db_row", "Old offer", "board", 1, {"due": "2026-11-02", "status": "Closed"}),
        Block("r3", "db_row", "A fact", "board", 2, {"color": "red"}),
        Block("secret", "page", "Secret", access=("user:eve",)),
        Block("x1", "todo", "Hidden duty", "secret", 0, {"due": "2026-01-01"}),
    ]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root: Path = tmp_path_factory.mktemp("tasks")
    (root / "quire.toml").write_text('[embed]\nprovider = "none"\n')
    with quire.open(root) as opened:
        opened.blocks.put(blocks())
        yield opened


def answer(workspace: Quire, query: str, focus: str | None = None, user: str = "bo") -> list[str]:
    payload = workspace.workspace.build(
        ContextRequest(query, user, focus=Focus(focus), as_of=AS_OF)
    )
    assert payload.failed == ()
    return [
        item.block_id
        for section in payload.sections
        if section.type == "semantic"
        for item in section.items
    ]


def test_overdue_tasks_and_nothing_else(workspace: Quire) -> None:
    assert set(answer(workspace, "Which tasks are overdue?")) == {"s1", "t1", "r1"}


def test_tasks_of_a_page_an_owner_and_a_period(workspace: Quire) -> None:
    assert set(answer(workspace, "overdue tasks of the Session Service")) == {"t1"}
    assert set(answer(workspace, "my open tasks")) == {"s3"}
    assert set(answer(workspace, "Bo's tasks", user="eve")) == {"s3"}
    assert set(answer(workspace, "deadlines next month")) == {"session"}
    assert set(answer(workspace, "completed tasks")) == {"s2", "r2"}


def test_tasks_of_what_the_user_is_viewing(workspace: Quire) -> None:
    payload = workspace.workspace.build(
        ContextRequest("open tasks on this page", "bo", focus=Focus(page_id="search"), as_of=AS_OF)
    )
    shown = {item.block_id for section in payload.sections for item in section.items}
    assert {"s1", "s3", "s4"} <= shown
    assert "t1" not in shown


def test_nobody_learns_of_tasks_they_may_not_read(workspace: Quire) -> None:
    assert "x1" in answer(workspace, "Which tasks are overdue?", user="eve")
    assert "x1" not in answer(workspace, "Which tasks are overdue?")


def test_a_question_about_tasks_that_names_a_topic_is_searched(workspace: Quire) -> None:
    found = answer(workspace, "what does the pairing guide say about the last task?")
    assert "g1" in found


def test_without_a_date_the_request_is_as_of_today(workspace: Quire) -> None:
    payload = workspace.workspace.build(ContextRequest("Which tasks are overdue?", "bo"))
    recorded = payload.receipt["request"]["as_of"]  # type: ignore[index]  # a receipt is plain data
    assert recorded % 86_400 == 86_399, "the end of a day"
    again, differences = workspace.replay(payload.receipt, viewer="bo")
    assert differences == []
    assert again.text == payload.serialized


def test_what_others_keep_for_themselves_is_not_counted(workspace: Quire) -> None:
    """For an assistant, not even the owner learns how many tasks somebody keeps private."""
    question = "Which tasks are overdue?"
    options: Any = {"recipe": "workspace", "as_of": AS_OF, "budget": 4000}
    diary = [
        Block("diary", "page", "Diary"),
        Block("d1", "todo", "Private duty", "diary", 0, {"due": "2026-01-01"}),
    ]
    workspace.blocks.put(diary, viewer="eve", at=1_780_000_000)
    everything = workspace.assemble(question, **options)
    assert "Private duty" in everything.text
    shared = workspace.assemble(question, shared_only=True, **options)
    assert "Write the migration plan" in shared.text
    assert "Private" not in shared.text
    assert "tasks are shown" not in shared.text
