"""Whatever a client answers, each sentence gets the verdict on it or a failure."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import JudgeSettings
from quire.errors import UnansweredError
from quire.llm import callback
from quire.llm.callback import ModelAnswer
from quire.llm.prompt import Prompt
from quire.rules import client_identity, open_judge

SENTENCES = ["it rains", 'it "snows"', "it is late"]
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
ENTRY = st.fixed_dictionaries(
    {"number": st.integers(0, 4) | PLAIN, "applies": st.booleans() | PLAIN}
)


@dataclass
class ScriptedCaller:
    """A caller with a scripted answer."""

    says: Any
    has_model: bool = True
    has_user: bool = True
    client: str = "c 1"
    viewer: str = "owner"
    asked: list[Any] = field(default_factory=list)

    def generate(self, prompt: Prompt, seconds: float) -> ModelAnswer:
        self.asked.append((prompt, seconds))
        return ModelAnswer(self._answer(), "m")

    def ask_user(self, message: str, fields: Mapping[str, Any], seconds: float) -> Any:
        self.asked.append((message, fields, seconds))
        return self._answer()

    def _answer(self) -> Any:
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


def judge(caller: ScriptedCaller) -> list[bool | None]:
    opened = open_judge(JudgeSettings(provider="mcp", timeout=3), lambda: None)
    with callback.use_caller(caller):
        verdicts = opened.judge(SENTENCES, {"weather": "bad"})
    assert len(verdicts) == len(SENTENCES)
    assert all(item.reason for item in verdicts)
    assert len(caller.asked) <= 1
    return [item.applies for item in verdicts]


@given(st.permutations([1, 2, 3]), st.lists(st.booleans(), min_size=3, max_size=3))
def test_a_model_answers_in_any_order(order: list[int], truths: list[bool]) -> None:
    text = json.dumps(
        {"verdicts": [{"number": number, "applies": truths[number - 1]} for number in order]},
        indent=1,
    )
    assert judge(ScriptedCaller(text)) == truths
    assert judge(ScriptedCaller(f"```json\n{text}\n```\n")) == truths


@given(
    st.text()
    | PLAIN.map(json.dumps)
    | st.lists(ENTRY).map(lambda entries: json.dumps({"verdicts": entries}))
)
def test_a_model_may_answer_anything(text: str) -> None:
    verdicts = judge(ScriptedCaller(text))
    if verdicts == [None] * 3:
        return
    entries = json.loads(text)["verdicts"]
    for number, applies in enumerate(verdicts, start=1):
        answers = [item["applies"] for item in entries if item["number"] == number]
        assert answers == [applies] if applies is not None else [*map(type, answers)] != [bool]


@given(
    st.dictionaries(st.sampled_from([f"statement_{n}" for n in range(5)]), st.booleans() | PLAIN)
)
def test_a_user_fills_in_anything(filled: dict[str, Any]) -> None:
    expected = [filled.get(f"statement_{number}") for number in (1, 2, 3)]
    verdicts = judge(ScriptedCaller(filled, has_model=False))
    assert verdicts == [item if isinstance(item, bool) else None for item in expected]


def test_a_missing_answer_is_reported() -> None:
    judge = open_judge(JudgeSettings(provider="mcp"), lambda: None)
    with callback.use_caller(ScriptedCaller(UnansweredError("c 1 hung up"))):
        (verdict,) = judge.judge(["it rains"], {})
    assert (verdict.applies, verdict.reason) == (None, "c 1 hung up")


@given(*[st.text(max_size=5)] * 4)
def test_no_client_is_taken_for_another_viewers(
    client: str, viewer: str, other: str, another: str
) -> None:
    names = set()
    judge = open_judge(JudgeSettings(provider="mcp"), lambda: None)
    for name, who in {(client, viewer), (other, another)}:
        for model, user in ((True, True), (False, True), (False, False)):
            with callback.use_caller(ScriptedCaller("", model, user, name, who)):
                names.add((judge.name, client_identity(JudgeSettings(provider="mcp"))))
                assert client_identity(JudgeSettings()) == ""
    assert len({name for name, _ in names}) == len({whom for _, whom in names}) == len(names)
    assert len(names) == 3 * len({(client, viewer), (other, another)})
    assert judge.name == "mcp:nobody/1.1"


def test_it_needs_no_endpoint() -> None:
    """The HTTP client is an extra."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_HTTP], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "no client to ask" in done.stdout


WITHOUT_HTTP = """
import sys

sys.modules["httpx"] = None
from quire.rules import open_judge
from quire.core.types import JudgeSettings

print(open_judge(JudgeSettings(provider="mcp"), lambda: None).judge(["it rains"], {}))
"""
