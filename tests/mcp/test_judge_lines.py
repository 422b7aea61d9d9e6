"""A client is asked back as the protocol says, line by line; without a client, nobody is."""

from __future__ import annotations

import json
from typing import Any

import pytest

import quire
from quire.core.types import JudgeSettings
from quire.errors import ConfigError
from quire.rules import open_judge
from tests.conftest import TIME_LIMIT, Tree

from .judging import ASKED, SITUATION, boxes, injected_guides, verdicts
from .wire import HANDSHAKES, MODERN, Wire, call, initialize, request, wired

SAMPLING: dict[str, Any] = {"sampling": {}}


def hello(wire: Wire, **capabilities: Any) -> None:
    sent = initialize(HANDSHAKES[-1])
    sent["params"]["capabilities"] = capabilities
    wire.answer(sent)
    wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


def test_a_call_that_is_given_up_asks_no_longer(patient: Tree, server: list[str]) -> None:
    with wired(server, patient.root) as wire:
        hello(wire, sampling={})
        wire.send(call("assemble_context", 1, **ASKED))
        request_ = wire.receive()
        assert request_["method"] == "sampling/createMessage"
        wire.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        )
        message = wire.receive()
        assert message["method"] == "notifications/cancelled"
        assert message["params"]["requestId"] == request_["id"]
        assert wire.call("experience", 2, operation="list")["isError"] is False
        assert wire.end() == (0, "")


def test_a_client_that_goes_away_while_it_is_asked(patient: Tree, server: list[str]) -> None:
    with wired(server, patient.root) as wire:
        hello(wire, elicitation={})
        wire.send(call("assemble_context", 1, **ASKED))
        assert wire.receive()["method"] == "elicitation/create"
        assert wire.end() == (0, "")


@pytest.mark.parametrize("capability", ["sampling", "elicitation"])
def test_a_result_that_is_none(patient: Tree, server: list[str], capability: str) -> None:
    with wired(server, patient.root) as wire:
        hello(wire, **{capability: {}})
        results = [{}, {"role": "assistant"}, {"action": "perhaps"}, {"content": 7}]
        for number, result in enumerate(results, start=1):
            wire.send(call("assemble_context", number, **ASKED))
            request_ = wire.receive()
            wire.send({"jsonrpc": "2.0", "id": request_["id"], "result": result})
            message = wire.receive()["result"]
            assert message["isError"] is False
            (failure,) = message["structuredContent"]["failed"]
            assert (
                failure["reason"] == f"wire 1 gave an answer to {request_['method']} that is none"
            )
        assert wire.end() == (0, "")


def test_answers_to_something_else(patient: Tree, server: list[str]) -> None:
    """Where calls come again with answers, only those to the very question count."""

    def asking(number: int, can: dict[str, Any] = SAMPLING, **more: Any) -> dict[str, Any]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": can,
        }
        arguments = {"name": "assemble_context", "arguments": ASKED}
        return request("tools/call", number, **arguments, **more, _meta=meta)

    content = {"type": "text", "text": verdicts(complex_=True, private=False)}
    answer = {"role": "assistant", "model": "oracle-1", "content": content}
    with wired(server, patient.root) as wire:
        first = wire.answer(asking(1))["result"]
        assert first["resultType"] == "input_required"
        ((key, request_),) = first["inputRequests"].items()
        assert request_["method"] == "sampling/createMessage"
        assert wire.answer(asking(2, inputResponses={"other": answer}))["result"] == first
        form = {"action": "accept", "content": {"statement_1": True}}
        message = wire.answer(asking(3, inputResponses={key: form}))["result"]["structuredContent"]
        assert message["failed"][0]["reason"] == (
            "a client without a name gave no answer to sampling/createMessage"
        )
        message = wire.answer(asking(4, inputResponses={key: answer}))["result"][
            "structuredContent"
        ]
        assert injected_guides(message) == {"Complexity"}
        # Forms are the only way to ask a user; opening an address is none.
        neither = asking(6, {"elicitation": {"url": {}}})
        failed = wire.answer(neither)["result"]["structuredContent"]["failed"]
        assert "can be asked neither" in failed[0]["reason"]
        # Now it is known: the same is asked of nobody.
        assert wire.answer(asking(5))["result"]["structuredContent"]["text"] == message["text"]
        assert wire.end() == (0, "")


def test_what_is_asked_comes_with_the_call_itself(url: str) -> None:
    """Over HTTP, a client need not listen to anything but the answer to its call."""
    from urllib.request import ProxyHandler, Request, build_opener

    post = build_opener(ProxyHandler({}))
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }

    def sent(message: dict[str, Any]) -> Any:
        return post.open(Request(url, json.dumps(message).encode(), headers), timeout=TIME_LIMIT)

    def receive(stream: Any) -> Any:
        for line in stream:
            if line.startswith(b"data: {"):
                return json.loads(line.removeprefix(b"data: "))
        raise AssertionError("the answer ended")

    opening = initialize(HANDSHAKES[-1])
    opening["params"]["capabilities"] = {"elicitation": {}}
    with sent(opening) as stream:
        headers["Mcp-Session-Id"] = stream.headers["Mcp-Session-Id"]
    sent({"jsonrpc": "2.0", "method": "notifications/initialized"}).close()
    with sent(call("assemble_context", 1, **ASKED)) as stream:
        request_ = receive(stream)
        assert request_["method"] == "elicitation/create"
        form = {"action": "accept", "content": boxes(complex_=True, private=False)}
        sent({"jsonrpc": "2.0", "id": request_["id"], "result": form}).close()
        assert injected_guides(receive(stream)["result"]["structuredContent"]) == {"Complexity"}


# --- where nothing is served -------------------------------------------------------------------


def test_without_a_client_nobody_is_asked(shop: Tree) -> None:
    with quire.open(shop.root) as opened:
        context = opened.rules.situate(SITUATION)
        assert "### Privacy" in context.text
        assert "### Complexity" not in context.text
        (failure,) = context.failed
        assert failure.source == "judge"
        assert "not asked over the Model Context Protocol" in failure.reason
        assert context.receipt["judge"] == "mcp:nobody/1.1"
        replayed, differing = opened.replay(context.receipt)
        assert (replayed.text, differing) == (context.text, [])
    done = shop.call("rules", "test", ".", "--situation", json.dumps(SITUATION))
    assert "could not be judged, so on_error = apply decides" in done.stdout
    assert "no client to ask" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan")])
def test_a_time_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(ConfigError, match=r"judge\.timeout: must be more than 0, not "):
        open_judge(JudgeSettings(provider="mcp", timeout=timeout), lambda: None)


def test_a_provider_that_there_is_not() -> None:
    with pytest.raises(ConfigError, match="choose from semantic, llm, mcp, none"):
        open_judge(JudgeSettings(provider="oracle"), lambda: None)
