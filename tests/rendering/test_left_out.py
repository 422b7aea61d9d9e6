"""Marks for code that is left out."""

from __future__ import annotations

import pytest

from quire.rendering.left_out import continued, lines_of

QUOTES = '"' * 3


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("    of *bases*.\n    QQQ\n    return 1\n", True),
        ("    of *bases*.\n    QQQ\n    def inner():\n        QQQNothing.QQQ\n", True),
        ("    return 1\n", False),
        ("    text = QQQ\n    a\n    QQQ\n", False),
        ("    def inner():\n        QQQ\n        What it does\n", False),
        ("    QQQWhole.QQQ\n    text = QQQ\n    QQQ\n", False),
    ],
)
def test_what_begins_in_a_docstring_says_so(text: str, inside: bool) -> None:
    mark = continued(7, text.replace("QQQ", QUOTES))
    assert mark == ("… continues at line 7 in a docstring" if inside else "… continues at line 7")
    assert lines_of(f"    # {mark}") == 0
