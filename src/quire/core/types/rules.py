"""What do context files say, and what follows from it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

EXPRESSION = "expression"
SENTENCE = "sentence"
APPLY = "apply"
SKIP = "skip"

Situation = Mapping[str, Any]
"""What is going on, as plain data: `tool`, `params`, `path`, `branch`, `time`, `intent`, …"""


@dataclass(frozen=True, slots=True)
class Condition:
    """When a rule applies: an expression, which is computed, or a sentence, which is judged."""

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
    """Which other contexts to bring in, and when."""

    name: str
    inject: tuple[str, ...]
    """Paths from the project's root; the ending of a context file may be left out."""
    condition: Condition | None = None
    """None: it always applies."""
    priority: int = 0
    on_error: str = SKIP
    """What happens when its condition could not be judged: `apply` or `skip`."""
    line: int = 0


@dataclass(frozen=True, slots=True)
class ContextFile:
    """What one context file says by itself."""

    path: str
    name: str
    type: str = ""
    business_goal: str = ""
    intent_type: str = ""
    behavior_rules: tuple[BehaviorRule, ...] = ()
    injection_rules: tuple[InjectionRule, ...] = ()
    extends: str | None = None
    """A path from the project's root; the ending of a context file may be left out."""
    text: str = ""
    """What it says in prose: never a rule, whatever stands in it."""
    extends_line: int = 0


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong in a context file, where, and what was expected."""

    path: str
    line: int
    """0: the file as a whole."""
    reason: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Linked:
    """A context in a chain of inheritance."""

    context: ContextFile
    distance: int
    """0: the current one; 1: a direct parent."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """A text that holds somewhere, and the file that says so."""

    value: str
    path: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """What holds at a place, when all that it inherits is put together."""

    name: Inherited | None
    type: Inherited | None
    business_goal: Inherited | None
    intent_type: Inherited | None
    behavior_rules: tuple[tuple[BehaviorRule, str], ...]
    """Each with the path of the file that it stands in; the farthest first."""
    injection_rules: tuple[tuple[InjectionRule, str], ...]
    """Each with the path of the file that it stands in; the highest priority first."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of a sentence."""

    applies: bool | None
    """None: it could not be judged."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """Whether a rule applies, and why."""

    rule: InjectionRule
    path: str
    """The file that the rule stands in."""
    applies: bool
    why: str
    problem: str = ""
    """Why its condition could not be judged, so that `on_error` decided; empty: it was."""

    @property
    def failed(self) -> bool:
        """Whether its condition could not be judged."""
        return bool(self.problem)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A context that counts in a situation, and how much."""

    context: ContextFile
    priority: int
    """Thousandths."""
    distance: int | None = None
    """Its place in the chain of inheritance; None: a rule brought it in."""
    rules: tuple[str, ...] = ()
    """The names of the rules that brought it in."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A reference of a rule that leads to no file."""

    reference: str
    rule: str
    path: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Ruled:
    """Which rules apply in a situation, and which contexts count."""

    rulings: tuple[Ruling, ...]
    """All rules, in the order of their priority."""
    contexts: tuple[Weighed, ...]
    """The most important one first."""
    missing: tuple[Missing, ...] = ()
    notes: tuple[str, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """What was judged, by its key: to be recorded, and to be given again. No failures."""
