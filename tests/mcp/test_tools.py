"""Wrapped tools receive a context, and run even if assembling fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest

import quire
from quire.errors import InputError
from quire.integrations.tool_context import MAX_QUERY_LENGTH, query_for
from tests.conftest import Forest, Tree

from .conftest import fill


@pytest.fixture
def engine(harbour: Tree) -> Iterator[quire.Quire]:
    with harbour.open() as opened:
        yield opened


def test_a_function_of_a_mapping(engine: quire.Quire) -> None:
    calls: list[dict[str, Any]] = []

    def lift(params: dict[str, Any]) -> dict[str, Any]:
        calls.append(params)
        return {"content": [], "_meta": {"own": 1}}

    arguments = {"load": "harbour crane", "intent": "ring the bell"}
    aware = quire.context_aware({"lift": lift}, engine)
    result = aware["lift"](arguments)  # type: ignore[operator]  # it was a function, so it is one
    (params,) = calls
    context = params.pop("_context")
    assert params == arguments == {"load": "harbour crane", "intent": "ring the bell"}
    assert '"tool": "lift"' in context.text
    assert "The harbour bell rings" in context.text
    assert context.tokens <= 1000
    used = result["_meta"]["contextUsed"]
    assert result["_meta"]["own"] == 1
    assert used["receipt"] == context.receipt["hash"]
    assert used["tokens"] == context.tokens
    assert used["sources"]
    assert engine.verify(context.receipt, context.text).problems == ()


def test_a_function_of_keywords(engine: quire.Quire) -> None:
    def lift(load: str, *, _context: Any = None) -> dict[str, Any]:
        return {"load": load, "known": _context.text}

    def blind(load: str) -> dict[str, Any]:
        return {"load": load}

    aware: Any = quire.context_aware({"lift": lift, "blind": blind}, engine, max_tokens=120)
    result = aware["lift"](load="harbour crane")
    assert '"load": "harbour crane"' in result["known"]
    assert result["_meta"]["contextUsed"]["tokens"] <= 120
    assert aware["lift"]("harbour")["load"] == "harbour"
    # One that does not take a context is called as ever; its result still says which there was.
    assert aware["blind"](load="harbour")["_meta"]["contextUsed"]["receipt"]
    assert aware["lift"].__name__ == "lift"


def test_functions_that_wait(engine: quire.Quire) -> None:
    async def lift(params: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"known": params["_context"].text}

    class Undeclared:
        def __call__(self, params: dict[str, Any]) -> Any:
            return lift(params)

    aware: Any = quire.context_aware({"lift": lift, "undeclared": Undeclared()}, engine)

    async def both() -> list[Any]:
        return list(
            await asyncio.gather(
                aware["lift"]({"a": "harbour"}), aware["undeclared"]({"a": "tide"})
            )
        )

    for result in asyncio.run(both()):
        assert "harbour" in result["known"]
        assert result["_meta"]["contextUsed"]["receipt"]


def test_a_tool_with_a_handler_keeps_all_else(engine: quire.Quire) -> None:
    tool = {"description": "Lifts.", "handler": lambda params: {"got": sorted(params)}}
    aware: Any = quire.context_aware({"lift": tool}, engine, intent="harbour")
    assert aware["lift"]["description"] == "Lifts."
    assert aware["lift"]["handler"]({"load": 1})["got"] == ["_context", "load"]
    assert tool["handler"]({"load": 1}) == {"got": ["load"]}, "the tool itself is as it was"  # type: ignore[operator]


def test_results_of_the_official_kit_are_marked(engine: quire.Quire) -> None:
    result_ = types.CallToolResult(content=[types.TextContent(type="text", text="done")])
    aware: Any = quire.context_aware({"lift": lambda _: result_, "say": lambda _: "done"}, engine)
    marked = aware["lift"]({"load": "harbour"}).model_dump(by_alias=True)
    assert marked["_meta"]["contextUsed"]["receipt"]
    assert result_.meta is None
    assert aware["say"]({"load": "harbour"}) == "done", "a text has no place for it"


def test_the_tool_runs_where_the_context_fails(plant: Forest) -> None:
    tree = fill(plant())
    with tree.open() as engine:
        aware: Any = quire.context_aware({"lift": lambda params: {"c": params["_context"]}}, engine)
        tree.write("quire.toml", "[embed]\nprovider = 3\n")
        result = aware["lift"]({"load": "harbour"})
        assert result["c"] is None
        assert result["_meta"]["contextUsed"]["receipt"] is None
        assert "provider" in result["_meta"]["contextUsed"]["failed"]
    closed = aware["lift"]({"load": "harbour"})
    assert closed["_meta"]["contextUsed"]["failed"]

    async def lift(params: dict[str, Any]) -> dict[str, Any]:
        return {"c": params["_context"]}

    waiting: Any = quire.context_aware({"lift": lift}, engine)
    assert asyncio.run(waiting["lift"]({}))["c"] is None


def test_what_a_tool_raises_is_its_own(engine: quire.Quire) -> None:
    def lift(params: dict[str, Any]) -> None:
        raise KeyError("load")

    aware: Any = quire.context_aware({"lift": lift}, engine)
    with pytest.raises(KeyError, match="load"):
        aware["lift"]({})


def test_what_is_no_tool_is_refused(engine: quire.Quire) -> None:
    for wrong in ({"handler": 3}, {}, 3):
        with pytest.raises(InputError, match="'lift'"):
            quire.context_aware({"lift": wrong}, engine)  # type: ignore[dict-item]


def test_a_situation_becomes_a_question() -> None:
    params = {"a": ["x", 1, True, None, {"b": 2.5}], "_meta": {"token": "t"}, "long": "y" * 5000}
    query = query_for({"tool": "lift_the-load", "params": params, "intent": "for the ship"})
    assert query.splitlines()[:5] == ["for the ship", "lift the load", "x", "1", "2.5"]
    assert "t" not in query.splitlines()
    assert len(query) < MAX_QUERY_LENGTH
    assert query_for({"tool": "x", "params": {}}) == "x"
    assert len(query_for({"tool": "x", "params": ["z" * 300] * 50})) == MAX_QUERY_LENGTH


def test_each_call_gets_the_rules_of_its_place(harbour: Tree) -> None:
    harbour.write(
        "src/crane.context.yaml",
        "metadata: {name: Cranes, type: module}\n"
        "behavior_rules: [{trigger: on any lift, action: check the rope}]\n"
        "injection_rules: [{name: heavy, condition: 'params.load > 10', inject: [/heavy.md]}]\n",
    )
    harbour.write("heavy.md", "# Heavy loads\n\nTwo people watch.\n")
    harbour.index()
    with harbour.open() as engine:
        aware: Any = quire.context_aware(
            {"lift": lambda params: {"text": params["_context"].text}}, engine
        )
        heavy = aware["lift"]({"load": 12, "path": "src/crane.py"})["text"]
        light = aware["lift"]({"load": 2, "path": "src/crane.py"})["text"]
        elsewhere = aware["lift"]({"load": 12})["text"]
    assert "  - on any lift: check the rope" in heavy
    assert "Two people watch." in heavy
    assert "  - on any lift: check the rope" in light
    assert "Two people watch." not in light
    assert "check the rope" not in elsewhere
