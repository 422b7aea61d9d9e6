"""Make bad inputs from good ones: by bytes, by words, and by the structure of JSON.

Each case follows from the name of its target and a number, so that a failure can be run again.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

ODD_WORDS = (
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\r", b"\n\n\n",
    b"\x1b[31m", b"\xe2\x80\xae", b"---\n", b"```", b"<!--", b"-->", b"]]>", b"&#x0;", b"${x}", b"%s%n",
    b"..", b"../../", b"/", b"\\", b"'", b'"', b"'''", b'"""', b"[", b"]", b"{", b"}", b"(" * 40,
    b"[" * 60, b"{" * 60, b"#" * 30, b">" * 50, b"- " * 40, b"| " * 40, b"*" * 40, b"_" * 40, b"0",
    b"-1", b"1e999", b"-0", b"NaN", b"Infinity", b"18446744073709551616", b"9" * 400, b"null", b"true",
    b"1970-01-01", b"99999-99-99T99:99:99Z", b"!!python/object:x", b"&a [*a]", b"<<: *a", b"a" * 300,
    b"\t", b"    ", b":", b": ", b"=", b",", b";", b"==", b"!", b"@", b"~", b"^", b"\\u0000", b"\\ud800",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, -(2**63), 10**400, 0.5, -0.0, 1e308, float("inf"),
    float("nan"), "", " ", "\x00", "\ud800", "\u202e", "a" * 3000, "../../etc/passwd", "*", "**",
    "[", "owner", "@group", "1970-01-01", "9999999999999999999", [], {}, [[]], [None], {"": ""},
    {"a": {"b": {"c": []}}}, ["a"] * 300, "\n", "-", "--", "--help", "0x10", "1e3", "true", "null",
)  # fmt: skip


def nested(depth: int, *, table: bool) -> Any:
    """Return a value inside so many lists or tables."""
    value: Any = 1
    for _ in range(depth):
        value = {"a": value} if table else [value]
    return value


def mutate_bytes(seeds: Sequence[bytes], random: Random) -> bytes:
    """Return a seed with a few changes."""
    data = bytearray(random.choice(seeds))
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        data = random.choice(_BYTE_CHANGES)(data, seeds, random)
        if len(data) > 20_000:
            del data[20_000:]
    return bytes(data)


def _place(data: bytearray, random: Random) -> int:
    return random.randrange(len(data) + 1)


def _flip(data: bytearray, _: Sequence[bytes], random: Random) -> bytearray:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return data


def _insert(data: bytearray, _: Sequence[bytes], random: Random) -> bytearray:
    at = _place(data, random)
    data[at:at] = random.choice(ODD_WORDS)
    return data


def _insert_random(data: bytearray, _: Sequence[bytes], random: Random) -> bytearray:
    at = _place(data, random)
    data[at:at] = random.randbytes(random.randrange(1, 9))
    return data


def _delete(data: bytearray, _: Sequence[bytes], random: Random) -> bytearray:
    at = _place(data, random)
    del data[at : at + random.choice((1, 2, 8, 64, 1000))]
    return data


def _repeat(data: bytearray, _: Sequence[bytes], random: Random) -> bytearray:
    at = _place(data, random)
    part = data[at : at + random.choice((1, 4, 30))]
    data[at:at] = part * random.choice((2, 10, 100))
    return data


def _splice(data: bytearray, seeds: Sequence[bytes], random: Random) -> bytearray:
    other = random.choice(seeds)
    at = random.randrange(len(other) + 1)
    data[_place(data, random) :] = other[at:]
    return data


def _swap_lines(data: bytearray, _: Sequence[bytes], random: Random) -> bytearray:
    lines = bytes(data).split(b"\n")
    one, two = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    if random.random() < 0.3:
        lines[one] = b" " * random.randrange(1, 9) + lines[one]
    return bytearray(b"\n".join(lines))


_BYTE_CHANGES: tuple[Callable[[bytearray, Sequence[bytes], Random], bytearray], ...] = (
    _flip,
    _insert,
    _insert,
    _insert_random,
    _delete,
    _repeat,
    _splice,
    _swap_lines,
)


def mutate_json(seed: Any, random: Random) -> Any:
    """Return a copy of a JSON value that is changed in a few places."""
    value = copy.deepcopy(seed)
    for _ in range(random.choice((1, 1, 2, 4))):
        value = _change(value, random)
    return _bury(value, random) if random.random() < 0.04 else value


def _bury(value: Any, random: Random) -> Any:
    """Put something deep into one place; last, because it cannot be copied."""
    deep = nested(random.choice((20, 300, 3000)), table=random.random() < 0.5)
    if isinstance(value, dict) and value:
        value[random.choice(sorted(value, key=str))] = deep
    elif isinstance(value, list) and value:
        value[random.randrange(len(value))] = deep
    else:
        return deep
    return value


def _change(value: Any, random: Random) -> Any:
    """Change one place, reached by a random walk from the top."""
    inside = isinstance(value, (dict, list)) and value and random.random() < 0.85
    if not inside:
        return _other(value, random)
    if isinstance(value, dict):
        key = random.choice(sorted(value, key=str))
        choice = random.random()
        if choice < 0.1:
            del value[key]
        elif choice < 0.2:
            value[str(random.choice(ODD_VALUES))[:40]] = copy.deepcopy(random.choice(ODD_VALUES))
        else:
            value[key] = _change(value[key], random)
        return value
    at = random.randrange(len(value))
    choice = random.random()
    if choice < 0.1:
        del value[at]
    elif choice < 0.2:
        value.insert(at, copy.deepcopy(value[at]))
    else:
        value[at] = _change(value[at], random)
    return value


def _other(value: Any, random: Random) -> Any:
    choice = random.random()
    if choice < 0.3 and isinstance(value, str):
        return mutate_bytes([value.encode("utf-8", "surrogatepass")], random).decode(
            "utf-8", "replace"
        )
    if choice < 0.5 and isinstance(value, int):
        return value + random.choice((-1, 1, 1000, -(10**9)))
    return copy.deepcopy(random.choice(ODD_VALUES))


def dump(value: Any) -> str:
    """Write a value as JSON, as deep as it may be; what cannot be written is cut."""
    try:
        return json.dumps(value)
    except (RecursionError, ValueError):
        return "[" * 3000
