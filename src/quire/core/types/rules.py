"""Context files and their rules: what they state, and which of them apply in a situation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from quire.core.frozen import dataclass

EXPRESSION = "expression"
SENTENCE = "sentence"
APPLY = "apply"
SKIP = "skip"

Situation = Mapping[str, Any]
"""What is going on, as plain data: `tool`, `params`, `path`, `branch`, `time`, `intent`, …"""


@dataclass(frozen=True, slots=True)
class Condition:
    """When a rule applies: an expression, which is evaluated, or a sentence, which is judged."""

    text: str
    kind: str
    """`expression` or `sentence`."""


@dataclass(frozen=True, slots=True)
class BehaviorRule:
    """What to do when something happens."""

    trigger: str
    action: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class InjectionRule:
    """Which other contexts to inject, and when."""

    name: str
    inject: tuple[str, ...]
    """Paths from the project's root; the suffix of a context file may be left out."""
    condition: Condition | None = None
    """None: it always applies."""
    priority: int = 0
    on_error: str = SKIP
    """What to do when the condition cannot be judged: `apply` or `skip`."""
    line: int = 0


@dataclass(frozen=True, slots=True)
class ContextFile:
    """One context file, without what it inherits."""

    path: str
    name: str
    type: str = ""
    business_goal: str = ""
    intent_type: str = ""
    behavior_rules: tuple[BehaviorRule, ...] = ()
    injection_rules: tuple[InjectionRule, ...] = ()
    extends: str | None = None
    """A path from the project's root; the suffix of a context file may be left out."""
    text: str = ""
    """Its prose: never a rule, whatever it contains."""
    extends_line: int = 0

    @property
    def content(self) -> str:
        """Everything that it says to a reader."""
        rules = (f"{rule.trigger}: {rule.action}" for rule in self.behavior_rules)
        parts = (self.business_goal, self.intent_type, *rules, self.text)
        return "\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something wrong in a context file: where, and what was expected."""

    path: str
    line: int
    """0: the file as a whole."""
    reason: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A context in a chain of inheritance, and its distance from the place."""

    context: ContextFile
    distance: int
    """0: the current context; 1: a direct parent."""


@dataclass(frozen=True, slots=True)
class InheritedValue:
    """A value that applies at a place, and the file that states it."""

    value: str
    path: str


@dataclass(frozen=True, slots=True)
class MergedContext:
    """What applies at a place: its own contexts and all that it inherits, merged."""

    name: InheritedValue | None
    type: InheritedValue | None
    business_goal: InheritedValue | None
    intent_type: InheritedValue | None
    behavior_rules: tuple[tuple[BehaviorRule, str], ...]
    """Each with the path of its file; the farthest first."""
    injection_rules: tuple[tuple[InjectionRule, str], ...]
    """Each with the path of its file; the highest priority first."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of a judge about a sentence."""

    applies: bool | None
    """None: it could not be judged."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """Whether a rule applies, and why."""

    rule: InjectionRule
    path: str
    """The file of the rule."""
    applies: bool
    why: str
    problem: str = ""
    """Why the condition could not be judged, so that `on_error` decided; empty if it was."""

    @property
    def failed(self) -> bool:
        """Whether the condition could not be judged."""
        return bool(self.problem)


@dataclass(frozen=True, slots=True)
class ActiveContext:
    """A context that applies in a situation, and its priority."""

    context: ContextFile
    """With what it inherits, and without the rules that a nearer context replaces."""
    priority: int
    """Thousandths."""
    distance: int | None = None
    """Its distance in the chain of inheritance; None: a rule injected it."""
    rules: tuple[str, ...] = ()
    """The names of the rules that injected it."""
    inherited: tuple[tuple[str, str], ...] = ()
    """The fields of its context that it inherits, each with the name of the context it is from."""


@dataclass(frozen=True, slots=True)
class DanglingReference:
    """A reference of a rule that leads to no context file."""

    reference: str
    rule: str
    path: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class RuleEvaluation:
    """Which rules apply in a situation, and the contexts that are active."""

    outcomes: tuple[RuleOutcome, ...]
    """Of all rules, in the order of their priority."""
    contexts: tuple[ActiveContext, ...]
    """The highest priority first."""
    missing: tuple[DanglingReference, ...] = ()
    notes: tuple[str, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """Verdicts by their keys, to be recorded and reused; failures are left out."""
