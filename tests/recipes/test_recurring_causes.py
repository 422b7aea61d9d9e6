"""A root cause that recurs is shown with its count, on every page that tells experiences."""

from __future__ import annotations

import pytest

from quire import Quire
from tests.conftest import Tree

CAUSE = "The clock of the container drifts."
CASES = {
    "Login fails on Monday": CAUSE,
    "Webhook signatures are refused": "the clock of  the container drifts.",
    "Cache entries expire too early": CAUSE,
    "Deploys hang": "The registry throttles anonymous pulls.",
}


@pytest.fixture
def learned(tree: Tree) -> Quire:
    opened = tree.open()
    for at, (goal, cause) in enumerate(CASES.items()):
        started = opened.experiences.start(
            goal, domain="debugging", hypothesis="It is this.", at=at
        )
        opened.experiences.resolve(
            started.value.id,
            "falsified",
            result="no change",
            root_cause=cause,
            lesson=f"Look at time before logic, case {at}.",
            at=at + 10,
        )
    return opened


def test_a_premortem_counts_root_causes(learned: Quire) -> None:
    page = learned.agent.premortem("debugging").text
    causes = [line for line in page.splitlines() if line.startswith("- **Root cause**")]
    assert sorted(causes) == [
        "- **Root cause** (3 times): The clock of the container drifts.",
        "- **Root cause** (3 times): The clock of the container drifts.",
        "- **Root cause** (3 times): the clock of  the container drifts.",
        "- **Root cause**: The registry throttles anonymous pulls.",
    ]


@pytest.mark.parametrize("recipe", ["agent", "situation"])
def test_other_pages_count_them_too(learned: Quire, recipe: str) -> None:
    context = learned.assemble("cache entries expire, clock of the container", recipe=recipe)
    assert f"- **Root cause** (3 times): {CAUSE}" in context.text
    assert learned.verify(dict(context.receipt), context.text).binds


def test_only_what_the_viewer_may_read_counts(learned: Quire) -> None:
    started = learned.experiences.start(
        "Mine", domain="debugging", hypothesis="It.", viewer="ann", at=50
    )
    learned.experiences.resolve(
        started.value.id, "falsified", root_cause=CAUSE, viewer="ann", at=60
    )
    assert "(4 times)" in learned.agent.premortem("debugging", viewer="ann").text
    assert "(3 times)" in learned.agent.premortem("debugging", viewer="bob").text


def test_what_verify_could_not_compare_is_not_told_as_a_problem(learned: Quire) -> None:
    context = learned.assemble("cache entries expire, clock of the container", recipe="agent")
    signature = learned.sign(context.receipt)
    started = learned.experiences.start("Again", domain="debugging", hypothesis="It.", at=50)
    learned.experiences.resolve(started.value.id, "falsified", root_cause=CAUSE, at=60)
    verified = learned.verify(dict(context.receipt), context.text, signature=signature)
    assert (verified.problems, verified.binds) == ((), True)
    assert not any("does not follow" in one for one in verified.not_checked)
    assert any("the signature vouches for it" in one for one in verified.not_checked)
    altered = learned.verify(dict(context.receipt), context.text + "x", signature=signature)
    assert altered.problems[0] == "the context was altered: its hash does not match"
