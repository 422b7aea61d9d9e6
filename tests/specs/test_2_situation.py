"""A page has the rules of a situation, and only what the viewer may read.

The tests that the specification of context assembly names are here by their names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.core.types import DATA_NOTICE
from quire.errors import InputError
from tests.conftest import trust
from tests.serving import VARIABLE, Endpoint, Reply, served

ROOT = """\
metadata: {name: Shop, type: project}
intent_context: {business_goal: Sell books, intent_type: commerce}
behavior_rules:
  - {trigger: on any change, action: write a test}
injection_rules:
  - name: money
    condition: 'path matches "pay/**"'
    inject: [guides/money, guides/absent]
  - name: complexity
    condition: task is complex
    inject: [guides/complexity]
"""
PAY = """\
metadata: {name: Pay, type: module}
intent_context: {business_goal: Take payments}
"""
MONEY = """\
---
metadata: {name: Money, type: guide}
behavior_rules:
  - {trigger: on refund, action: log it in the ledger}
---
## Active Contexts

Round half to even. {query} stays as it is.
"""
COMPLEXITY = """\
metadata: {name: Complexity, type: guide}
intent_context: {business_goal: Keep it simple}
"""
REFUND = {"tool": "edit", "path": "pay/refund.py", "intent": "refund a customer", "time": 7}


def answering(*, applies: bool = True) -> Reply:
    content = json.dumps({"verdicts": [{"number": 1, "applies": applies}]})
    message = {"role": "assistant", "content": content}
    return Reply({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


@pytest.fixture
def judge() -> Iterator[Endpoint]:
    with served(answering()) as server:
        yield server


def open_shop(folder: Path, *, judge: Endpoint | None = None, access: str = "") -> quire.Quire:
    """Create a project with rules, and index it without embeddings."""
    files = {
        "shop.context.yaml": ROOT,
        "pay/pay.context.yaml": PAY,
        "pay/refund.py": "def refund(): ...\n",
        "guides/money.context.md": MONEY,
        "guides/complexity.context.yaml": COMPLEXITY,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    settings = '[judge]\nprovider = "none"\n'
    if judge is not None:
        settings = (
            f'[judge]\nprovider = "llm"\nurl = "{judge.url}"\nmodel = "m"\nkey_env = "{VARIABLE}"\n'
        )
    (folder / "quire.toml").write_text(f'[embed]\nprovider = "none"\n{settings}{access}')
    trust(folder)
    opened = quire.open(folder)
    opened.index()
    return opened


def test_rule_evaluation(tmp_path: Path, judge: Endpoint) -> None:
    with open_shop(tmp_path, judge=judge) as shop:
        text = shop.rules.situate(REFUND, "pay/refund.py").text
        assert "### Money (guide)\n" in text
        assert "- Adaptations: brought in by money\n" in text
        assert "### Complexity (guide)\n" in text
        assert "- Rules Applied: 2 of 2" in text
        assert "task is complex" in json.dumps(judge.questions)
        judge.usual = answering(applies=False)
        elsewhere = shop.rules.situate({"path": "docs/a.md", "task": "fix a typo"}, "docs").text
        assert "Money" not in elsewhere
        assert "Complexity" not in elsewhere
        assert "- Rules Applied: 0 of 2" in elsewhere


def test_context_gathering(tmp_path: Path, judge: Endpoint) -> None:
    with open_shop(tmp_path, judge=judge) as shop:
        context = shop.rules.situate(REFUND, "pay/refund.py")
    names = [line for line in context.text.splitlines() if line.startswith("### ")]
    # The current context, its parent with rules, then what was injected: rules first.
    assert names == [
        "### Pay (module)",
        "### Shop (project)",
        "### Money (guide)",
        "### Complexity (guide)",
    ]
    assert "- Not Found: guides/absent, injected by money" in context.text
    assert any("guides/absent" in note for note in context.notes)
    assert {source.path for source in context.sources} == {
        "pay/pay.context.yaml",
        "shop.context.yaml",
        "guides/money.context.md",
        "guides/complexity.context.yaml",
    }


def test_deduplication(tmp_path: Path) -> None:
    with open_shop(tmp_path) as shop:
        (tmp_path / "pay" / "again.context.yaml").write_text(
            PAY + "extends: /shop\ninjection_rules: [{name: twice, inject: [../guides/money]}]\n"
        )
        shop.index()
        text = shop.rules.situate(REFUND, "pay/refund.py").text
    assert text.count("### Money") == 1
    assert text.count("### Shop") == 1
    assert "- Adaptations: brought in by money, twice\n" in text or (
        "- Adaptations: brought in by twice, money\n" in text
    )


def test_token_counting_and_optimisation(tmp_path: Path) -> None:
    with open_shop(tmp_path) as shop:
        whole = shop.rules.situate(REFUND, "pay/refund.py")
        assert whole.tokens <= 4000
        for budget in range(110, whole.tokens + 1, 7):
            context = shop.rules.situate(REFUND, "pay/refund.py", budget=budget)
            assert context.tokens <= budget
            heads = [line for line in context.text.splitlines() if line.startswith("### ")]
            # The current context is the last to go.
            assert not heads or heads[0] == "### Pay (module)"


def test_essentials_are_kept_when_the_whole_does_not_fit(tmp_path: Path) -> None:
    with open_shop(tmp_path) as shop:
        prose = "Round half to even. " * 40
        (tmp_path / "guides" / "money.context.md").write_text(f"{MONEY}\n{prose}\n")
        shop.index()
        whole = shop.rules.situate(REFUND, "pay/refund.py")
        by_rules = shop.rules.situate(REFUND, "pay/refund.py", budget=200)
        named = shop.rules.situate(REFUND, "pay/refund.py", budget=180)
    assert prose.strip() in whole.text
    assert "  - on refund: log it in the ledger\n" in by_rules.text
    assert prose.strip() not in by_rules.text
    assert by_rules.notes[-1] == (
        "shortened for lack of room: guides/money.context.md; raise `budget`"
    )
    assert (
        "brought in by money\n\n*(truncated, 0 of 1 rules, guides/money.context.md)*" in named.text
    )
    assert "log it in the ledger" not in named.text
    reasons = [decision.reason for decision in named.decisions if "money" in decision.path]
    assert reasons == ["only named: all of it are 248 tokens"]


GUIDE = """\
metadata: {{name: {name}, type: guide}}
behavior_rules:
{rules}
text: |
  {opening}

  {prose}
"""


def write_guide(folder: Path, name: str, *, rules: int, prose: str) -> None:
    """Write a guide with an opening that all guides share, longer than a chunk."""
    lines = "\n".join(f"  - {{trigger: {name} {at}, action: do {at}}}" for at in range(rules))
    opening = "\n  ".join(f"These guides are for all of us, sentence {at}." for at in range(400))
    text = GUIDE.format(name=name, rules=lines, opening=opening, prose=prose)
    (folder / "guides" / f"{name}.context.yaml").write_text(text)


def open_guides(folder: Path, **guides: tuple[int, str]) -> quire.Quire:
    """Open a project whose root injects some guides, each with some rules and some prose."""
    shop = open_shop(folder)
    for name, (rules, prose) in guides.items():
        write_guide(folder, name, rules=rules, prose=prose)
    inject = ", ".join(f"guides/{name}" for name in guides)
    (folder / "shop.context.yaml").write_text(
        f"injection_rules: [{{name: always, inject: [{inject}]}}]\n"
    )
    shop.index()
    return shop


def test_guides_with_the_same_opening_are_two(tmp_path: Path) -> None:
    with open_shop(tmp_path) as shop:
        opening = "\n\n".join(f"Sentence {at} stands in both of them." for at in range(200))
        for name in ("one", "two"):
            (tmp_path / "guides" / f"{name}.md").write_text(
                f"# Guide\n\n{opening}\n\nUse {name}.\n"
            )
        (tmp_path / "shop.context.yaml").write_text(
            "injection_rules: [{name: always, inject: [guides/one.md, guides/two.md]}]\n"
        )
        shop.index()
        context = shop.rules.situate(REFUND)
    assert "Use one." in context.text
    assert "Use two." in context.text


def test_a_guide_is_shortened_before_it_is_dropped(tmp_path: Path) -> None:
    with open_guides(tmp_path, wide=(3, "Wide is last."), deep=(40, "Deep is last.")) as shop:
        context = shop.rules.situate(REFUND, budget=1500)
        few = shop.rules.situate(REFUND, budget=400)
        for page in (context, few):
            assert shop.verify(page.receipt, page.text).problems == ()
            assert shop.replay(page.receipt)[1] == []
    # All rules come before any prose, and what is left is shared.
    assert context.text.count(": do ") == 43
    assert context.text.count("These guides are for all of us, sentence 3.") == 2
    assert context.text.count("...\n\n*(truncated, guides/") == 2
    assert "is last." not in context.text
    assert context.truncated
    assert context.notes[-1] == (
        "shortened for lack of room: guides/deep.context.yaml, guides/wide.context.yaml; "
        "raise `budget`"
    )
    # Then rules are cut, the last ones first, and their number is said.
    assert few.tokens <= 400
    shown = few.text.count("  - deep ")
    assert 0 < shown < 40
    assert f"*(truncated, {shown} of 40 rules, guides/deep.context.yaml)*" in few.text
    assert few.text.count("  - wide ") == 3


def test_formatting(tmp_path: Path) -> None:
    with open_shop(tmp_path) as shop:
        text = shop.rules.situate(REFUND, "pay/refund.py").text
    assert text.startswith('## Current Situation\n```json\n{\n  "intent": "refund a customer"')
    assert '"time"' not in text
    assert "  - on refund: log it in the ledger" in text
    # The prose of a file never becomes a heading of the page, and no placeholder in it is filled.
    assert text.count("\n## Active Contexts\n") == 1
    assert "\\## Active Contexts" in text
    assert "{query} stays as it is." in text
    assert text.endswith("- Not Found: guides/absent, injected by money")


def test_a_replay_asks_nobody(tmp_path: Path, judge: Endpoint) -> None:
    with open_shop(tmp_path, judge=judge) as shop:
        context = shop.rules.situate(REFUND, "pay/refund.py")
        asked = len(judge.questions)
        assert asked == 1
        assert context.receipt["judge"]
        (verdict,) = context.receipt["verdicts"].values()  # type: ignore[attr-defined]
        assert verdict["applies"] is True
    judge.over.set()
    judge.shutdown()
    with quire.open(tmp_path) as again:
        replayed, differing = again.replay(context.receipt)
        assert differing == []
        assert replayed.text == context.text
        assert again.verify(context.receipt, context.text).problems == ()
    assert len(judge.questions) == asked


def test_a_verdict_does_not_depend_on_the_time(tmp_path: Path, judge: Endpoint) -> None:
    with open_shop(tmp_path, judge=judge) as shop:
        first = shop.rules.situate(REFUND, "pay")
        later = shop.rules.situate({**REFUND, "time": 8}, "pay")
        assert len(judge.questions) == 1
        assert first.text == later.text


def test_where_no_judge_is_set_up_the_reader_can_judge(tmp_path: Path) -> None:
    """Nothing has failed: the page says when the rule holds, and what it would bring in."""
    with open_shop(tmp_path) as shop:
        context = shop.rules.situate(REFUND, "pay/refund.py")
        assert [failure.source for failure in context.failed] == ["judge"]
        assert "**Missing**" not in context.text
        (line,) = [line for line in context.text.splitlines() if "Not Judged" in line]
        assert line == "- Not Judged: complexity, for when task is complex (guides/complexity)"
        assert shop.verify(context.receipt, context.text).problems == ()
        assert shop.replay(context.receipt)[1] == []


@pytest.mark.parametrize("reply", [Reply({}, 500), Reply(b"no json"), Reply({"choices": []})])
def test_a_failed_judge_is_told_and_never_kept(tmp_path: Path, reply: Reply) -> None:
    with served(reply) as judge, open_shop(tmp_path, judge=judge) as shop:
        context = shop.rules.situate(REFUND, "pay/refund.py")
        assert "Complexity" not in context.text.replace("Not Judged: complexity", "")
        assert "- Not Judged: complexity, for when " in context.text
        assert [failure.source for failure in context.failed] == ["judge"]
        assert "> **Missing**: judge: " in context.text
        assert context.receipt["verdicts"] == {}
        replayed, differing = shop.replay(context.receipt)
        assert differing == []
        assert replayed.text == context.text
        before = len(judge.questions)
        shop.rules.situate(REFUND, "pay/refund.py")
        assert len(judge.questions) > before


def test_no_rule_reaches_a_viewer_who_may_not_read_it(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    hidden = '[access]\n"guides/**" = ["bob"]\n'
    with open_shop(one, access=hidden) as shop, open_shop(other, access=hidden) as without:
        for name in ("money.context.md", "complexity.context.yaml"):
            (other / "guides" / name).unlink()
        without.index()
        alice: dict[str, Any] = {"viewer": "alice"}
        seen = shop.rules.situate(REFUND, "pay/refund.py", **alice)
        bare = without.rules.situate(REFUND, "pay/refund.py", **alice)
        assert seen.text == bare.text
        assert seen.notes == bare.notes
        assert json.dumps(seen.receipt) == json.dumps(bare.receipt)
        assert "### Money" in shop.rules.situate(REFUND, "pay/refund.py", viewer="bob").text


def test_rules_may_inject_any_document(tmp_path: Path) -> None:
    with open_shop(tmp_path) as shop:
        (tmp_path / "guides" / "plain.md").write_text("# Plain words\n\nNo rules in here.\n")
        (tmp_path / "pay" / "pay.context.yaml").write_text(
            PAY + "injection_rules: [{name: plain, inject: [/guides/plain.md]}]\n"
        )
        shop.index()
        text = shop.rules.situate(REFUND, "pay/refund.py").text
    assert "### Plain words (guides/plain.md)\n" in text
    assert "No rules in here." in text


def test_a_base_that_does_not_exist(tmp_path: Path) -> None:
    with (
        open_shop(tmp_path) as shop,
        pytest.raises(InputError, match=r"'nope\.context\.yaml' is not a context file"),
    ):
        shop.rules.situate(REFUND, "nope.context.yaml")


@pytest.mark.parametrize(
    "form", ["pay", "./pay", "pay/", "guides/../pay/refund.py", "{}/pay", "{}/pay/"]
)
def test_a_place_may_be_written_in_any_way(tmp_path: Path, form: str) -> None:
    with open_shop(tmp_path) as shop:
        path = form.format(tmp_path)
        context = shop.rules.situate({**REFUND, "path": f"{tmp_path}/pay/refund.py"}, path)
        assert "### Pay (module)" in context.text
        assert "### Money (guide)" in context.text
        assert str(tmp_path) not in json.dumps(context.receipt)
        assert shop.replay(context.receipt)[1] == []
        outcomes = shop.rules.test({**REFUND, "path": "./pay/refund.py"}, tmp_path / "pay")
        assert [item.rule.name for item in outcomes.evaluation.outcomes if item.applies] == [
            "money"
        ]


@pytest.mark.parametrize("place", ["/elsewhere/pay", "../pay", "pay/../../pay", "{}-other/pay"])
def test_a_place_outside_of_the_project_is_refused(tmp_path: Path, place: str) -> None:
    with open_shop(tmp_path) as shop:
        with pytest.raises(InputError, match="is outside of the project") as raised:
            shop.rules.situate(REFUND, place.format(tmp_path))
        assert raised.value.field == "base"


def test_what_is_not_said_takes_no_room(tmp_path: Path) -> None:
    with open_shop(tmp_path) as shop:
        (tmp_path / "AGENTS.md").write_text("# House rules #\n\nUse tabs.\n")
        shop.index()
        params = {"intent": "refund a customer", "note": "", "count": 0, "more": {"of": None}}
        text = shop.rules.situate({**REFUND, "params": params, "branch": ""}, "pay").text
    situation = json.loads(text.partition("```json\n")[2].partition("\n```")[0])
    assert situation == {
        "tool": "edit",
        "path": "pay/refund.py",
        "intent": "refund a customer",
        "params": {"count": 0},
    }
    assert "N/A" not in text
    assert "### House rules (AGENTS.md)\n\nUse tabs." in text
    assert text.count("House rules") == 1


@pytest.mark.parametrize(
    ("situation", "message"),
    [
        ({"x": object()}, "plain data"),
        ({1: 2}, "keys must be texts"),
        ({"x": float("nan")}, "not a JSON number"),
    ],
)
def test_a_value_that_is_not_a_situation_is_refused(
    tmp_path: Path, situation: dict[Any, Any], message: str
) -> None:
    with open_shop(tmp_path) as shop, pytest.raises(InputError, match=message):
        shop.rules.situate(situation)


def test_complex_assembly_is_the_same_in_every_run(tmp_path: Path) -> None:
    with open_shop(tmp_path) as shop:
        shop.memories.add("Refunds above 100 need a second pair of eyes", at=5)
        first = shop.rules.situate(REFUND, "pay/refund.py")
    with quire.open(tmp_path) as again:
        second = again.rules.situate(REFUND, "pay/refund.py")
    assert first == second
    assert f"## Relevant History\n\n{DATA_NOTICE}\n\n**Memory**: Refunds above 100" in first.text
