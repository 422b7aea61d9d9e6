"""A line stays as it was, to the byte, except for the items that are added."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.mcp.jsonrpc import Call, add_items, call_key, find_calls, find_cancelled

ITEM = {"type": "text", "text": 'known "ä" \u2028'}
SAID = json.dumps(ITEM, separators=(",", ":")).encode()

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
names = st.integers() | st.text(max_size=5)
styles = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]),
        "sort_keys": st.booleans(),
    }
)
extras = st.dictionaries(
    st.text(max_size=6).filter(lambda name: name not in {"id", "method", "result", "content"}),
    values,
    max_size=3,
)


def written(message: Any, style: dict[str, Any]) -> bytes:
    return json.dumps(message, **style).encode("utf-8", "surrogatepass") + b"\n"


@settings(max_examples=100)
@given(
    name=names,
    content=st.lists(values, max_size=3),
    more=extras,
    inside=extras,
    style=styles,
    first=st.booleans(),
)
def test_a_result_has_one_item_more(  # noqa: PLR0917 - hypothesis gives them by name
    name: Any, content: list[Any], more: Any, inside: Any, style: Any, first: bool
) -> None:
    line = written({**more, "id": name, "result": {**inside, "content": content}}, style)
    try:
        line.decode()
    except UnicodeDecodeError:
        return
    output = add_items(line, {call_key(name): ITEM}.get, first=first)
    items = json.loads(output)["result"]["content"]
    assert items[0 if first else -1] == ITEM
    comma = b"," if content else b""
    put = SAID + comma if first else comma + SAID
    assert len(output) == len(line) + len(put)
    assert any(
        output[:at] + output[at + len(put) :] == line
        for at in range(len(output))
        if output.startswith(put, at)
    )


@settings(max_examples=100)
@given(message=values | st.lists(values), style=styles)
def test_whatever_is_no_result_stays(message: Any, style: Any) -> None:
    line = written(message, style)
    try:
        output = add_items(line, lambda _: ITEM)
    except ValueError:
        return  # it is not understood, and the proxy passes it as it is
    assert output == line, "names are too short here for a result"


STAYS = [
    b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":{"content":[]}}}\n',
    b'{"id":1,"method":"sampling/createMessage","result":{"content":[]}}\n',
    b'{"id":2,"result":{"content":[]}}\n',
    b'{"id":"1","result":{"content":[]}}\n',
    b'{"id":1,"result":{"content":"a text"}}\n',
    b'{"id":1,"result":{"resultType":"input_required","inputRequests":{}}}\n',
    b'{"id":1,"result":[{"content":[]}]}\n',
    b'{"id":1,"result":{"inner":{"content":[]}}}\n',
    b'{"result":{"content":[]}}\n',
    b"[]\n",
    b"3\n",
]


@pytest.mark.parametrize("line", STAYS)
def test_what_is_no_result_of_this_call_stays(line: bytes) -> None:
    assert add_items(line, {"1": ITEM}.get) == line


NOT_UNDERSTOOD = [
    b"",
    b"\n",
    b"{\n",
    b'{"id":1,"result":{"content":[]}} trailing\n',
    b'{"id":1,"result":{"content":[}}\n',
    b'{"id":1,"result":{"content":[],"content":[]}}\n',
    b'{"id":1,"id":2,"result":{"content":[]}}\n',
    b'{"id":1 "result":{"content":[]}}\n',
    b'\xff{"id":1,"result":{"content":[]}}\n',
]


@pytest.mark.parametrize("line", NOT_UNDERSTOOD)
def test_what_is_not_understood_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):
        add_items(line, {"1": ITEM}.get)


def test_a_batch_has_an_item_for_each_result() -> None:
    line = b' [ {"id":1,"result":{"content":[ ]}} , {"method":"x"},{"id":2,"result":{"content":[1.0]}}]\r\n'
    output = add_items(line, {"1": {"a": 1}, "2": {"b": 2}}.get)
    assert output == (
        b' [ {"id":1,"result":{"content":[ {"a":1}]}} , {"method":"x"},'
        b'{"id":2,"result":{"content":[1.0,{"b":2}]}}]\r\n'
    )


def test_numbers_names_and_escapes_are_not_written_anew() -> None:
    line = rb'{"result":{"content":[1e5, 1.10, "\u0041\/", {"a":1,"a":2}],"b":-0}, "id":1}'
    assert add_items(line, {"1": {}}.get) == (
        rb'{"result":{"content":[1e5, 1.10, "\u0041\/", {"a":1,"a":2},{}],"b":-0}, "id":1}'
    )


def test_calls_are_found() -> None:
    line = b'{"id":"a","method":"tools/call","params":{"name":"x","arguments":{"q":[1]}}}\n'
    assert find_calls(line) == [Call('"a"', "x", {"q": [1]})]
    assert find_calls(line.replace(b"tools/call", rb"tools\/call")) == find_calls(line)
    batch = b"[" + line.strip() + b',{"id":4,"method":"tools/call","params":{}},{"method":"ping"}]'
    assert find_calls(batch) == [*find_calls(line), Call("4", "", {})]
    for other in (
        b"",
        b"call",
        b"[1]",
        b'{"method":"tools/call"}',
        b'{"id":1,"method":"tools/call"}',
    ):
        assert find_calls(other) == []
    assert find_calls(b"[" * 100_000 + b"call") == []


def test_calls_that_are_taken_back_are_found() -> None:
    line = b'{"method":"notifications/cancelled","params":{"requestId":7}}'
    assert find_cancelled(line) == ["7"]
    assert find_cancelled(line.replace(b"7", b'"7"')) == ['"7"']
    assert find_cancelled(b'{"method":"notifications/cancelled"}') == []
