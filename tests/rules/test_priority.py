"""Rules apply in a situation, inject contexts, and give them priorities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import (
    APPLY,
    EXPRESSION,
    SENTENCE,
    SKIP,
    BehaviorRule,
    Condition,
    ContextFile,
    InjectionRule,
    RuleEvaluation,
    Situation,
    Verdict,
)
from quire.errors import EndpointError
from quire.rules import NoJudge, evaluate, resolve_chain
from quire.rules.priority import compute_priority
from quire.rules.verdicts import judge_sentences, verdict_key


class Scripted:
    """A judge that says what it is told to, and remembers what it was asked."""

    def __init__(
        self, says: Mapping[str, bool | None] | None = None, name: str = "scripted"
    ) -> None:
        self.says = says or {}
        self.name = name
        self.asked: list[tuple[list[str], Situation]] = []

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        self.asked.append((list(sentences), situation))
        return [Verdict(self.says.get(one), f"by {self.name}") for one in sentences]

    def close(self) -> None:
        pass


class Broken(Scripted):
    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:  # noqa: ARG002  # the contract's
        raise EndpointError("http://host/v1: gone")


class Short(Scripted):
    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:  # noqa: ARG002  # the contract's
        return [Verdict(applies=True)]


def says(text: str) -> Condition:
    return Condition(text, SENTENCE)


def expr(text: str) -> Condition:
    return Condition(text, EXPRESSION)


def rule(name: str, *inject: str, when: Condition | None = None, **more: Any) -> InjectionRule:
    return InjectionRule(name, inject, when, **more)


def file(path: str, *rules: InjectionRule, **said: Any) -> ContextFile:
    return ContextFile(path, path, injection_rules=rules, **said)


def files(*contexts: ContextFile) -> dict[str, ContextFile]:
    return {one.path: one for one in contexts}


def ruled(
    contexts: dict[str, ContextFile], situation: Situation, judge: Any = None, **more: Any
) -> RuleEvaluation:
    found = resolve_chain("", contexts)
    return evaluate(found, contexts, situation, judge or NoJudge("there is none"), **more)


def applied(found: RuleEvaluation) -> list[str]:
    return [one.rule.name for one in found.outcomes if one.applies]


# --- rule evaluation ---------------------------------------------------------------------------


def test_should_evaluate_injection_rules() -> None:
    contexts = files(
        file(
            "test.context.md",
            rule("complexity_check", "helpers/complexity-guide", when=says("task is complex")),
        ),
        file("helpers/complexity-guide.context.md", text="Take small steps."),
    )
    judge = Scripted({"task is complex": True})
    found = ruled(contexts, {"task": "Build distributed system"}, judge)
    assert applied(found) == ["complexity_check"]
    assert judge.asked == [(["task is complex"], {"task": "Build distributed system"})]
    assert [one.context.path for one in found.contexts] == [
        "test.context.md",
        "helpers/complexity-guide.context.md",
    ]


def test_each_ruling_says_why() -> None:
    contexts = files(
        file(
            "a.context.md",
            rule("always"),
            rule("true", when=expr("tool == 'bash'")),
            rule("false", when=expr("tool == 'edit'")),
            rule("yes", when=says("it rains")),
            rule("no", when=says("it snows")),
            rule("open", when=says("unknown")),
            rule("guarded", when=says("unknown"), on_error=APPLY),
        )
    )
    found = ruled(contexts, {"tool": "bash"}, Scripted({"it rains": True, "it snows": False}))
    assert {one.rule.name: (one.applies, one.failed, one.why) for one in found.outcomes} == {
        "always": (True, False, "it has no condition"),
        "true": (True, False, "the expression is true"),
        "false": (False, False, "the expression is false"),
        "yes": (True, False, "judged by scripted"),
        "no": (False, False, "judged by scripted"),
        "open": (False, True, "could not be judged, so on_error = skip decides: by scripted"),
        "guarded": (True, True, "could not be judged, so on_error = apply decides: by scripted"),
    }


def test_rules_of_parents_apply_and_a_nearer_one_of_the_same_name_takes_their_place() -> None:
    contexts = files(
        file("base.context.md", rule("shared", "old"), rule("kept", "kept")),
        file("src/near.context.md", rule("shared", "new", when=expr("false"))),
    )
    found = evaluate(resolve_chain("src", contexts), contexts, {}, NoJudge(""))
    assert [(one.rule.name, one.path, one.applies) for one in found.outcomes] == [
        ("shared", "src/near.context.md", False),
        ("kept", "base.context.md", True),
    ]


def test_rules_come_by_priority_then_by_nearness_then_as_written() -> None:
    contexts = files(
        file("far.context.md", rule("far high", priority=9, line=1), rule("far", line=2)),
        file(
            "src/near.context.md",
            rule("two", line=2),
            rule("one", line=1),
            rule("low", priority=-1),
        ),
    )
    found = evaluate(resolve_chain("src", contexts), contexts, {}, NoJudge(""))
    assert applied(found) == ["far high", "one", "two", "far", "low"]


def test_all_sentences_are_asked_at_once_and_each_once() -> None:
    judge = Scripted({"x": True, "y": True})
    contexts = files(
        file("a.context.md", rule("a", when=says("x")), rule("b", when=says("y"))),
        file("b.context.md", rule("c", when=says("x")), rule("d", when=expr("true"))),
    )
    assert len(applied(ruled(contexts, {"tool": "t"}, judge))) == 4
    assert judge.asked == [(["x", "y"], {"tool": "t"})]


def test_without_sentences_nobody_is_asked() -> None:
    judge = Scripted()
    ruled(files(file("a.context.md", rule("a"), rule("b", when=expr("true")))), {}, judge)
    assert judge.asked == []


@pytest.mark.parametrize("judge", [Broken(), Short(), NoJudge("switched off")])
@pytest.mark.parametrize("on_error", [APPLY, SKIP])
def test_a_judge_that_fails_leaves_it_to_on_error(judge: Any, on_error: str) -> None:
    contexts = files(
        file("a.context.md", *(rule(n, when=says(n), on_error=on_error) for n in ("x", "y")))
    )
    found = ruled(contexts, {}, judge)
    assert all(one.failed and one.applies is (on_error == APPLY) for one in found.outcomes)
    assert found.verdicts == {}, "a failure is never kept"


# --- what was judged before --------------------------------------------------------------------


def test_a_verdict_is_not_asked_for_again_whatever_the_time() -> None:
    contexts = files(file("a.context.md", rule("a", when=says("x"))))
    judge = Scripted({"x": True})
    first = ruled(contexts, {"tool": "t", "time": 1, "timestamp": 2}, judge)
    assert judge.asked == [(["x"], {"tool": "t"})], "a judge is not told the time"
    silent = Broken()
    again = ruled(contexts, {"time": 99, "tool": "t"}, silent, known=first.verdicts)
    assert again == first


def test_another_sentence_situation_or_judge_is_another_verdict() -> None:
    keys = {
        verdict_key("x", {"tool": "t"}, "j"),
        verdict_key("y", {"tool": "t"}, "j"),
        verdict_key("x", {"tool": "u"}, "j"),
        verdict_key("x", {"tool": "t"}, "k"),
        verdict_key("x", {"tool": "t", "params": {"time": 1}}, "j"),
    }
    assert len(keys) == 5
    assert verdict_key("x", {"a": 1, "b": 2}, "j") == verdict_key(
        "x", {"b": 2, "a": 1, "time": 5}, "j"
    )


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([True, False, None]), min_size=1))
def test_only_what_succeeded_is_kept(script: dict[str, bool | None]) -> None:
    judge = Scripted(script)
    verdicts, kept = judge_sentences([*script], {"tool": "t"}, judge, {})
    assert {one: verdict.applies for one, verdict in verdicts.items()} == script
    assert len(kept) == sum(value is not None for value in script.values())
    judge_sentences([*script], {"tool": "t"}, judge, kept)
    still_open = [one for one, value in script.items() if value is None]
    assert [asked for asked, _ in judge.asked[1:]] == ([still_open] if still_open else [])


# --- gathering ---------------------------------------------------------------------------------


def test_all_that_applies_is_gathered_with_what_it_extends_and_each_once() -> None:
    contexts = files(
        file("base.context.md", rule("a", "x", "y"), rule("b", "y", "x.context.yaml")),
        file("x.context.yaml", extends="lib/z", text="x"),
        file("docs/y.md", text="y"),
        file("y.context.md", text="y of rules"),
        file("lib/z.context.md", text="z"),
    )
    found = evaluate(resolve_chain("base.context.md", contexts), contexts, {}, NoJudge(""))
    assert [(one.context.path, one.distance, one.rules) for one in found.contexts] == [
        ("base.context.md", 0, ()),
        ("lib/z.context.md", None, ("a", "b")),
        ("x.context.yaml", None, ("a", "b")),
        ("y.context.md", None, ("a", "b")),
    ]


def test_what_is_brought_in_brings_no_rules() -> None:
    contexts = files(
        file("base.context.md", rule("a", "lib/x")),
        file("lib/x.context.md", rule("b", "lib/y"), text="x"),
        file("lib/y.context.md", text="y"),
    )
    found = ruled(contexts, {})
    assert applied(found) == ["a"]
    assert len(found.contexts) == 2


def test_a_reference_that_leads_nowhere_is_listed() -> None:
    contexts = files(
        file(
            "base.context.md",
            rule("a", "gone", "lib/x", line=4),
            rule("b", "too", when=expr("false")),
        ),
        file("lib/x.context.md", extends="gone"),
    )
    found = ruled(contexts, {})
    assert [(one.reference, one.rule, one.path, one.line) for one in found.missing] == [
        ("gone", "a", "base.context.md", 4)
    ]
    assert [one.context.path for one in found.contexts] == ["base.context.md", "lib/x.context.md"]


def test_a_context_that_says_the_same_as_another_is_left_out() -> None:
    contexts = files(
        file("AGENTS.md", text="Be kind."),
        file("CLAUDE.md", text="Be kind."),
        file("empty.context.md"),
        file("other.context.md"),
    )
    found = ruled(contexts, {})
    assert [one.context.path for one in found.contexts] == [
        "AGENTS.md",
        "empty.context.md",
        "other.context.md",
    ]
    assert found.notes == ("CLAUDE.md says the same as AGENTS.md: left out",)


# --- priorities --------------------------------------------------------------------------------

HOUR = 3600


@pytest.mark.parametrize(
    ("distance", "behaves", "age", "expected"),
    [
        (None, False, None, 1000),
        (0, False, None, 3000),
        (1, False, None, 2000),
        (2, False, None, 1000),
        (0, True, None, 3500),
        (None, True, None, 1500),
        (None, False, 0, 2000),
        (None, False, 6 * HOUR, 1750),
        (None, False, 24 * HOUR, 1000),
        (None, False, 1000 * HOUR, 1000),
        (None, False, -5 * HOUR, 2000),
        (0, True, 12 * HOUR, 4000),
    ],
)
def test_how_much_a_context_counts(
    distance: int | None, behaves: bool, age: int | None, expected: int
) -> None:
    rules = (BehaviorRule("a", "b"),) if behaves else ()
    context = file("a.context.md", behavior_rules=rules)
    times = {} if age is None else {"a.context.md": 10**9 - age}
    assert compute_priority(context, distance, times, 10**9) == expected
    assert compute_priority(context, distance, times, None) == expected - (
        0 if age is None else max(0, 1000 - max(0, age) * 1000 // (24 * HOUR))
    )


def test_the_most_important_context_comes_first() -> None:
    contexts = files(
        file("far.context.md", behavior_rules=(BehaviorRule("a", "b"),), text="far"),
        file("src/parent.context.md", text="parent"),
        file("src/a/current.context.md", rule("r", "lib/new", "lib/old"), text="current"),
        file("lib/new.context.md", text="new"),
        file("lib/old.context.md", text="old"),
    )
    times = {"lib/new.context.md": 10**9 - 60, "lib/old.context.md": 0}
    found = evaluate(
        resolve_chain("src/a", contexts), contexts, {}, NoJudge(""), times=times, as_of=10**9
    )
    assert [(one.context.text, one.priority) for one in found.contexts] == [
        ("current", 3000),
        ("parent", 2000),
        ("new", 2000),
        ("far", 1500),
        ("old", 1000),
    ]


@given(st.permutations(["a", "b", "c", "d"]), st.randoms(use_true_random=False))
def test_the_same_files_give_the_same_ruling_in_any_order(names: list[str], random: Any) -> None:
    made = [file(f"{n}.context.md", rule(n, f"lib/{n}"), text=n) for n in names]
    made += [file(f"lib/{n}.context.md", text=f"lib {n}") for n in names]
    random.shuffle(made)
    ordered = sorted(made, key=lambda one: one.path)
    assert ruled(files(*made), {}) == ruled(files(*ordered), {})
