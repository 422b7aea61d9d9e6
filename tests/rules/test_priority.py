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
    """A judge with scripted verdicts that records what it was asked."""

    def __init__(
        self, says: Mapping[str, bool | None] | None = None, name: str = "scripted"
    ) -> None:
        self.says = says or {}
        self.name = name
        self.asked: list[tuple[list[str], Situation]] = []

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        self.asked.append((list(sentences), situation))
        return [Verdict(self.says.get(item), f"by {self.name}") for item in sentences]

    def close(self) -> None:
        pass


class Broken(Scripted):
    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:  # noqa: ARG002  # the protocol's
        raise EndpointError("http://host/v1: gone")


class Short(Scripted):
    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:  # noqa: ARG002  # the protocol's
        return [Verdict(applies=True)]


def says(text: str) -> Condition:
    return Condition(text, SENTENCE)


def expr(text: str) -> Condition:
    return Condition(text, EXPRESSION)


def rule(name: str, *inject: str, when: Condition | None = None, **more: Any) -> InjectionRule:
    return InjectionRule(name, inject, when, **more)


def file(path: str, *rules: InjectionRule, **fields: Any) -> ContextFile:
    return ContextFile(path, path, injection_rules=rules, **fields)


def files(*contexts: ContextFile) -> dict[str, ContextFile]:
    return {item.path: item for item in contexts}


def evaluate_root(
    contexts: dict[str, ContextFile], situation: Situation, judge: Any = None, **more: Any
) -> RuleEvaluation:
    return evaluate(
        resolve_chain("", contexts), contexts, situation, judge or NoJudge("there is none"), **more
    )


def applied(evaluation: RuleEvaluation) -> list[str]:
    return [item.rule.name for item in evaluation.outcomes if item.applies]


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
    evaluation = evaluate_root(contexts, {"task": "Build distributed system"}, judge)
    assert applied(evaluation) == ["complexity_check"]
    assert judge.asked == [(["task is complex"], {"task": "Build distributed system"})]
    assert [item.context.path for item in evaluation.contexts] == [
        "test.context.md",
        "helpers/complexity-guide.context.md",
    ]


def test_each_outcome_has_a_reason() -> None:
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
    evaluation = evaluate_root(
        contexts, {"tool": "bash"}, Scripted({"it rains": True, "it snows": False})
    )
    assert {
        item.rule.name: (item.applies, item.failed, item.why) for item in evaluation.outcomes
    } == {
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
    evaluation = evaluate(resolve_chain("src", contexts), contexts, {}, NoJudge(""))
    assert [(item.rule.name, item.path, item.applies) for item in evaluation.outcomes] == [
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
    evaluation = evaluate(resolve_chain("src", contexts), contexts, {}, NoJudge(""))
    assert applied(evaluation) == ["far high", "one", "two", "far", "low"]


def test_all_sentences_are_asked_at_once_and_each_once() -> None:
    judge = Scripted({"x": True, "y": True})
    contexts = files(
        file("a.context.md", rule("a", when=says("x")), rule("b", when=says("y"))),
        file("b.context.md", rule("c", when=says("x")), rule("d", when=expr("true"))),
    )
    assert len(applied(evaluate_root(contexts, {"tool": "t"}, judge))) == 4
    assert judge.asked == [(["x", "y"], {"tool": "t"})]


def test_without_sentences_nobody_is_asked() -> None:
    judge = Scripted()
    evaluate_root(files(file("a.context.md", rule("a"), rule("b", when=expr("true")))), {}, judge)
    assert judge.asked == []


@pytest.mark.parametrize("judge", [Broken(), Short(), NoJudge("switched off")])
@pytest.mark.parametrize("on_error", [APPLY, SKIP])
def test_a_judge_that_fails_leaves_it_to_on_error(judge: Any, on_error: str) -> None:
    contexts = files(
        file("a.context.md", *(rule(n, when=says(n), on_error=on_error) for n in ("x", "y")))
    )
    evaluation = evaluate_root(contexts, {}, judge)
    assert all(item.failed and item.applies is (on_error == APPLY) for item in evaluation.outcomes)
    assert evaluation.verdicts == {}, "a failure is never kept"


# --- what was judged before --------------------------------------------------------------------


def test_a_verdict_is_not_asked_for_again_whatever_the_time() -> None:
    contexts = files(file("a.context.md", rule("a", when=says("x"))))
    judge = Scripted({"x": True})
    first = evaluate_root(contexts, {"tool": "t", "time": 1, "timestamp": 2}, judge)
    assert judge.asked == [(["x"], {"tool": "t"})], "a judge is not told the time"
    silent = Broken()
    again = evaluate_root(contexts, {"time": 99, "tool": "t"}, silent, known=first.verdicts)
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
def test_only_successful_verdicts_are_cacheable(script: dict[str, bool | None]) -> None:
    judge = Scripted(script)
    verdicts, cacheable = judge_sentences([*script], {"tool": "t"}, judge, {})
    assert {item: verdict.applies for item, verdict in verdicts.items()} == script
    assert len(cacheable) == sum(value is not None for value in script.values())
    judge_sentences([*script], {"tool": "t"}, judge, cacheable)
    still_open = [item for item, value in script.items() if value is None]
    assert [asked for asked, _ in judge.asked[1:]] == ([still_open] if still_open else [])


# --- collecting ---------------------------------------------------------------------------------


def test_everything_that_applies_is_collected_once_with_what_it_extends() -> None:
    contexts = files(
        file("base.context.md", rule("a", "x", "y"), rule("b", "y", "x.context.yaml")),
        file("x.context.yaml", extends="lib/z", text="x"),
        file("docs/y.md", text="y"),
        file("y.context.md", text="y of rules"),
        file("lib/z.context.md", text="z"),
    )
    evaluation = evaluate(resolve_chain("base.context.md", contexts), contexts, {}, NoJudge(""))
    assert [(item.context.path, item.distance, item.rules) for item in evaluation.contexts] == [
        ("base.context.md", 0, ()),
        ("lib/z.context.md", None, ("a", "b")),
        ("x.context.yaml", None, ("a", "b")),
        ("y.context.md", None, ("a", "b")),
    ]


def test_an_injected_context_adds_no_rules() -> None:
    contexts = files(
        file("base.context.md", rule("a", "lib/x")),
        file("lib/x.context.md", rule("b", "lib/y"), text="x"),
        file("lib/y.context.md", text="y"),
    )
    evaluation = evaluate_root(contexts, {})
    assert applied(evaluation) == ["a"]
    assert len(evaluation.contexts) == 2


def test_a_reference_that_leads_nowhere_is_listed() -> None:
    contexts = files(
        file(
            "base.context.md",
            rule("a", "gone", "lib/x", line=4),
            rule("b", "too", when=expr("false")),
        ),
        file("lib/x.context.md", extends="gone"),
    )
    evaluation = evaluate_root(contexts, {})
    assert [(item.reference, item.rule, item.path, item.line) for item in evaluation.missing] == [
        ("gone", "a", "base.context.md", 4)
    ]
    assert [item.context.path for item in evaluation.contexts] == [
        "base.context.md",
        "lib/x.context.md",
    ]


def test_a_context_that_says_the_same_as_another_is_left_out() -> None:
    contexts = files(
        file("AGENTS.md", text="Be kind."),
        file("CLAUDE.md", text="Be kind."),
        file("empty.context.md"),
        file("other.context.md"),
    )
    evaluation = evaluate_root(contexts, {})
    assert [item.context.path for item in evaluation.contexts] == [
        "AGENTS.md",
        "empty.context.md",
        "other.context.md",
    ]
    assert evaluation.notes == ("CLAUDE.md says the same as AGENTS.md: left out",)


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
def test_the_priority_of_a_context(
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
    evaluation = evaluate(
        resolve_chain("src/a", contexts), contexts, {}, NoJudge(""), times=times, as_of=10**9
    )
    assert [(item.context.text, item.priority) for item in evaluation.contexts] == [
        ("current", 3000),
        ("parent", 2000),
        ("new", 2000),
        ("far", 1500),
        ("old", 1000),
    ]


@given(st.permutations(["a", "b", "c", "d"]), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(names: list[str], random: Any) -> None:
    contexts = [file(f"{n}.context.md", rule(n, f"lib/{n}"), text=n) for n in names]
    contexts += [file(f"lib/{n}.context.md", text=f"lib {n}") for n in names]
    random.shuffle(contexts)
    ordered = sorted(contexts, key=lambda item: item.path)
    assert evaluate_root(files(*contexts), {}) == evaluate_root(files(*ordered), {})
