"""Do pages for agents do what their specification asks? Its tests, by their names, on a real store."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import quire as package
from quire import Quire, errors
from quire.core.types import DATA_NOTICE, FormattedContext
from quire.errors import InputError, InvalidContextTypeError
from quire.memory.feedback_service import FeedbackLog
from quire.pipeline.recipe import load
from quire.recipes.agent import AGENT, AgentContexts, fill_recipe
from tests.conftest import Tree
from tests.pipeline.invariants import count
from tests.recipes.parsed import seen
from tests.recipes.world import ATTEMPTS, MEMORIES, NOW, attempt

MEMORY_NOTE = re.compile(r"\*\(truncated, memory ID: ([0-9a-f]{8})\)\*")
QUERY = "why is login slow: session cache and connections"
CLOCK = "give tests a clock of their own"
TYPES = ["memories", "code", "documents", "experiences", "values", "commits"]
WEIGHTS = {"memories": 1, "code": 2, "experiences": 3, "values": 1, "commits": 2}
"""As the specification has them; documents, which it does not know, count like code."""


def sections(page: FormattedContext) -> dict[str, list[str]]:
    return seen(page.markdown).sections


# --- the unit tests that it names -----------------------------------------------------------------


def test_assemble_single_source(shop: Quire) -> None:
    page = shop.agent.assemble_context(QUERY, ["memories"])
    lines = page.markdown.splitlines()
    assert lines[:5] == ["# Context", "", DATA_NOTICE, "", "## Memories"]
    assert set(sections(page)) == {"Memories"}
    assert {item.source for item in page.items} == {"memory"}
    assert lines[-2:] == ["---", f"*{len(page.items)} items from 1 source*"]
    specified, _, day = page.items[0].content.rpartition(" ")
    assert specified == (
        "**Memory**: Logins are slow on Mondays, when the session table is rebuilt.\n"
        "*Category: fact, Importance: 0.7*"
    )
    assert day == f"({str(page.items[0].metadata['created_at'])[:10]})"
    assert page.token_count == count("o200k", page.markdown)


def test_assemble_multiple_sources(shop: Quire) -> None:
    page = shop.agent.assemble_context(QUERY, ["memories", "experiences", "commits"])
    assert list(sections(page)) == ["Memories", "Experiences", "Commits"]
    assert page.sources_used == {"memory": 3, "experience": 5, "commit": 3}
    contents = [item.content for item in page.items]
    assert len(set(contents)) == len(contents)
    assert page.token_count <= 2000


def test_token_budget_enforcement(wordy: Tree) -> None:
    with wordy.open() as quire:
        for number in range(60):
            quire.memories.add(
                f"Login fact {number} " + "of the pool " * (1 + number % 9), at=number
            )
        for budget in (60, 100, 171, 400, 900):
            made = quire.assemble("login fact", recipe=AGENT, types=["memories"], budget=budget)
            assert made.tokens <= budget
            assert made.tokens == count("o200k", made.text)
            found = [one for one in made.decisions if one.step != "rank"]
            best = max(found, key=lambda one: one.score)
            kept = [one.score for one in found if one.verdict != "dropped"]
            assert best.verdict != "dropped" or best.tokens > budget - 40, "the best goes in first"
            left = [one for one in found if one.verdict == "dropped"]
            assert all(
                one.score <= max(kept) or one.tokens > budget - made.tokens for one in left
            ), "what is left out is weaker, or does not fit"
            assert made.omitted == len(left)
        assert len([one for one in made.decisions if one.step == "rank"]) == 20, "20 of 40 go on"


def test_deduplication(shop: Quire) -> None:
    """Of a value and the experience that words it the stronger one stays."""
    page = shop.assemble(CLOCK, recipe=AGENT)
    by_path = {one.path.rpartition("/")[0]: one for one in page.decisions if one.step == "dedup"}
    values = [item for item in page.items if item.kind == "value" and "clock" in item.text]
    assert any(item.text.endswith("as in the nightly report") for item in values)
    lost = by_path[".quire/experience/testing/read-the-error/confirmed"]
    assert lost.reason.endswith(tuple(f"tells of the same ({one.chunk_id})" for one in values))
    assert not any("of the nightly report\n" in item.text for item in page.items)
    # Elsewhere the experience is the stronger one.
    other = shop.assemble("flaky test of the nightly report", recipe=AGENT)
    assert not [item for item in other.items if item.kind == "value" and "clock" in item.text]
    assert any("of the nightly report\n" in item.text for item in other.items)


def test_empty_sources(wordy: Tree) -> None:
    with wordy.open() as quire:
        nothing = quire.agent.assemble_context("login")
        assert nothing == FormattedContext("", (), 0, {}, receipt=nothing.receipt)
        assert nothing.failed == ()
        quire.memories.add("The login host is heron.", at=1)
        page = quire.agent.assemble_context("login host")
        assert list(sections(page)) == ["Memories"], "no empty titles"
        assert page.markdown.endswith("---\n*1 item from 1 source*")
        assert quire.agent.assemble_context("login", ["commits", "code"]).markdown == ""


def test_premortem_context(own_shop: Tree) -> None:
    with own_shop.open() as shop:
        _check_premortems(shop)


def _check_premortems(shop: Quire) -> None:
    attempt(
        shop,
        {
            "goal": "Answer faster",
            "domain": "performance",
            "strategy": "small-steps",
            "hypothesis": "Answers can be kept",
            "outcome": "confirmed",
            "result": "They can",
            "surprise": "Half of them were old",
            "root_cause": "The clock was not looked at",
        },
        NOW,
    )
    page = shop.agent.get_premortem_context("performance", "check-assumptions")
    assert seen(page.markdown).title == "Premortem: performance with check-assumptions"
    found = sections(page)
    assert [title for title in found if title != "Relevant Principles"] == [
        "Common Failures",
        "Unexpected Outcomes",
        "Root Causes to Watch",
    ], "what failed by this strategy is told above, and stands nowhere else"
    assert set(found["Common Failures"]) == {"**Experience**: performance | check-assumptions"}
    assert page.markdown.count("Find out why login is slow") == 1
    other = shop.agent.get_premortem_context("performance", "root-cause-analysis")
    assert list(sections(other))[:2] == ["Common Failures", "Strategy Performance"]
    alone = shop.agent.get_premortem_context("debugging")
    assert seen(alone.markdown).title == "Premortem: debugging"
    assert "Strategy Performance" not in sections(alone)
    assert {item.metadata["domain"] for item in alone.items if item.source == "experience"} == {
        "debugging"
    }
    assert page.token_count <= 1500


def test_invalid_context_type(shop: Quire) -> None:
    known = "choose from memories, code, documents, experiences, values, commits"
    wrong: list[list[Any]] = [["memory", "docs"], ["Memories"], [""], [3], [["memories"]], [None]]
    for types in wrong:
        with pytest.raises(InvalidContextTypeError, match=known):
            shop.agent.assemble_context(QUERY, types)
    with pytest.raises(InvalidContextTypeError, match=f"names no section; {known}"):
        shop.agent.assemble_context(QUERY, [])
    assert issubclass(InvalidContextTypeError, InputError)


def test_partial_failure(own_shop: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged file: what needs it fails, and is named; the others answer."""
    from quire.store.index import search

    whole = search.lexical

    def damaged(snapshot: Any, query: str, k: int, where: Any, **options: Any) -> Any:
        if "commit" in where.kinds:
            raise errors.StoreDamagedError("a list of words is damaged")
        return whole(snapshot, query, k, where, **options)

    monkeypatch.setattr(search, "lexical", damaged)
    with own_shop.open() as quire:
        page = quire.agent.assemble_context(QUERY)
        (failure,) = page.failed
        assert (failure.source, failure.reason) == ("commits.lexical", "a list of words is damaged")
        assert seen(page.markdown).warnings == [
            "**Missing**: commits.lexical: a list of words is damaged"
        ]
        assert {"memory", "code", "experience"} <= set(page.sources_used)
        assert "commit" in page.sources_used, "meaning still finds commits"


# --- the integration tests that it names -----------------------------------------------------------


def test_end_to_end_assembly(shop: Quire) -> None:
    page = shop.agent.assemble_context(CLOCK + " and what changed in the session cache")
    assert list(sections(page)) == [
        "Memories",
        "Code",
        "Documents",
        "Experiences",
        "Values",
        "Commits",
    ]
    kinds = {"memory", "code", "document", "experience", "value", "commit"}
    assert set(page.sources_used) == kinds
    assert sum(page.sources_used.values()) == len(page.items)
    assert seen(page.markdown).footer == f"*{len(page.items)} items from 6 sources*"
    assert page.token_count == count("o200k", page.markdown) <= 2000
    assert seen(page.markdown).rules == 1
    for item in page.items:
        assert item.content in page.markdown
        assert 0.15 <= item.relevance <= 1
        assert item.similarity is not None
        assert 0 < item.similarity <= 1


def test_premortem_with_real_data(shop: Quire) -> None:
    page = shop.agent.get_premortem_context("testing", "read-the-error")
    found = sections(page)
    assert "Common Failures" not in found, "nothing was falsified there"
    assert len(found["Strategy Performance"]) == 4
    assert [item.metadata["outcome_status"] for item in page.items[:4]] == ["confirmed"] * 4
    other = shop.agent.get_premortem_context("performance")
    experiences = [item for item in other.items if item.source == "experience"]
    assert {item.metadata["domain"] for item in experiences} == {"performance"}
    assert "Compress the images" not in other.markdown, "given up is not falsified"
    assert "Evict expired" not in other.markdown, "nor is confirmed"


# --- its acceptance list ---------------------------------------------------------------------------


def test_functional_1_all_requested_sources_are_queried(shop: Quire) -> None:
    for types in (["memories"], ["code", "commits"], TYPES):
        made = shop.assemble(QUERY, recipe=AGENT, types=types)
        kinds = {_kind(one.path) for one in made.decisions}
        assert kinds == {name.removesuffix("s") for name in types} or types != TYPES
        assert len(kinds) == len(types)
    assert shop.agent.assemble_context(QUERY) == shop.agent.assemble_context(QUERY, TYPES)


def _kind(path: str) -> str:
    if path.startswith(".quire/"):
        return path.split("/")[1].replace("memory", "memorie")
    if path.startswith(".git/"):
        return "commit"
    return "document" if path.endswith(".md") else "code"


def test_functional_2_items_stand_by_relevance_within_their_source(shop: Quire) -> None:
    for query in (QUERY, CLOCK, "charge a card"):
        page = shop.assemble(query, recipe=AGENT)
        for source in {item.kind for item in page.items}:
            told = [item.score for item in page.items if item.kind == source]
            assert told == sorted(told, reverse=True)


def test_functional_2_importance_confidence_and_recency_lift(wordy: Tree) -> None:
    with wordy.open() as quire:
        for importance in (0.1, 0.9, 0.5):
            quire.memories.add(f"Heron login {int(importance * 10)}.", at=9, importance=importance)
        told = {"goal": "Heron login", "domain": "data", "strategy": "small-steps"}
        for tier, more in {
            "abandoned": {"outcome": "abandoned"},
            "bronze": {"outcome": "confirmed"},
            "silver": {"outcome": "confirmed", "result": "It was."},
            "gold": {"outcome": "confirmed", "result": "It was.", "lesson": "So."},
        }.items():
            attempt(quire, {**told, "hypothesis": f"It is {tier}", **more}, NOW)
        page = quire.assemble("heron login", recipe=AGENT, limit=50)
        memories = [item.about["importance"] for item in page.items if item.kind == "memory"]
        assert memories == [0.9, 0.5, 0.1]
        signals = {one.path: one.signals for one in page.decisions}
        trust = {
            item.about["confidence_tier"]: signals[source.path]["confidence"]
            for item, source in zip(page.items, page.sources, strict=True)
            if item.kind == "experience"
        }
        assert trust == {"gold": 1000, "silver": 700, "bronze": 400, "abandoned": 0}


def test_functional_2_recency_lifts_experiences_and_commits_alone(shop: Quire) -> None:
    for one in shop.assemble(QUERY, recipe=AGENT).decisions:
        timely = _kind(one.path) in {"experience", "commit"}
        assert ("recency" in one.signals) == timely


def test_functional_3_a_commit_of_one_file_and_its_code_are_told_once(shop: Quire) -> None:
    query, types = "charge a card at most ten times", ["code", "commits"]
    agent = load(AGENT)
    assert agent.fit.same_path == "demote"
    dropping = replace(agent, fit=replace(agent.fit, same_path="drop"))
    page = shop.assemble(query, recipe=dropping, types=types, floor=0)
    (lost,) = [one for one in page.decisions if one.step == "dedup"]
    assert lost.path == "src/payments.py"
    (stronger,) = [item for item in page.items if "Payments" in item.text]
    assert lost.score < stronger.score
    files = {item.about["file_path"] for item in page.items if item.kind == "code"}
    assert files == {"src/cache.py", "src/login.py"}, "a commit of several files is another thing"


def test_functional_3_the_weaker_one_counts_half_and_stays_while_there_is_room(shop: Quire) -> None:
    query, types = "charge a card at most ten times", ["code", "commits"]
    kept = replace(load(AGENT), fit=replace(load(AGENT).fit, same_path="keep"))
    before = {one.chunk_id: one for one in shop.assemble(query, recipe=kept, types=types).decisions}
    page = shop.assemble(query, recipe=AGENT, types=types)
    assert not [one for one in page.decisions if one.step == "dedup"]
    changed = [one for one in page.decisions if one.score != before[one.chunk_id].score]
    assert [one.path for one in changed] == ["src/payments.py"]
    assert changed[0].score == before[changed[0].chunk_id].score // 2
    assert "src/payments.py" in {source.path for source in page.sources}


def test_functional_4_weights_and_shares_are_exact() -> None:
    recipe = load(AGENT)
    weights = {section.name: section.weight for section in recipe.sections}
    assert weights == {**WEIGHTS, "documents": WEIGHTS["code"]}
    assert {section.item for section in recipe.sections} == {25}
    shares = {section.name: recipe.share(section) for section in recipe.sections}
    assert shares == {name: 2000 * weight // 11 for name, weight in weights.items()}
    assert {section.name: section.k for section in recipe.sections} == {
        name: 5 if name == "values" else 20 for name in TYPES
    }
    assert recipe.budget.total == 2000
    premortem = fill_recipe(load("premortem"), "data", "small-steps")
    assert premortem.budget.total == 1500
    assert {section.name: section.k for section in premortem.sections} == {
        "failures": 10,
        "strategy": 10,
        "surprises": 10,
        "root_causes": 10,
        "principles": 5,
    }


def crowd(quire: Quire, words: int = 12) -> None:
    """Have far more of everything than a page can hold."""
    for number in range(30):
        text = " ".join(f"heron{(number * 7 + at * 3) % 50}" for at in range(words))
        quire.memories.add(f"Login {text}", at=number)
        told = {"domain": "data", "strategy": "small-steps", "hypothesis": "So."}
        ended = {"outcome": "confirmed", "result": f"Seen {text}"}
        attempt(quire, {"goal": f"Login {text}", **told, **ended}, number)


def test_functional_4_each_section_gets_its_share(wordy: Tree) -> None:
    with wordy.open() as quire:
        crowd(quire)
        made = quire.assemble("login", recipe=AGENT, types=["memories", "experiences"], budget=1200)
        used = {
            kind: sum(item.tokens for item in made.items if item.kind == kind)
            for kind in ("memory", "experience")
        }
        assert 1140 < made.tokens <= 1200
        longest = max(one.tokens for one in made.decisions)
        assert abs(used["memory"] - 300) <= longest + 20
        assert abs(used["experience"] - 900) <= longest + 20


def test_functional_4_what_a_section_leaves_goes_to_the_others(wordy: Tree) -> None:
    with wordy.open() as quire:
        crowd(quire)
        every = quire.assemble("login", recipe=AGENT, budget=1200)
        assert 1140 < every.tokens <= 1200, "code, values and commits leave theirs"
        alone = quire.assemble("login", recipe=AGENT, budget=1200, types=["memories", "code"])
        assert alone.tokens > 600, "memories have a third, and take what code leaves"


def test_functional_4_one_item_takes_a_quarter_at_most_with_its_note(wordy: Tree) -> None:
    with wordy.open() as quire:
        quire.memories.add("Login " + "and the heron sleeps on one leg " * 90, at=1)
        quire.memories.add("Login is short.", at=2)
        told = {"goal": "Login", "domain": "data", "strategy": "small-steps", "hypothesis": "So."}
        name = attempt(
            quire, {**told, "outcome": "confirmed", "result": "Login " + "herons wade " * 300}, 3
        )
        page = quire.agent.assemble_context("login", ["memories", "experiences"], max_tokens=2000)
        caps = {"memory": 2000 // 4, "experience": 2000 // 4}
        cut = [item for item in page.items if "(truncated" in item.content]
        assert {item.source for item in cut} == {"memory", "experience"}
        for item in page.items:
            assert count("o200k", item.content) <= caps[item.source]
        for item in cut:
            assert count("o200k", item.content) > caps[item.source] * 4 // 5, "the cap is used"
            assert "..." in item.content
        notes = [item.content.rpartition("\n\n")[2] for item in cut]
        assert f"*(truncated, full experience ID: {name[:8]})*" in notes
        (shown,) = [note[1] for one in notes if (note := MEMORY_NOTE.fullmatch(one))]
        assert quire.experiences.get(name[:8]).goal == "Login", "the beginning of an id is enough"
        assert quire.memories.get(shown).content.startswith("Login and the heron")


def test_functional_4_a_cut_experience_keeps_its_outcome_and_lesson(wordy: Tree) -> None:
    with wordy.open() as quire:
        told = {
            "goal": "Stop the login timeouts",
            "domain": "data",
            "strategy": "small-steps",
            "hypothesis": "The pool is too small " + "since herons wade in it " * 40,
            "outcome": "falsified",
            "result": "The pool was idle",
            "lesson": "Measure before guessing",
        }
        attempt(quire, told, 3)
        (item,) = quire.assemble("login timeouts", recipe=AGENT, budget=400).items
        assert "(truncated" in item.text
        assert "- **Outcome**: falsified - The pool was idle" in item.text
        assert "- **Lesson**: Measure before guessing" in item.text


def test_functional_4_in_a_small_budget_few_items_have_a_body(wordy: Tree) -> None:
    with wordy.open() as quire:
        for number in range(12):
            text = (
                f"Login {number}: the heron {number} sleeps on one leg near port {9000 + number}. "
            )
            quire.memories.add(text + "It wades in the harbour at dawn. " * 9, at=number)
        for budget in (200, 400, 1000):
            page = quire.assemble("login", recipe=AGENT, budget=budget)
            assert page.items
            for item in page.items:
                body = item.text.partition("**Memory**: ")[2].partition("\n*")[0]
                assert "heron" in body, item.text
        alone = quire.assemble("login", recipe=AGENT, budget=2000)
        assert all("(truncated" not in item.text for item in alone.items), "there was room"


def test_functional_4_long_code_says_where_all_of_it_stands(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "code")
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("a.py", 'def login():\n    """' + "Herons wade. " * 400 + '"""\n    return 1\n')
    tree.index()
    with tree.open() as quire:
        page = quire.agent.assemble_context("login herons", ["code"], max_tokens=800)
        item = next(item for item in page.items if "(truncated" in item.content)
        assert item.content.endswith("\n```\n\n*(truncated, see full at a.py:1)*")
        assert count("o200k", item.content) <= 200


def test_functional_5_each_kind_is_said_as_it_should_be(shop: Quire) -> None:
    page = shop.agent.assemble_context("login slow session query", max_tokens=6000)
    said = {item.source: item.content for item in reversed(page.items)}
    assert re.fullmatch(
        r"\*\*Commit\*\* `[0-9a-f]{7}` by Ada Writer on 2023-10-25 \d\d:\d\d\n"
        r"Login: retry the slow session query\n"
        r"The session table has no index, so a login waits.\n"
        r"\*Files: docs/login.md, src/login.py\*",
        said["commit"],
    )
    assert said["experience"].startswith(
        "**Experience**: performance | check-assumptions\n- **Goal**: Find out why login is slow\n"
        "- **Hypothesis**: The session table has no index\n"
    )
    assert "- **Outcome**: falsified - The plan uses the index" in said["experience"]
    (value, *_) = [
        item for item in shop.agent.assemble_context(CLOCK).items if item.source == "value"
    ]
    assert value.content == (
        "**Value** (full, cluster size: 4):\n"
        "Give tests a clock of their own, as in the nightly report"
    )


def test_functional_5_a_function_is_shown_by_its_lines_or_by_its_first_ones(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "code")
    body = "".join(
        f"    total += {number}  # one more step of the login\n" for number in range(120)
    )
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write(
        "pkg/a.py",
        f'import os\n\n\ndef login(name: str) -> int:\n    """Let someone in."""\n    total = 0\n{body}'
        "    return total\n",
    )
    tree.index()
    with tree.open() as quire:
        item = quire.agent.assemble_context("login someone in", ["code"]).items[0]
        assert item.content.startswith(
            "**Function** `login` in `pkg/a.py:4`\n```python\ndef login(name: str) -> int:\n"
            '    """Let someone in."""\n    total = 0\n'
        )
        assert item.metadata == {
            "file_path": "pkg/a.py",
            "start_line": 4,
            "end_line": 127,
            "language": "python",
            "qualified_name": "login",
        }


def test_functional_6_empty_sections_are_left_out(shop: Quire) -> None:
    page = shop.agent.assemble_context("flaky test of the nightly report")
    assert "Values" not in sections(page)
    assert seen(page.markdown).footer == "*7 items from 2 sources*"


def test_functional_7_names_may_be_singular(shop: Quire) -> None:
    singular = ["memory", "code", "document", "experience", "value", "commit"]
    assert shop.agent.assemble_context(QUERY, singular) == shop.agent.assemble_context(QUERY, TYPES)
    assert shop.agent.assemble_context(
        QUERY, ["memory", "memories"]
    ) == shop.agent.assemble_context(QUERY, ["memories"])


def test_functional_8_premortems_filter_by_domain_and_strategy(shop: Quire) -> None:
    for domain, strategy in (("performance", "check-assumptions"), ("debugging", "small-steps")):
        made = shop.agent.premortem(domain, strategy)
        for item in made.items:
            if item.kind != "experience":
                continue
            if item.section == "strategy":
                assert item.about["strategy"] == strategy
            else:
                assert item.about["domain"] == domain
            if item.section == "failures":
                assert item.about["outcome_status"] == "falsified"
    for unknown, named in (
        (("gardening", None), "debugging, feature"),
        (("data", "luck"), "systematic-elimination"),
        (("", None), "debugging"),
    ):
        with pytest.raises(InputError, match=named):
            shop.agent.premortem(*unknown)


def test_functional_9_premortems_query_all_axes(shop: Quire) -> None:
    recipe = fill_recipe(load("premortem"), "performance", "check-assumptions")
    axes = {section.name: section.kinds for section in recipe.sections}
    assert axes == {
        "failures": ("experience.full",),
        "strategy": ("experience.strategy",),
        "surprises": ("experience.surprise",),
        "root_causes": ("experience.root_cause",),
        "principles": ("value",),
    }
    assert {section.name: section.query for section in recipe.sections} == {
        "failures": "failures and issues in performance",
        "strategy": "outcomes using check-assumptions strategy",
        "surprises": "unexpected outcomes in performance",
        "root_causes": "why hypotheses fail in performance",
        "principles": "principles for performance using check-assumptions",
    }
    made = shop.agent.premortem("performance", "check-assumptions")
    asked = {one.path.split("/")[1] for one in made.decisions}
    assert asked == {"experience", "value"}
    vectors = made.receipt["section_vectors"]
    assert isinstance(vectors, dict)
    assert set(vectors) == {section.query for section in recipe.sections}


def test_functional_10_all_fields_and_metadata_are_there(shop: Quire) -> None:
    page = shop.agent.assemble_context(
        CLOCK + " and what changed in the session cache", max_tokens=4000
    )
    keys = {item.source: set(item.metadata) for item in page.items}
    assert keys == {
        "memory": {"id", "category", "importance", "created_at"},
        "code": {"file_path", "start_line", "end_line", "language", "qualified_name"},
        "document": {"id", "path", "start_line", "end_line"},
        "experience": {
            *("id", "domain", "strategy", "outcome_status", "confidence_tier", "iteration_count")
        },
        "value": {"id", "axis", "cluster_id", "cluster_size", "similarity_to_centroid"},
        "commit": {*("sha", "author", "timestamp", "files_changed", "insertions", "deletions")},
    }
    assert all(value is not None for item in page.items for value in item.metadata.values())
    memory = next(item for item in page.items if item.source == "memory")
    assert memory.metadata["importance"] in {share for _, _, share in MEMORIES}
    assert isinstance(page.markdown, str)
    assert page.limit_exceeded == 0
    assert page.receipt["tokens"] == page.token_count


def test_quality_1_tokens_are_counted_not_estimated(shop: Quire) -> None:
    for query in (QUERY, CLOCK, "charge a card"):
        for budget in (90, 200, 500, 1111, 2000):
            page = shop.agent.assemble_context(query, max_tokens=budget)
            assert page.token_count == count("o200k", page.markdown) <= budget


def test_quality_1_a_soft_budget_says_by_how_much_it_is_passed(shop: Quire) -> None:
    passed = 0
    for budget in range(100, 700, 60):
        page = shop.agent.assemble_context(QUERY, max_tokens=budget, hard=False)
        assert page.token_count == count("o200k", page.markdown)
        assert page.limit_exceeded == max(0, page.token_count - budget)
        passed += page.limit_exceeded > 0
        hard = shop.agent.assemble_context(QUERY, max_tokens=budget)
        assert hard.limit_exceeded == 0
        assert len(hard.items) <= len(page.items) + 2
    assert passed > 5
    assert (
        shop.agent.get_premortem_context("performance", max_tokens=120, hard=False).limit_exceeded
        > 0
    )


def test_quality_4_errors_say_what_to_do(shop: Quire) -> None:
    for ask, told in (
        (lambda: shop.agent.assemble_context(""), "say what the context is for"),
        (lambda: shop.agent.assemble_context(QUERY, limit=0), "limit: must be at least 1, not 0"),
        (lambda: shop.agent.assemble_context(QUERY, max_tokens=0), "budget: must be between 1 and"),
        (lambda: shop.agent.assemble_context(QUERY, "memories"), "a list of names"),
        (lambda: shop.agent.assemble_context(QUERY, model="gpt-99"), "gpt-99"),
        (lambda: shop.assemble(QUERY, types=["code"]), "such as 'agent'"),
        (lambda: shop.assemble(QUERY, recipe="premortem"), "quire premortem DOMAIN"),
        (lambda: shop.agent.get_premortem_context("data", limit=-1), "limit: must be at least 1"),
    ):
        with pytest.raises(errors.QuireError, match=told):
            ask()


def test_quality_7_what_is_public_says_what_it_is() -> None:
    for name in ("ContextItem", "FormattedContext", "InvalidContextTypeError"):
        assert getattr(package, name).__doc__
    for method in (
        AgentContexts.assemble_context,
        AgentContexts.get_premortem_context,
        AgentContexts.premortem,
        FeedbackLog.add,
    ):
        assert method.__doc__
        assert "return" in method.__annotations__


# --- the twins, the limit, the model -----------------------------------------------------------------


def test_the_asynchronous_twins_give_the_same(shop: Quire) -> None:
    async def both() -> tuple[FormattedContext, FormattedContext]:
        return await asyncio.gather(
            shop.agent.assemble_context_async(QUERY, ["code", "memories"], limit=3, max_tokens=700),
            shop.agent.get_premortem_context_async(
                "performance", "check-assumptions", max_tokens=700
            ),
        )

    page, premortem = asyncio.run(both())
    assert page == shop.agent.assemble_context(QUERY, ["code", "memories"], limit=3, max_tokens=700)
    assert premortem == shop.agent.get_premortem_context(
        "performance", "check-assumptions", max_tokens=700
    )
    with pytest.raises(InvalidContextTypeError):
        asyncio.run(shop.agent.assemble_context_async(QUERY, ["docs"]))


@pytest.mark.parametrize("limit", [1, 3, 7, 40])
def test_a_limit_holds_for_each_section_and_values_keep_to_five(shop: Quire, limit: int) -> None:
    made = shop.assemble(QUERY, recipe=AGENT, limit=limit, budget=100_000)
    told = [
        int(one.reason.rpartition("first ")[2].split()[0])
        for one in made.decisions
        if one.step == "rank"
    ]
    assert set(told) <= {limit, min(limit, 5)}
    for section in TYPES:
        items = [item for item in made.items if item.section == section]
        assert len(items) <= (min(limit, 5) if section == "values" else limit)


def test_other_models_count_otherwise(shop: Quire) -> None:
    page = shop.agent.assemble_context(QUERY, max_tokens=600, model="cl100k")
    assert page.token_count == count("cl100k", page.markdown) <= 600
    assert page.receipt["counter"] == "cl100k"


def test_what_a_caller_does_to_a_page_is_not_what_the_next_one_gets(shop: Quire) -> None:
    page = shop.agent.assemble_context(QUERY)
    before = page.markdown, [dict(item.metadata) for item in page.items]
    for item in page.items:
        with pytest.raises(TypeError):
            item.metadata["id"] = "forged"  # type: ignore[index]
        for value in item.metadata.values():
            if isinstance(value, list):
                with pytest.raises((TypeError, AttributeError)):
                    value.append("forged")
    again = shop.agent.assemble_context(QUERY)
    assert (again.markdown, [dict(item.metadata) for item in again.items]) == before


def test_only_current_memories_stand_on_a_page(wordy: Tree) -> None:
    with wordy.open() as quire:
        old = quire.memories.add("The login host is named heron.", at=1).value
        quire.memories.add("The login host is named crane.", at=2, supersedes=old.id)
        page = quire.agent.assemble_context("login host")
        assert [item.content.splitlines()[0] for item in page.items] == [
            "**Memory**: The login host is named crane."
        ]


def test_the_order_in_which_things_were_learned_leaves_no_trace(tmp_path: Path) -> None:
    told = []
    for name, step in (("one", 1), ("other", -1)):
        tree = Tree(tmp_path / name)
        tree.write("quire.toml", '[embed]\nprovider = "none"\n')
        with tree.open() as quire:
            gone = quire.memories.add("Gone tomorrow: login slow.", at=1).value
            for number, (text, category, importance) in [*enumerate(MEMORIES)][::step]:
                quire.memories.add(text, at=number, category=category, importance=importance)
            for number, told_of in [*enumerate(ATTEMPTS)][::step]:
                attempt(quire, told_of, number)
            quire.memories.forget(gone.id)
            told.append((quire.status().roots, quire.agent.assemble_context(QUERY)))
    assert told[0] == told[1]


def test_of_memories_that_contradict_each_other_the_newer_one_can_be_told(wordy: Tree) -> None:
    with wordy.open() as opened:
        for port, day in (("8080", "2024-03-01"), ("9090", "2025-06-12")):
            at = int(datetime.fromisoformat(f"{day}T08:00+00:00").timestamp())
            opened.memories.add(f"The gateway listens on port {port}.", at=at)
        page = opened.assemble("On which port does the gateway listen?", recipe="agent")
    for port, day in (("8080", "2024-03-01"), ("9090", "2025-06-12")):
        line = f"**Memory**: The gateway listens on port {port}.\n*Category: fact, Importance: "
        assert page.text.partition(line)[2].split("\n")[0].endswith(f"* ({day})")
