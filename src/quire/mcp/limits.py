"""How is an answer kept below what clients take?

Clients refuse, or cut at will, what is longer than 25,000 tokens as their model counts. So all that
is sent of an answer stays below fewer tokens of a counter that is at hand; where something had to
be left out, the answer says so.
"""

from __future__ import annotations

import json
from typing import Any

MOST = 20_000
"""Tokens of o200k; other models count up to a quarter more."""
BUDGET = 8_000
"""What a context may have of it: its text is sent twice, for programs and for people."""
LONGEST = (8_000, 1_000, 100)
"""Characters that a text is cut to, one after the other, where leaving out items is not enough."""
CUT = "…"


def size(value: object) -> int:
    """Count the tokens of a value as it is sent."""
    from quire import count_tokens

    return count_tokens(written(value))


def written(value: object) -> str:
    """Write a value as it is sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def total(told: dict[str, Any], shown: str) -> int:
    """Count the tokens of an answer: all of it as data, and what is shown of it as text."""
    return size(told) + size(told[shown] if shown else written(told))


def within(told: dict[str, Any], growing: str, shown: str = "") -> dict[str, Any]:
    """Give an answer that is short enough: without the last of its items, then with texts cut."""
    if total(told, shown) <= MOST:
        return told
    items = told.get(growing, [])
    few, many = 0, len(items)
    while few < many:  # the most items that fit
        middle = (few + many + 1) // 2
        if total(_with(told, growing, items[:middle]), shown) <= MOST:
            few = middle
        else:
            many = middle - 1
    kept = _with(told, growing, items[: max(few, 1)])
    notes = kept.get("notes", [])
    for length in LONGEST:
        if total(kept, shown) <= MOST:
            break
        note = f"texts are cut to {length} characters: all would be too long for one answer"
        kept = {**_cut(kept, length), "notes": [*_cut(notes, length), note]}
    return kept


def _with(told: dict[str, Any], growing: str, items: list[Any]) -> dict[str, Any]:
    gone = len(told.get(growing, [])) - len(items)
    if not gone:
        return told
    note = f"the last {gone} of {growing} are left out: all would be too long for one answer"
    return {**told, growing: items, "notes": [*told.get("notes", []), note]}


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else value[:longest] + CUT
    if isinstance(value, list):
        return [_cut(item, longest) for item in value]
    if isinstance(value, dict):
        return {key: _cut(item, longest) for key, item in value.items()}
    return value


def parts(text: str) -> list[str]:
    """Split a text into parts that can each be sent; joined, they are the text again."""
    found = []
    while text:
        length = min(len(text), 8 * MOST)
        while (tokens := size(text[:length])) > MOST:
            length = max(1, length * MOST // tokens - 1)
        found.append(text[:length])
        text = text[length:]
    return found or [""]
