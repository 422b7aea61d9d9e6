"""Does someone in a workspace get what they look at, what has to do with it, and nothing else?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import quire
from quire import (
    Block,
    Context,
    ContextHints,
    ContextPayload,
    ContextRequest,
    Focus,
    Preferences,
    Quire,
    TokenBudget,
)
from quire.core.types import Failure
from quire.errors import BudgetError, InputError

NOW = int(datetime(2026, 5, 20, tzinfo=UTC).timestamp())
DAY = 24 * 60 * 60
ALL = ("public",)


def blocks() -> list[Block]:
    """A small workspace: a plan with tasks, a guide that a task links to, a private note."""
    return [
        Block("plan", "page", "Launch plan", access=ALL, edited=NOW - 40 * DAY),
        Block("goal", "heading", "Billing moves to the new service", "plan", 0),
        Block(
            "guide-task",
            "todo",
            "Write the rollback guide",
            "plan",
            1,
            {"due": "2026-05-01"},
            links=("guide",),
            edited=NOW - 2 * DAY,
        ),
        Block("done-task", "todo", "Buy cake", "plan", 2, {"due": "2026-05-02", "done": True}),
        Block(
            "split-task",
            "todo",
            "Break the migration task into subtasks",
            "plan",
            3,
            edited=NOW - DAY,
        ),
        Block("detail", "paragraph", "Copy the invoices first.", "split-task", 0),
        Block("later", "paragraph", "Tell support about the date.", "plan", 4),
        Block("guide", "page", "Rollback guide", access=ALL, position=1),
        Block("steps", "paragraph", "Restore the snapshot, then replay the log.", "guide", 0),
        Block("notes", "page", "Private notes", access=("bob",), position=2),
        Block("secret", "paragraph", "The migration task is doomed.", "notes", 0, links=("plan",)),
        Block("cards", "db", "Board", access=ALL, position=3),
        Block("card-1", "db_row", "Migration", "cards", 0, relations={"blocks": ("card-2",)}),
        Block("card-2", "db_row", "Launch", "cards", 1),
    ]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Quire]:
    (tmp_path / "quire.toml").write_text('[embed]\nprovider = "none"\n')
    with quire.open(tmp_path) as opened:
        opened.blocks.put(
            [replace(one, edited=one.edited or NOW - 10 * DAY) for one in blocks()],
            at=NOW - 10 * DAY,
        )
        yield opened


def asked(query: str, user: str = "alice", **more: object) -> ContextRequest:
    return ContextRequest(query, user, as_of=NOW, **more)  # type: ignore[arg-type]


def ids(payload: ContextPayload, section: str) -> list[str]:
    (found,) = [each for each in payload.sections if each.type == section]
    return [item.block_id for item in found.items]


def test_page_summarization(workspace: Quire) -> None:
    """The first flow: most of the budget goes to the page, in the order in which one reads it."""
    payload = workspace.workspace.build(
        asked(
            "Summarize this page",
            focus=Focus(page_id="plan"),
            token_budget=TokenBudget(3000, 2500, 200, 200, 0, 0, 100),
        )
    )
    assert ids(payload, "focus") == [
        "plan",
        "goal",
        "guide-task",
        "done-task",
        "split-task",
        "detail",
        "later",
    ]
    assert ids(payload, "relations") == ["guide", "steps"], "the page, and how it begins"
    assert "#### Rollback guide\nRestore the snapshot, then replay the log.\n" in payload.serialized
    assert "activity" not in [section.type for section in payload.sections]
    assert payload.metadata.focus_page_id == "plan"
    assert workspace.workspace.validate(payload, "alice").valid


def test_workspace_chat_query(workspace: Quire) -> None:
    """The second flow: no focus, and what is late comes before what is done."""
    payload = workspace.workspace.build(
        asked(
            "What tasks are overdue? The guide, the cake, the migration task?",
            type="chat",
            token_budget=TokenBudget(4000, 0, 2500, 500, 500, 300, 200),
            hints=ContextHints(prioritize_types=("todo", "kanban_card")),
        )
    )
    found = ids(payload, "semantic")
    assert found.index("guide-task") < found.index("done-task")
    assert "#### Launch plan\n" in payload.serialized
    assert "Due: 2026-05-01 (overdue)\n" in payload.serialized
    assert payload.serialized.count("(overdue)") == 1
    assert "focus" not in [section.type for section in payload.sections]


def test_task_breakdown_suggestion(workspace: Quire) -> None:
    """The third flow: the task, what stands around it, and tasks like it."""
    payload = workspace.workspace.build(
        asked(
            "Break this task into subtasks",
            focus=Focus(block_id="split-task"),
            token_budget=TokenBudget(2000, 1200, 500, 200, 0, 0, 100),
        )
    )
    assert ids(payload, "focus") == [
        "plan",
        "guide-task",
        "done-task",
        "split-task",
        "detail",
        "later",
    ]
    item = next(
        item for section in payload.sections for item in section.items if item.block_id == "detail"
    )
    assert item.block_type == "paragraph"
    assert item.metadata["path"] == ["Launch plan"]
    assert item.metadata["page_title"] == "Launch plan"
    assert 0 <= item.relevance <= 1


def test_the_template_is_that_of_the_specification(workspace: Quire) -> None:
    text = workspace.workspace.build(
        asked("Where is {focus_section}?", focus=Focus(block_id="steps"))
    ).serialized
    assert text.startswith("## Current Context\n\n### Focused Content\n")
    assert "\n\n### Related Content\n_No relevant content found._\n" in text
    assert "\n\n### Connected Items\n" in text
    assert "\n\n### Recent Activity\n" in text
    assert text.endswith("\n\n---\n\nUser Query: Where is {focus_section}?")
    assert "#### Rollback guide\nRestore the snapshot, then replay the log. (focus)\n" in text


def test_what_may_not_be_read_is_not_there(workspace: Quire) -> None:
    for user, seen in (("alice", False), ("bob", True)):
        payload = workspace.workspace.build(
            asked("The doomed migration task", user, focus=Focus("plan"))
        )
        told = json.dumps([payload.serialized, str(payload)])
        assert ("doomed" in told.replace("The doomed migration task", "")) is seen
        assert ("Private notes" in told) is seen


def test_a_revocation_holds_for_the_next_call(workspace: Quire) -> None:
    request = asked("restore the snapshot", focus=Focus(page_id="plan"))
    assert "Restore the snapshot" in workspace.workspace.build(request).serialized
    before = workspace.workspace.build(request)
    workspace.blocks.share("guide", ["bob"], at=NOW)
    after = workspace.workspace.build(request)
    assert "Restore the snapshot" not in str(after)
    problems = workspace.workspace.validate(before, "alice").problems
    assert any("guide may not be read by alice" in problem for problem in problems)


def test_activity_is_ones_own(workspace: Quire) -> None:
    workspace.blocks.view("steps", at=NOW - 60, viewer="alice")
    workspace.blocks.view("card-1", at=NOW - 80 * 60 * 60, viewer="alice")
    assert ids(workspace.workspace.build(asked("unrelated words")), "activity") == ["steps"]
    assert ids(workspace.workspace.build(asked("unrelated words", "bob")), "activity") == []


def test_the_owner_has_an_activity_of_their_own(workspace: Quire) -> None:
    workspace.blocks.edit("steps", at=NOW - 60, text="Restore it.")
    context = workspace.assemble("unrelated words", recipe="workspace", as_of=NOW)
    assert [item.record_id for item in context.items if item.section == "activity"] == ["steps"]


def test_relations_are_followed_two_steps(workspace: Quire) -> None:
    workspace.blocks.edit("card-2", at=NOW, links=["guide"])
    payload = workspace.workspace.build(asked("unrelated words", focus=Focus(block_id="card-1")))
    assert "guide" in ids(payload, "relations")
    assert "card-2" in [*ids(payload, "focus"), *ids(payload, "relations")]


def test_hints_decide(workspace: Quire) -> None:
    plain = asked("migration", focus=Focus(page_id="plan"))
    hints = ContextHints(include_blocks=("steps",), exclude_blocks=("split-task",), max_depth=0)
    without = workspace.workspace.build(
        replace(plain, hints=ContextHints(exclude_blocks=("plan",)))
    )
    assert "plan" not in str([ids(without, each.type) for each in without.sections])
    payload = workspace.workspace.build(replace(plain, hints=hints))
    everything = [name for section in payload.sections for name in ids(payload, section.type)]
    assert "steps" in ids(payload, "focus")
    assert "split-task" not in everything
    assert "detail" not in everything
    assert "goal" not in ids(payload, "focus")
    since = ContextHints(time_range=(NOW - 3 * DAY, None))
    late = workspace.workspace.build(asked("task guide cake migration", hints=since))
    assert set(ids(late, "semantic")) == {"guide-task", "split-task"}


def test_the_conversation_is_told_newest_first_and_whole(workspace: Quire) -> None:
    history = tuple(("user", f"message {number} " + "word " * 30) for number in range(60))
    payload = workspace.workspace.build(
        asked("migration", type="chat", conversation_history=history, system="Be brief.")
    )
    told = [line for line in payload.serialized.splitlines() if line.startswith("user: ")]
    assert told[-1].startswith("user: message 59 ")
    assert 1 < len(told) < 60
    assert all(line.rstrip().endswith("word") and line.count("word") == 30 for line in told)
    assert "### Instructions\nBe brief." in payload.serialized
    assert any("older messages" in note for note in payload.notes)


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (TokenBudget(total=0), "must be between 1 and"),
        (TokenBudget(focus=-1), "token_budget.focus: must be between 0 and"),
        (
            TokenBudget(1000, focus=1001),
            "token_budget.focus: must be between 0 and the total of 1000 tokens, not 1001",
        ),
        (TokenBudget(4000, 0, 0, 0, 0, 0, 0), "no section has a share above 0"),
    ],
)
def test_budgets_that_cannot_be(workspace: Quire, budget: TokenBudget, said: str) -> None:
    with pytest.raises((BudgetError, InputError, quire.QuireError), match=said):
        workspace.workspace.build(asked("migration", token_budget=budget))


def test_no_token_too_many_at_any_budget(workspace: Quire) -> None:
    for total in range(60, 700, 37):
        shares = TokenBudget(total, total, total, total, total, 0, 0)
        payload = workspace.workspace.build(
            asked("Break the migration task", focus=Focus("split-task"), token_budget=shares)
        )
        assert (
            workspace.workspace.estimate_tokens(payload) == payload.metadata.total_tokens <= total
        )
        assert workspace.workspace.validate(payload, "alice").problems == ()


def test_a_type_that_there_is_none_of(workspace: Quire) -> None:
    with pytest.raises(
        InputError, match="type: unknown request type 'ask'; choose from assist, chat"
    ):
        workspace.workspace.build(asked("x", type="ask"))


@pytest.mark.parametrize("kind", ["assist", "chat", "search", "automate"])
def test_each_type_has_a_split_of_its_own(workspace: Quire, kind: str) -> None:
    payload = workspace.workspace.build(
        asked("migration task", type=kind, focus=Focus("split-task"))
    )
    assert workspace.workspace.validate(payload, "alice").valid
    assert (kind == "search") == ("focus" not in [each.type for each in payload.sections])


def test_a_request_names_its_user(workspace: Quire) -> None:
    """Nobody is not the owner, who may read everything."""
    nobody: Any = None
    with pytest.raises(InputError, match="a request must name its user") as refused:
        workspace.workspace.build(ContextRequest("migration", nobody))
    assert refused.value.field == "user"


def test_a_focus_that_is_gone_is_told(workspace: Quire) -> None:
    workspace.blocks.delete("split-task")
    payload = workspace.workspace.build(asked("migration", focus=Focus("split-task")))
    assert ids(payload, "focus") == []
    assert any("`focus`: there is no record 'split-task'" in note for note in payload.notes)
    hidden = workspace.workspace.build(asked("migration", focus=Focus("secret")))
    assert any("`focus`: there is no record 'secret'" in note for note in hidden.notes)


def test_validate_says_what_is_wrong(workspace: Quire) -> None:
    payload = workspace.workspace.build(asked("migration", focus=Focus("split-task")))
    longer = replace(payload, serialized=payload.serialized + " more words")
    assert any(
        "tokens, but has" in one for one in workspace.workspace.validate(longer, "alice").problems
    )
    first = payload.sections[0]
    doubled = replace(first, items=(*first.items, first.items[0]))
    twice = replace(payload, sections=(doubled, *payload.sections[1:]))
    assert any(
        "occurs twice" in one for one in workspace.workspace.validate(twice, "alice").problems
    )
    empty = [
        one for one in workspace.workspace.validate(payload, "alice").warnings if "is empty" in one
    ]
    assert empty


def test_preferences_of_a_person(workspace: Quire) -> None:
    likes = Preferences(types=("heading",), language="German", format="json")
    payload = workspace.workspace.build(asked("migration", focus=Focus("plan"), preferences=likes))
    assert json.loads(payload.serialized)["documents"]
    spoken = replace(likes, format="")
    told = workspace.workspace.build(
        asked("migration", focus=Focus("plan"), preferences=spoken)
    ).serialized
    assert "Answer in German." in told


def test_async_gives_the_same(workspace: Quire) -> None:
    request = asked("migration", focus=Focus("plan"))
    assert asyncio.run(workspace.workspace.build_async(request)) == workspace.workspace.build(
        request
    )


def test_explain_shows_all_five_signals(workspace: Quire) -> None:
    context = workspace.assemble(
        "migration task", recipe="workspace", focus="split-task", viewer="alice", as_of=NOW
    )
    signals = {decision.path: decision.signals for decision in context.decisions}
    for told in signals.values():
        assert {"semantic", "structural", "recency", "type", "affinity"} <= told.keys()
    assert signals[".quire/block/split-task"]["structural"] == 1000
    assert signals[".quire/block/detail"]["structural"] == 900
    assert signals[".quire/block/guide-task"]["structural"] == 800
    assert signals[".quire/block/split-task"]["recency"] == 1000 - 1000 // 30
    assert signals[".quire/block/split-task"]["type"] == 900
    assert context.receipt["request"]["focus"] == "split-task"  # type: ignore[index]
    assert workspace.verify(context.receipt, context.text, "alice").problems == ()
    assert workspace.replay(context.receipt, "alice")[1] == []


def test_a_superseded_page_is_flagged(workspace: Quire) -> None:
    payload = workspace.workspace.build(asked("snapshot", focus=Focus(page_id="guide")))
    assert not any(
        "superseded" in one for one in workspace.workspace.validate(payload, "alice").warnings
    )
    newer = Block("newer", "page", "Newer guide", access=ALL, relations={"supersedes": ("guide",)})
    workspace.blocks.put([newer], at=NOW)
    told = workspace.workspace.validate(payload, "alice").warnings
    assert "Rollback guide is superseded by newer" in told
    hidden = replace(newer, id="hidden", access=("bob",))
    workspace.blocks.put([hidden], at=NOW)
    assert workspace.workspace.validate(payload, "alice").warnings == told


@pytest.mark.parametrize("way", ["keep_start", "keep_end", "extractive", "summarize"])
def test_what_is_too_long_is_cut_as_asked(workspace: Quire, way: str) -> None:
    sentences = [f"Sentence {number} tells of nothing at all." for number in range(60)]
    sentences[30] = "The walrus ate the migration plan."
    workspace.blocks.put([Block("long", "paragraph", " ".join(sentences), "plan", 9)], at=NOW - DAY)
    context = workspace.assemble(
        "walrus migration",
        recipe="workspace",
        focus="long",
        viewer="alice",
        budget=300,
        shares={"focus": 200, "semantic": 0, "relations": 0, "activity": 0},
        cut=way,
    )
    (said,) = [item.text for item in context.items if item.record_id == "long"] or [""]
    assert context.tokens <= 300
    assert 50 <= len(said) < len(" ".join(sentences))
    if way == "keep_start":
        assert said.startswith("Sentence 0 ")
    elif way == "keep_end":
        assert said.endswith("Sentence 59 tells of nothing at all.")
    else:
        assert "The walrus ate the migration plan." in said
        assert "... The walrus" in said


def test_forbidden_patterns_cannot_be_expressed(workspace: Quire) -> None:
    """No whole workspace, no asking without permissions, no context without a budget, no statics."""
    with pytest.raises(TypeError):
        ContextRequest("everything")  # type: ignore[call-arg]  # nobody asks
    huge = workspace.workspace.build(
        asked("word", token_budget=TokenBudget(100_000, 0, 99_000, 0, 0, 0, 0))
    )
    assert huge.metadata.blocks_included <= 15
    with pytest.raises(quire.QuireError, match="empty"):
        workspace.workspace.build(asked("  "))
    first = workspace.workspace.build(asked("migration")).serialized
    assert first != workspace.workspace.build(asked("rollback")).serialized


@pytest.mark.parametrize("form", ["path", "id"])
def test_why_not_knows_a_focus_by_its_path(tmp_path: Path, form: str) -> None:
    (tmp_path / "quire.toml").write_text('[embed]\nprovider = "none"\n')
    (tmp_path / "a.md").write_text("# Plan\n\nThe migration begins on Monday.\n")
    (tmp_path / "b.md").write_text("# Notes\n\nThe rollback is tested.\n")
    with quire.open(tmp_path) as store:
        store.index()
        (record,) = (one for one in store.documents.list() if one.path == "a.md")
        focus = "a.md" if form == "path" else record.id
        (outcome,) = store.why_not(
            "unrelated words", "a.md", recipe="workspace", focus=focus, kinds=["code"]
        )
    assert "filter" in outcome.reason


def test_a_filter_holds_for_every_section(workspace: Quire) -> None:
    where = quire.Filter(kinds=("block.todo",))
    context = workspace.assemble(
        "migration task", recipe="workspace", focus="plan", where=where, as_of=NOW
    )
    assert context.failed == ()
    assert {item.kind for item in context.items} == {"block.todo"}
    late = ContextHints(time_range=(NOW - 3 * DAY, None))
    payload = workspace.workspace.build(asked("migration", focus=Focus(page_id="plan"), hints=late))
    assert ids(payload, "focus") == ["guide-task", "split-task"]


def test_what_has_no_effect_is_told(workspace: Quire) -> None:
    context = workspace.assemble("migration", focus="plan", prefer=["todo"], base="src")
    for name in ("focus", "prefer", "base"):
        assert any(f"`{name}` has no effect" in note for note in context.notes)
    assert not workspace.assemble("migration", recipe="workspace", focus="plan").notes[1:]
    with pytest.raises(InputError, match="takes no instructions"):
        workspace.assemble("migration", system="Be brief.")


def test_what_is_excluded_is_left_out_by_every_recipe(workspace: Quire) -> None:
    for recipe in ("documents", "agent", "workspace"):
        plain = workspace.assemble("migration task", recipe=recipe, allow_empty=True)
        less = workspace.assemble(
            "migration task", recipe=recipe, exclude=["plan"], allow_empty=True
        )
        assert "split-task" in str(plain.sources) or recipe == "agent"
        assert "split-task" not in str(less.sources)


def test_why_not_knows_what_was_done_lately(workspace: Quire) -> None:
    workspace.blocks.view("steps", at=NOW - 80 * 60 * 60, viewer="alice")
    (told,) = workspace.why_not(
        "unrelated words",
        ".quire/block/steps",
        recipe="workspace",
        viewer="alice",
        as_of=NOW,
    )
    assert "ranks" not in told.reason


def test_a_file_is_named_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "quire.toml").write_text('[embed]\nprovider = "none"\n')
    for name in ("tide", "rope", "sail"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe {name} and the harbour.\n")
    with quire.open(tmp_path) as opened:

        def found(focus: str, **more: Any) -> Context:
            return opened.assemble("harbour", recipe="workspace", focus=focus, as_of=NOW, **more)

        opened.index()
        (tide,) = [record for record in opened.documents.list() if record.path == "tide.md"]
        by_path = found("tide.md", exclude=["rope.md"])
        assert by_path.text == found(tide.id, exclude=["rope.md"]).text
        assert (by_path.items[0].record_id, by_path.items[0].section) == (tide.id, "focus")
        assert "rope" not in by_path.text
        assert opened.replay(by_path.receipt)[1] == []
        lost = found("tied.md", include=["gone.md"])
        assert [note for note in lost.notes if "there is no record" in note] == [
            "`focus`: there is no record 'tied.md' that this viewer may read",
            "`include`: there is no record 'gone.md' that this viewer may read",
        ]


def test_an_option_that_a_source_does_not_have_is_refused(workspace: Quire, tmp_path: Path) -> None:
    recipe = tmp_path / "wrong.toml"
    recipe.write_text('extends = "workspace"\n[sources.focus]\noptions = { ancestorz = 3 }\n')
    with pytest.raises(quire.QuireError, match=r"sources.focus.options: .*mean 'ancestors'"):
        workspace.assemble("migration", recipe=str(recipe))


def test_a_payload_with_failed_sources_is_not_valid(workspace: Quire) -> None:
    payload = workspace.workspace.build(asked("migration", focus=Focus("plan")))
    failed = replace(payload, failed=(Failure("semantic", "no answer within 10000 ms"),))
    (problem,) = workspace.workspace.validate(failed, "alice").problems
    assert problem == "the source semantic failed: no answer within 10000 ms"


def test_a_time_range_may_be_given_in_dates(workspace: Quire) -> None:
    day = workspace.workspace.build(
        asked("migration", hints=ContextHints(time_range=("2026-01-01", "2026-01-31")))
    )
    seconds = workspace.workspace.build(
        asked("migration", hints=ContextHints(time_range=(1767225600, 1769903999)))
    )
    assert day.failed == ()
    assert day.serialized == seconds.serialized
    assert day.receipt["hash"] == seconds.receipt["hash"]
    for wrong in (("yesterday", None), (1.5, None), ("2026-01-01",), "2026-01-01"):
        with pytest.raises(InputError, match="time_range"):
            workspace.workspace.build(asked("migration", hints=ContextHints(time_range=wrong)))  # type: ignore[arg-type]


@pytest.mark.parametrize("total", [60, 120, 260, 1000])
def test_blocks_that_must_be_in_come_first_or_are_told(workspace: Quire, total: int) -> None:
    wanted = ("later", "detail")
    payload = workspace.workspace.build(
        asked(
            "migration",
            focus=Focus(page_id="plan"),
            hints=ContextHints(include_blocks=wanted),
            token_budget=TokenBudget(total),
        )
    )
    shown = {item.block_id for section in payload.sections for item in section.items}
    told = [note for note in payload.notes if note.startswith("`include`")]
    assert len(told) == len({*wanted} - shown)
    if total >= 260:
        assert shown >= {*wanted}


def test_no_levels_below_the_focus_show_no_children(workspace: Quire) -> None:
    def shown(depth: int | None) -> set[str]:
        payload = workspace.workspace.build(
            asked(
                "rollback",
                focus=Focus("split-task"),
                hints=ContextHints(max_depth=depth),
            )
        )
        focus = next(section for section in payload.sections if section.type == "focus")
        return {item.block_id for item in focus.items}

    assert "detail" in shown(None)
    assert "detail" not in shown(0)


def test_types_that_do_not_exist_are_refused(workspace: Quire) -> None:
    with pytest.raises(InputError, match=r"prioritize_types.*'task'"):
        workspace.workspace.build(
            asked("migration", hints=ContextHints(prioritize_types=("task",)))
        )
    with pytest.raises(InputError, match=r"preferences\.types"):
        workspace.workspace.build(asked("migration", preferences=Preferences(types=("note",))))


def test_the_type_of_a_request_divides_a_budget_that_names_only_a_total(workspace: Quire) -> None:
    def shares(type_: str) -> dict[str, int]:
        payload = workspace.workspace.build(
            asked("migration", type=type_, token_budget=TokenBudget(2000))
        )
        sections = payload.receipt["recipe"]["sections"]  # type: ignore[index]  # plain data
        return {section["name"]: section["weight"] for section in sections}

    assert shares("assist") == {"focus": 750, "semantic": 600, "relations": 400, "activity": 150}
    assert shares("search") == {"semantic": 1500, "relations": 250, "activity": 150}


def test_the_page_of_a_focused_block_is_in(workspace: Quire) -> None:
    payload = workspace.workspace.build(
        asked("migration", focus=Focus(block_id="split-task", page_id="guide"))
    )
    shown = {item.block_id for section in payload.sections for item in section.items}
    assert {"split-task", "guide"} <= shown
