"""Test targets, by the naming conventions of the languages.

`test_cart.py`, `cart_test.go`, `cart.test.ts`, `CartTest.java` and `cart_spec.rb` test `cart` or
`Cart`; `test_total` and `TestTotal` test `total` or `Total`.
"""

from __future__ import annotations

import re

FILE = re.compile(
    r"test_(?P<after>\w+)|(?P<before>[\w-]+?)[_.-](?:test|tests|spec)"
    r"|(?P<capital>[A-Z]\w*?)(?:TestCase|Tests?|Spec|IT)|Test(?P<rest>[A-Z]\w*)"
)
DEFINITION = re.compile(
    r"test_(?P<snake>\w+)|[tT]est_?(?P<camel>[A-Z]\w*)|(?P<capital>[A-Z]\w*?)(?:TestCase|Tests?|Spec)"
)


def infer_file_target(path: str) -> str:
    """Return the name of what a test file tests; empty for any other file."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    match = FILE.fullmatch(stem)
    return next((name for name in match.groups() if name), "") if match else ""


def infer_targets(name: str) -> tuple[str, ...]:
    """Return the names that a function or class of a test file may test."""
    match = DEFINITION.fullmatch(name)
    if match is None:
        return ()
    if match["snake"]:
        return (match["snake"],)
    if match["capital"]:
        return (match["capital"],)
    parts = [part for part in match["camel"].split("_") if part]
    return tuple(dict.fromkeys(form for part in parts for form in (part, _uncapitalize(part))))


def _uncapitalize(name: str) -> str:
    return name[0].lower() + name[1:]
