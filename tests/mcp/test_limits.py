"""Every result is small enough for its client, and says what it left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rs_bpe.bpe import openai

from quire.mcp import limits
from tests.conftest import Forest

from .wire import request, wired

CLIENTS = 25_000
FEW = 400

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
items = st.lists(st.fixed_dictionaries({"path": texts, "n": st.integers()}), max_size=40)


def counted(value: Any) -> int:
    """Count as another implementation does."""
    return len(openai.o200k_base().encode(json.dumps(value, ensure_ascii=False)))


@settings(max_examples=60)
@given(items=items, text=texts, notes=st.lists(texts, max_size=2))
def test_an_answer_is_bounded(items: list[Any], text: str, notes: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MAX_TOKENS", FEW)
        data = {"text": text, "items": items, "notes": notes}
        result = limits.fit(data, "items", "text")
        if limits.count_result(data, "text") <= FEW:
            assert result == data
            return
        assert set(result) == set(data)
        assert result["notes"][-1].endswith("would be too long for one answer")
        if result["notes"][-1].startswith("the last "):  # no text was cut
            assert result["text"] == text
            assert result["items"] == items[: len(result["items"])]
        if len(text) < 50:
            assert limits.count_result(result, "text") <= FEW


@settings(max_examples=60)
@given(text=st.one_of(texts, texts.map(lambda text: text * 40)))
def test_parts_are_short_and_are_the_text_again(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MAX_TOKENS", FEW)
        parts = limits.split(text)
        assert "".join(parts) == text
        assert all(limits.count(part) <= FEW for part in parts)
        assert parts == [""] or all(parts)


def test_long_answers_of_a_real_store(plant: Forest, server: list[str]) -> None:
    tree = plant()
    words = [
        "herring",
        "mackerel",
        "sprat",
        "anchovy",
        "sardine",
        "eel",
        "bream",
        "perch",
        "carp",
        "trout",
    ]
    for number in range(120):
        lines = [
            f"The {words[(number + n) % 10]} of {number}-{n} swims in the net." for n in range(40)
        ]
        tree.write(f"fish/{number}.md", f"# Fish {number}\n\n" + "\n\n".join(lines) + "\n")
    tree.write("hex.txt", " ".join(f"{number * 2654435761:032x}" for number in range(4000)))
    tree.index()
    with wired(server, tree.root) as wire:
        wire.initialize()
        result = wire.call("search", 1, query="herring net", k=100)
        assert counted(result) < CLIENTS
        data = result["structuredContent"]
        assert 0 < len(data["results"]) < 100
        (note,) = [one for one in data["notes"] if "left out" in one]
        assert note.startswith(f"the last {100 - len(data['results'])} of results are left out")
        page = wire.call(
            "assemble_context", 2, query="herring net", recipe="documents", max_tokens=100_000
        )
        assert counted(page) < CLIENTS
        assert page["structuredContent"]["tokens"] > 7000
        why = wire.call("explain", 3, query="herring net", recipe="documents", max_tokens=8000)
        assert counted(why) < CLIENTS
        # A counter that takes one token for what others take many for cannot pass the bound.
        dense = wire.call(
            "assemble_context",
            4,
            query="hex",
            recipe="documents",
            paths=["hex.txt"],
            model="approx",
        )
        assert counted(dense) < CLIENTS
        # What cannot be shortened is read in parts, and is whole when they are joined.
        receipt, uri, count = "", page["structuredContent"]["receipt_uri"], 0
        while uri:
            first, *after = wire.answer(request("resources/read", 5, uri=uri))["result"]["contents"]
            assert counted([first, *after]) < CLIENTS
            receipt += first["text"]
            uri, count = (after[0]["uri"] if after else ""), count + 1
        assert count == 1, "a receipt is short without its parts"
        assert json.loads(receipt)["hash"] == page["structuredContent"]["receipt"]
        with tree.open() as opened:
            (record,) = [one for one in opened.documents.list() if one.path == "hex.txt"]
        part = wire.answer(request("resources/read", 6, uri=f"quire://source/{record.id}/2"))
        assert counted(part["result"]) < CLIENTS
        past = wire.answer(request("resources/read", 7, uri=f"quire://source/{record.id}/999"))
        assert "has no part 999; read 1 to" in past["error"]["message"]
