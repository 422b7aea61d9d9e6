"""Pages with sections keep what contexts promise: the same bytes, proofs, reasons, access."""

from __future__ import annotations

import copy
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import quire as package
from quire import AccessRule, Quire, receipts, tokens
from quire.core.types import Context
from quire.embed.local import LocalEmbedder
from quire.pipeline.recipe import load
from quire.retrieval import concurrent
from tests.conftest import TIME_LIMIT, Tree
from tests.pipeline.invariants import count
from tests.receipts.conftest import as_read
from tests.receipts.mutations import alterations
from tests.receipts.test_tampering import forged, noticed
from tests.recipes.digest import digest, pages, plain
from tests.recipes.misbehaving import impatient, misbehave, raises
from tests.recipes.world import ATTEMPTS, NOW, attempt, commit

COUNTER = tokens.open_counter("o200k")
QUERY = "why is login slow: session cache and connections"
ROOT = Path(__file__).parents[2]


# --- the same bytes -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["0", "7"])
def test_processes_and_hash_seeds(shop: Quire, kept_shop: Tree, seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.recipes.digest", str(kept_shop.root)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=TIME_LIMIT,
        env={
            **os.environ,
            "PYTHONHASHSEED": seed,
            "TZ": "Asia/Kathmandu",
            "PYTHONPATH": str(Path(package.__file__).parents[1]),
        },
    )
    assert done.stdout.strip() == digest(shop)


def test_whoever_answers_first_the_page_is_the_same(
    shop: Quire, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [plain(page) for page in pages(shop)]
    run = concurrent._TaskThread.run
    for seed in range(3):
        rng = random.Random(seed)

        def late(self: Any, rng: random.Random = rng) -> None:
            time.sleep(rng.random() / 30)
            run(self)

        monkeypatch.setattr(concurrent._TaskThread, "run", late)
        shop._contexts._items.clear()
        assert [plain(page) for page in pages(shop)] == expected


def test_many_threads_over_one_object(shop: Quire) -> None:
    expected = [plain(page) for page in pages(shop)]
    shop._contexts._items.clear()
    found: dict[int, list[str]] = {}

    def work(number: int) -> None:
        found[number] = [plain(page) for page in pages(shop)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [*found.values()] == [expected] * 3


def test_pages_are_worth_comparing(shop: Quire) -> None:
    made = [*pages(shop)]
    assert len({page.text for page in made}) >= len(made) - 4
    for page in made:
        assert page.tokens == count("o200k", page.text)
        assert page.limit_exceeded or page.tokens <= page.available


# --- receipts -----------------------------------------------------------------------------------


def test_receipts_hold_and_are_replayed(shop: Quire) -> None:
    for page in pages(shop):
        receipt = as_read(page.receipt)
        assert receipts.verify(receipt, COUNTER, context=page.text).problems == ()
        assert shop.verify(receipt, page.text).problems == ()
        again, differing = shop.replay(receipt)
        assert differing == []
        assert plain(again) == plain(page)


@pytest.fixture
def page(shop: Quire) -> Context:
    """A small page with a failure in it: every kind of thing that a receipt can say."""
    misbehave(shop, commit=raises)
    made = shop.assemble(QUERY, recipe=impatient(timeout=30_000), limit=2, budget=420)
    assert made.failed
    assert {item.section for item in made.items} > {"memories", "experiences"}
    return made


def test_a_receipt_altered_in_any_one_field_is_caught(page: Context) -> None:
    receipt = as_read(page.receipt)
    tried = 0
    for path, other in alterations({**receipt, "created": "2026-01-31"}):
        if not isinstance(other, dict) or other == receipt:
            continue
        tried += 1
        if tried % 7 and not {"section", "sections", "section_vectors", "failed"} & {*path}:
            continue  # what every receipt has is altered elsewhere
        assert receipts.verify(other, COUNTER), f"{path} was altered unseen"
    assert tried > 1500


def test_a_receipt_forged_with_its_hashes_is_caught_or_is_true(shop: Quire, page: Context) -> None:
    receipt = as_read(page.receipt)
    by_checking = by_running = 0
    wanted = ("recipe", "failed", "sources", "section_vectors", "request")
    chosen = [
        (path, other)
        for path, other in alterations(receipt)
        if isinstance(other, dict) and path and path[0] in wanted and "chunk" not in path
    ]
    for path, other in chosen[::7]:
        false = forged(other)
        if false == receipt or "query_vector" in path:
            continue
        found = noticed(shop, false, page.text)
        assert found, f"{path} was forged unseen"
        by_checking += found == "by checking"
        by_running += found == "by running"
    assert by_checking > 30
    assert by_running > 5


def test_a_forged_section_or_failure_is_noticed(shop: Quire, page: Context) -> None:
    receipt = as_read(page.receipt)
    changes: list[Callable[[Any], Any]] = [
        lambda other: other["failed"].clear(),
        lambda other: other["failed"].append({"source": "code", "reason": "no"}),
        lambda other: other["sources"][0].update(section="code"),
        lambda other: other["recipe"]["sections"][0].update(weight=9),
        lambda other: other["recipe"]["sections"].pop(),
        lambda other: other["recipe"]["render"].update(title="Forged"),
        lambda other: other["section_vectors"].update(x="00"),
    ]
    for change in changes:
        other = copy.deepcopy(receipt)
        change(other)
        false = forged(other)
        assert shop.verify(false, page.text) or shop.replay(false)[1]


# --- access -------------------------------------------------------------------------------------


@pytest.fixture
def shared(own_shop: Tree) -> Iterator[Quire]:
    """A shop that bob may read but for `secret/**`."""
    own_shop.write("secret/plan.py", "def login_plan():\n    return 'session'\n")
    with own_shop.open() as quire:
        quire.access.set_rules([AccessRule("secret/**", ("alice",))])
        quire.memories.add("Bob's own login note.", at=NOW, viewer="bob")
        quire.index()
        yield quire


def everything(quire: Quire, viewer: str) -> list[str]:
    """Give all that a viewer's pages say, to the byte."""
    found = [
        quire.assemble(QUERY, recipe="agent", viewer=viewer),
        quire.assemble("login plan", recipe="agent", budget=500, viewer=viewer),
        quire.agent.premortem("performance", "check-assumptions", viewer=viewer),
        quire.agent.premortem("data", viewer=viewer),
    ]
    return [*map(plain, found), str(quire.feedback.list(viewer=viewer))]


def test_what_a_viewer_may_not_read_changes_no_byte_of_their_pages(
    shared: Quire, own_shop: Tree
) -> None:
    before = everything(shared, "bob")
    assert "secret" not in "".join(before)
    receipt = shared.assemble(QUERY, recipe="agent", viewer="alice").receipt
    for number in range(3):
        shared.memories.add(
            f"Alice's login secret {number}.", at=NOW + 1, viewer="alice", importance=1
        )
    for number, told in enumerate(ATTEMPTS[:4]):
        hidden = {**told, "goal": f"{told['goal']} in secret"}
        attempt(shared, hidden, NOW + number, viewer="alice")
    (useful, *_) = [source["record_id"] for source in receipt["sources"]]  # type: ignore[attr-defined]
    shared.feedback.add(receipt, at=NOW, useful=[useful], viewer="alice")
    shared.feedback.add(
        shared.assemble(QUERY, recipe="agent").receipt, at=NOW, useless=[useful]
    )  # the owner's
    files = {"secret/login.py": "def login():\n    return 'slow session cache'\n"}
    commit(own_shop, files, "Login: slow session cache\n\nWhy is login slow.", NOW + 9)
    shared.index()
    shared.principles.refresh(viewer="alice")
    shared.index()
    assert everything(shared, "bob") == before
    assert everything(shared, "alice") != before
    owner = shared.assemble(QUERY, recipe="agent", budget=9000, floor=0)
    assert "Alice's login secret" in owner.text
    assert "slow session cache" in owner.text


# --- reasons ------------------------------------------------------------------------------------


def test_every_candidate_has_one_fate_and_every_excluded_one_one_reason(shop: Quire) -> None:
    steps = set()
    for page in [*pages(shop), shop.assemble(QUERY, recipe="agent", limit=2, budget=400)]:
        names = [one.chunk_id for one in page.decisions]
        assert len(set(names)) == len(names)
        inside = {source.chunk_id for source in page.sources}
        for one in page.decisions:
            assert (one.chunk_id in inside) == (one.verdict != "dropped")
            assert one.reason
            steps |= {one.step} if one.verdict == "dropped" else set()
        assert inside <= set(names)
        assert page.omitted == sum(one.step == "pack" for one in page.decisions)
    assert steps == {"rank", "relevance", "dedup", "pack"}


def relaxed(shop: Quire, path: str, **options: Any) -> dict[str, float | str]:
    told = shop.why_not(QUERY, path, recipe="agent", **options)[0]  # the axis `full` comes first
    assert not told.inside
    assert told.checked, told
    return {one.setting: one.value for one in told.relaxed}


def test_why_not_names_a_budget_that_lets_it_in(shop: Quire) -> None:
    page = shop.assemble(QUERY, recipe="agent", budget=308)
    lost = [one for one in page.decisions if one.step == "pack"]
    assert len(lost) > 5
    for one in lost[::4]:
        found = relaxed(shop, one.path, budget=308)
        assert set(found) == {"budget.total"}
        more = int(found["budget.total"])
        assert one.path in {
            source.path for source in shop.assemble(QUERY, recipe="agent", budget=more).sources
        }


def test_why_not_names_the_number_of_items_that_lets_it_in(shop: Quire) -> None:
    page = shop.assemble(QUERY, recipe="agent", limit=1, floor=0)
    lost = [one for one in page.decisions if one.step == "rank" and "/memory/" in one.path]
    assert lost[0].reason == "ranked 2 for memories, only the first 1 go on"
    found = relaxed(shop, lost[1].path, limit=1, floor=0)
    assert found == {"sections.memories.k": 3}


def test_why_not_names_the_rule_for_one_path(shop: Quire) -> None:
    query = "charge a card at most ten times"
    agent = load("agent")
    dropping = replace(agent, fit=replace(agent.fit, same_path="drop"))
    (told,) = shop.why_not(query, "src/payments.py", recipe=dropping, types=["code", "commits"])
    assert told.step == "dedup"
    assert [(one.setting, one.value) for one in told.relaxed] == [("fit.same_path", "keep")]
    assert told.checked


def test_why_not_of_what_a_value_says_has_no_setting(shop: Quire) -> None:
    query = "give tests a clock of their own"
    page = shop.assemble(query, recipe="agent")
    (lost, *_) = [
        one for one in page.decisions if one.step == "dedup" and "/experience/testing" in one.path
    ]
    told = next(
        one for one in shop.why_not(query, lost.path, recipe="agent") if one.step == "dedup"
    )
    assert not told.checked
    assert "tells of the same" in told.reason


def test_the_model_is_the_real_one(shop: Quire, loaded: LocalEmbedder) -> None:
    assert shop.status().model == loaded.model
    assert shop.status().missing_vectors == 0
