"""Wrapped tools receive a context, and run even if assembling fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest
from mcp.server import MCPServer

import quire
from quire.errors import InputError
from quire.integrations.tool_context import MAX_QUERY_LENGTH, context_for, query_for
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


SQL_RULES = """\
injection_rules:
  - {name: storage, condition: "path matches '*.sql'", inject: [/docs/storage.context.yaml]}
"""
STORAGE = "metadata: {name: Storage}\ntext: Write migrations that can be undone.\n"


@pytest.fixture
def ruled(plant: Forest) -> Iterator[quire.Quire]:
    tree = fill(plant())
    tree.write("root.context.yaml", SQL_RULES)
    tree.write("db/db.context.yaml", "metadata: {name: Database}\ntext: Tables are plural.\n")
    tree.write("docs/storage.context.yaml", STORAGE)
    with tree.open() as opened:
        opened.index(embed=False)
        yield opened


@pytest.mark.parametrize("form", ["db/users.sql", "./db/users.sql", "db/../db/users.sql", "{}"])
@pytest.mark.parametrize("name", ["path", "file_path", "file"])
def test_rules_see_the_path_of_a_call_however_it_is_written(
    ruled: quire.Quire, form: str, name: str
) -> None:
    path = form.format(ruled.root() / "db" / "users.sql")
    aware: Any = quire.context_aware({"edit": lambda params: {"c": params["_context"]}}, ruled)
    text = aware["edit"]({name: path})["c"].text
    assert "Write migrations that can be undone." in text
    assert "Tables are plural." in text
    assert '"path": "db/users.sql"' in text


def test_arguments_by_position_have_a_place(ruled: quire.Quire) -> None:
    def edit(path: str) -> dict[str, Any]:
        context = quire.current_context()
        return {"path": path, "text": "" if context is None else context.text}

    aware: Any = quire.context_aware({"edit": edit}, ruled)
    assert "Tables are plural." in aware["edit"]("db/users.sql")["text"]
    assert quire.current_context() is None


def test_a_call_through_the_proxy_gets_the_contexts_that_hold(ruled: quire.Quire) -> None:
    context = context_for(ruled, {"tool": "edit", "params": {"path": "./db/users.sql"}})
    names = [line for line in context.text.splitlines() if line.startswith("### ")]
    assert names == [
        "### Database (db/db.context.yaml)",
        "### root (root.context.yaml)",
        "### Storage (docs/storage.context.yaml)",
    ]
    assert "- Adaptations: brought in by storage" in context.text
    assert "Write migrations that can be undone." in context.text
    assert ruled.verify(context.receipt, context.text).problems == ()
    assert ruled.replay(context.receipt)[1] == []
    # Without a place, only what a rule injects for this call.
    nothing = context_for(ruled, {"tool": "get_current_time", "params": {"timezone": "UTC"}})
    assert (nothing.sources, nothing.text) == ((), "")


def test_parameters_that_rules_cannot_read_do_not_cost_the_context(ruled: quire.Quire) -> None:
    params = {"path": "db/users.sql", "content": "x" * 300_000}
    context = context_for(ruled, {"tool": "write", "params": params, "intent": ""})
    assert "Write migrations that can be undone." in context.text
    assert "rules do not see the parameters of the call" in context.notes[-1]


def test_a_path_outside_of_the_project_is_told(ruled: quire.Quire) -> None:
    aware: Any = quire.context_aware({"edit": lambda params: {"c": params["_context"]}}, ruled)
    result = aware["edit"]({"path": "/elsewhere/users.sql"})
    assert "Tables are plural." not in result["c"].text
    assert result["_meta"]["contextUsed"]["notes"][-1] == (
        "'/elsewhere/users.sql' is outside of the project: only the rules of its root apply"
    )


def test_tools_of_the_official_kit_find_the_context(ruled: quire.Quire) -> None:
    def edit(path: str) -> str:
        context = quire.current_context()
        return "" if context is None else context.text

    async def wait(path: str) -> str:
        await asyncio.sleep(0)
        context = quire.current_context()
        return "" if context is None else context.text

    def hidden(path: str, _context: Any = None) -> str:
        return str(_context.text)

    kit = MCPServer("kit")
    for name, tool in quire.context_aware(
        {"edit": edit, "wait": wait, "hidden": hidden}, ruled
    ).items():
        assert callable(tool)
        kit.add_tool(tool, name=name)
    for name in ("edit", "wait", "hidden"):
        result = asyncio.run(kit.call_tool(name, {"path": "db/users.sql"}))
        assert "Tables are plural." in str(result), name
    assert quire.current_context() is None


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
