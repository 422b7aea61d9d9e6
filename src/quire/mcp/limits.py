"""Keep results below the size that clients accept.

Clients refuse, or cut, results above 25,000 tokens as their model counts. So everything that is
sent of a result stays below fewer tokens of a counter that is at hand; a note in the result says
what was left out.
"""

from __future__ import annotations

import json
from typing import Any

MAX_TOKENS = 20_000
"""Tokens of o200k; other models count up to a quarter more."""
MAX_CONTEXT_TOKENS = 8_000
"""The share of a context: its text is sent twice, for programs and for people."""
TEXT_LENGTHS = (8_000, 1_000, 100)
"""Characters that texts are cut to, one after the other, if dropping items is not enough."""
ELLIPSIS = "…"


def count(value: object) -> int:
    """Count the tokens of a value as it is sent."""
    from quire import count_tokens

    return count_tokens(compact_json(value))


def compact_json(value: object) -> str:
    """Serialize plain data as it is sent: JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def count_result(data: dict[str, Any], text_name: str) -> int:
    """Count the tokens of a result: all of it as data, and its text, or all of it, as text."""
    return count(data) + count(data[text_name] if text_name else compact_json(data))


def fit(data: dict[str, Any], list_name: str, text_name: str = "") -> dict[str, Any]:
    """Return a result that is small enough: without the last items of a list, then with cut texts.

    Args:
        data: The whole result.
        list_name: The list that may lose its last items.
        text_name: The text that is sent a second time; empty: all data is.
    """
    if count_result(data, text_name) <= MAX_TOKENS:
        return data
    items = data.get(list_name, [])
    low, high = 0, len(items)
    while low < high:  # the most items that fit
        middle = (low + high + 1) // 2
        if count_result(_with_items(data, list_name, items[:middle]), text_name) <= MAX_TOKENS:
            low = middle
        else:
            high = middle - 1
    result = _with_items(data, list_name, items[: max(low, 1)])
    notes = result.get("notes", [])
    for length in TEXT_LENGTHS:
        if count_result(result, text_name) <= MAX_TOKENS:
            break
        note = f"texts are cut to {length} characters: all would be too long for one answer"
        result = {**_cut_texts(result, length), "notes": [*_cut_texts(notes, length), note]}
    return result


def split(text: str) -> list[str]:
    """Split a text into parts that can each be sent; joined, they are the text again."""
    parts = []
    while text:
        length = min(len(text), 8 * MAX_TOKENS)
        while (tokens := count(text[:length])) > MAX_TOKENS:
            length = max(1, length * MAX_TOKENS // tokens - 1)
        parts.append(text[:length])
        text = text[length:]
    return parts or [""]


def _with_items(data: dict[str, Any], list_name: str, items: list[Any]) -> dict[str, Any]:
    dropped = len(data.get(list_name, [])) - len(items)
    if not dropped:
        return data
    note = f"the last {dropped} of {list_name} are left out: all would be too long for one answer"
    return {**data, list_name: items, "notes": [*data.get("notes", []), note]}


def _cut_texts(value: Any, length: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= length else value[:length] + ELLIPSIS
    if isinstance(value, list):
        return [_cut_texts(item, length) for item in value]
    if isinstance(value, dict):
        return {key: _cut_texts(item, length) for key, item in value.items()}
    return value
