"""A page shows what `quire rules list` lists: inheritance is resolved in both."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire.core.types import BehaviorRule, ContextFile, InjectionRule
from quire.rules import NoJudge, evaluate, resolve_chain

FOLDERS = ("", "a", "a/b", "c")
NAMES = ("one", "two")
TRIGGERS = ("on change", "on refund", "on release")


def context(path: str, goal: str, intent: str, rules: dict[str, str], extends: str | None) -> str:
    lines = [f"metadata: {{name: {path}}}"]
    if goal or intent:
        lines.append("intent_context:")
        lines += [f"  business_goal: {goal}"] if goal else []
        lines += [f"  intent_type: {intent}"] if intent else []
    if rules:
        lines.append("behavior_rules:")
        lines += [f"  - {{trigger: {key}, action: {value}}}" for key, value in rules.items()]
    lines += [f"extends: {extends}"] if extends else []
    return "\n".join(lines) + "\n"


files = st.dictionaries(
    st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)),
    st.tuples(
        st.sampled_from(("", "sell", "ship")),
        st.sampled_from(("", "operation", "research")),
        st.dictionaries(st.sampled_from(TRIGGERS), st.sampled_from(("do x", "do y")), max_size=3),
        st.sampled_from((None, "/one", "/a/two", "/c/one")),
    ),
    max_size=6,
)


@settings(max_examples=40)
@given(files, st.sampled_from(("", "a", "a/b", "a/b/x.py", "c")))
def test_the_page_agrees_with_the_list(
    table: dict[tuple[str, str], tuple[str, str, dict[str, str], str | None]], place: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "quire.toml").write_text('[embed]\nprovider = "none"\n[judge]\nprovider = "none"\n')
        for (where, name), values in table.items():
            (root / where).mkdir(parents=True, exist_ok=True)
            path = f"{where}/{name}" if where else name
            (root / f"{path}.context.yaml").write_text(context(path, *values))
        with quire.open(root) as q:
            q.index()
            listed = q.rules.list(root / place).merged
            text = q.rules.situate({"tool": "edit"}, place).text
    shown = re.findall(r"^  - (.+): (.+)$", text, re.MULTILINE)
    assert sorted(shown) == sorted((rule.trigger, rule.action) for rule, _ in listed.behavior_rules)
    for label, value in (
        ("Business Goal", listed.business_goal),
        ("Intent Type", listed.intent_type),
    ):
        first = re.search(rf"^- {label}: (\w+)", text, re.MULTILINE)
        assert (None if first is None else first[1]) == (None if value is None else value.value)
    assert "N/A" not in text


def behaves(path: str, extends: str | None = None, **rules: str) -> ContextFile:
    return ContextFile(
        path,
        path,
        behavior_rules=tuple(BehaviorRule(key, value) for key, value in rules.items()),
        extends=extends,
    )


def test_an_injected_context_replaces_rules_of_what_it_extends() -> None:
    guide = behaves("guide.context.yaml", extends="base", change="test", ship="tag")
    base = behaves("base.context.yaml", change="nothing", merge="squash")
    root = ContextFile(
        "root.context.yaml", "Root", injection_rules=(InjectionRule("r", ("guide",)),)
    )
    contexts = {file.path: file for file in (guide, base, root)}
    chain = resolve_chain("root.context.yaml", contexts)
    active = evaluate(chain, contexts, {}, NoJudge("none")).contexts
    rules = {
        item.context.path: [rule.action for rule in item.context.behavior_rules] for item in active
    }
    assert rules == {
        "root.context.yaml": [],
        "guide.context.yaml": ["test", "tag"],
        "base.context.yaml": ["squash"],
    }


def test_a_rule_stays_where_one_of_two_extending_contexts_keeps_it() -> None:
    one = behaves("one.context.yaml", extends="base", change="test")
    two = behaves("two.context.yaml", extends="base", ship="tag")
    base = behaves("base.context.yaml", change="nothing")
    root = ContextFile(
        "root.context.yaml", "Root", injection_rules=(InjectionRule("r", ("one", "two")),)
    )
    contexts = {file.path: file for file in (one, two, base, root)}
    chain = resolve_chain("root.context.yaml", contexts)
    active = evaluate(chain, contexts, {}, NoJudge("none")).contexts
    assert [item.context.behavior_rules for item in active if item.context.path == base.path] == [
        base.behavior_rules
    ]
