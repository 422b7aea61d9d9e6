"""Lines of standard input are limited in length and depth, and refused in words."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.mcp.lines import MAX_DEPTH, MAX_LINE, Lines, find_id, is_deep
from tests.conftest import Tree

from .wire import Wire, call, request, wired

LONG = "word " * 12_000_000
"""60 MB."""


def read(data: bytes) -> tuple[list[str], list[tuple[int | str | None, str]]]:
    refused: list[tuple[int | str | None, str]] = []
    lines = Lines(io.BytesIO(data), lambda name, problem: refused.append((name, problem)))
    return [*iter(lines.readline, "")], refused


def test_lines_pass_as_they_are() -> None:
    lines = [b'{"id":1}\n', b"\n", b"\xff nonsense\r\n", b"x" * MAX_LINE + b"\n", b"the last"]
    passed, refused = read(b"".join(lines))
    assert passed == [line.decode("utf-8", "replace") for line in lines]
    assert refused == []


@pytest.mark.parametrize("length", [MAX_LINE + 1, MAX_LINE + 70_000, 3 * MAX_LINE])
@pytest.mark.parametrize("last", [b"\n", b""])
def test_a_long_line_is_left_out(length: int, last: bytes) -> None:
    start, end = b'{"jsonrpc":"2.0","id":7,"method":"', b'"}'
    line = start + b"x" * (length - len(start) - len(end)) + end
    passed, refused = read(b"first\n" + line + last + b"after\n" * bool(last))
    assert passed == ["first\n", *["after\n"] * bool(last)]
    assert refused == [
        (7, f"the message has more than {MAX_LINE} bytes, which is the most allowed")
    ]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('{"jsonrpc":"2.0","id":7,"method":"x","params":{', 7),
        ('{ "jsonrpc" : "2.0" , "method" : "tools/call" , "id" : "a-1" , "params":', "a-1"),
        ('{"id":0,"params":{"id":3', 0),
        ('..."}},"jsonrpc":"2.0","id":12}', 12),
        ('..."}},"id":"z","jsonrpc":"2.0"}\n', "z"),
        ('{"params":{"id":4}}', None),
        ('{"jsonrpc":"2.0","id":null,"params":{', None),
        ('{"jsonrpc":"2.0","id":"\\q","params":{', None),
        ("", None),
    ],
)
def test_the_id_of_a_line(line: str, name: int | str | None) -> None:
    assert find_id(line.encode()) == name


values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text('ab"\\[]{}'),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text('"\\[{', max_size=2), inner, max_size=3)
    ),
)


def depth(value: Any) -> int:
    if isinstance(value, list | dict):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth, inner), default=0)
    return 0


@given(values, st.integers(MAX_DEPTH - 6, MAX_DEPTH + 2))
def test_depth_is_that_of_the_value(value: Any, around: int) -> None:
    line = b"[" * around + json.dumps(value).encode() + b"]" * around
    assert is_deep(line) == (around + depth(value) > MAX_DEPTH)


def test_a_process_refuses_what_is_too_long_or_too_deep(harbour: Tree, server: list[str]) -> None:
    with wired(server, harbour.root) as wire:
        wire.initialize()
        for number, message in enumerate(
            [
                call("search", 5, query=LONG),
                call("assemble_context", 6, query=LONG),
                request("resources/read", 7, uri=LONG),
            ]
        ):
            # The same message with its id at its end, as other clients write it.
            last = {"method": message["method"], "params": message["params"], "id": 20 + number}
            for sent in (message, last):
                reply = wire.answer(sent)
                assert reply["error"]["message"].startswith("the message has more than 4194304 ")
        for levels in (101, 1_000, 100_000):
            text = "[" * levels + "]" * levels
            refused = deep(wire, levels, text)
            assert refused["error"]["message"] == "the message is nested deeper than 100 levels"
        assert wire.call("search", 9, query="harbour")["structuredContent"]["results"]
        code, said = wire.end()
    assert code == 0
    assert said.count("the message has more than") == 6


def deep(wire: Wire, number: int, text: str) -> Any:
    params = f'{{"name":"search","arguments":{{"query":{text}}}}}'
    line = f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}\n'
    wire.send(line.encode())
    while True:
        reply = wire.receive()
        if reply.get("id") == number:
            return reply
