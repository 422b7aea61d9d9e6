"""Every way to alter a receipt in one place."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from quire.receipts import compact

Path = tuple[str | int, ...]
HASH_DIGITS = 32


def places(value: Any, at: Path = ()) -> Iterator[Path]:
    """Go through everything inside, containers and leaves."""
    if at:
        yield at
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*at, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from places(item, (*at, place))


def others(value: Any) -> Iterator[Any]:
    """Give values that are not this one: of the same kind, of another, and ones that look alike."""
    if isinstance(value, list):
        yield from ([*value, None], None, {})
        if value:
            yield from (value[:-1], value[1:], [*value, value[-1]], [value[0], *value])
        if value != value[::-1]:
            yield value[::-1]
    elif isinstance(value, dict):
        yield from ({**value, "more": 1}, None, [])
        for name in value:
            yield {key: item for key, item in value.items() if key != name}
    else:
        yield from _other_leaves(value)


def _other_leaves(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ("", 0, False, {})
    if isinstance(value, bool):
        return (not value, int(value), None)
    if isinstance(value, int):
        return (value + 1, -value - 1, float(value), str(value), None)
    if isinstance(value, float):
        return (value + 0.125, str(value), None)
    if len(value) >= HASH_DIGITS and set(value) <= set("0123456789abcdef"):
        return (value[:-1] + ("0" if value[-1] != "0" else "1"), value[:-2], value.upper(), None, 0)
    return (value + "0", value[1:] if value else "x", value.swapcase() + " ", None, 0, [])


def altered(receipt: Any, path: Path, value: Any) -> Any:
    """Give a copy of a receipt with another value in one place."""
    if not path:
        return value
    head, *rest = path
    changed = copy.copy(receipt)
    changed[head] = altered(receipt[head], tuple(rest), value)
    return changed


def alterations(receipt: Any) -> Iterator[tuple[Path, Any]]:
    """Give every receipt that differs from this one in one place, `created` aside."""
    for other in others(receipt):
        if not (isinstance(other, dict) and compact(other) == compact(receipt)):
            yield (), other  # without a part that it names by hash it is the same receipt
    for path in places(receipt):
        if path[0] == "created":
            continue
        found = receipt
        for part in path:
            found = found[part]
        for value in others(found):
            if type(value) is type(found) and value == found:
                continue  # a hash of nothing but zeros has no capitals
            yield path, altered(receipt, path, value)
