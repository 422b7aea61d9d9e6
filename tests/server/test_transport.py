"""What the client makes of answers that no service of Quire gives."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from quire import Client
from quire.client import transport
from quire.errors import InputError, QuireError, ServiceError


def client(monkeypatch: pytest.MonkeyPatch, data: object, status: int = 200) -> Client:
    """Return a client whose every call is answered so."""

    def answer(_: object, **__: Any) -> httpx.Response:
        return httpx.Response(status, content=json.dumps(data).encode())

    monkeypatch.setattr(httpx.Client, "request", answer)
    return Client("http://127.0.0.1:1", token="t", retries=0)


@pytest.mark.parametrize("data", [3, [], {}, {"text": 5, "sources": "x"}, {"items": [1]}])
def test_another_form_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch, data: object) -> None:
    asked = client(monkeypatch, data)
    with pytest.raises(ServiceError, match="another form"):
        asked.assemble("x")
    with pytest.raises(ServiceError, match="another form"):
        asked.documents.list()


def test_pages_without_an_end_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServiceError, match="never end"):
        client(monkeypatch, {"items": [], "next": "again"}).documents.list()
    with pytest.raises(ServiceError, match="never end"):
        client(monkeypatch, {"items": [{}], "next": "again"}).documents.list()


def test_facts_of_another_type_are_left_out() -> None:
    facts = {"field": {"a": 1}, "allowed": 5, "hint": [1], "place": None}
    for name in ("InputError", "QuireError", "__doc__"):
        error = transport.error_of(400, {"error": name, "message": "wrong", **facts})
        assert isinstance(error, QuireError)
        assert str(error) == "wrong"
    told = transport.error_of(400, {"message": "wrong", "allowed": ["a", "b"], "field": "k"})
    assert isinstance(told, InputError)
    assert str(told) == "k: wrong; choose from a, b"
