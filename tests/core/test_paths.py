"""A query names a file by whole words: a part of a name is none."""

from __future__ import annotations

import pytest

from quire.core.paths import is_named, without_path


@pytest.mark.parametrize(
    ("query", "path", "named"),
    [
        ("what does src/a.py do", "src/a.py", True),
        ("what does a.py do?", "src/a.py", True),
        ("see ./src/a.py:12", "src/a.py", True),
        ("/home/me/shop/src/a.py", "src/a.py", True),
        (r"in src\a.py, please", "src/a.py", True),
        ("read a.py.", "src/a.py", True),
        ("my notes.md here", "my notes.md", True),
        ("what does test_a.py do", "a.py", False),
        ("what does data.py do", "a.py", False),
        ("tests/a.py", "src/a.py", False),
        ("a.pyx", "src/a.py", False),
        ("the Makefile", "Makefile", True),
        ("the makefile of docs", "docs/Makefile", False),
        ("docs/Makefile", "docs/Makefile", True),
        ("test", "src/test", False),
    ],
)
def test_a_query_names_a_file(query: str, path: str, named: bool) -> None:
    assert is_named(query, path) == named


def test_only_the_name_of_the_file_is_taken_out() -> None:
    assert without_path("sign in sign.py and resign.py", "src/sign.py").split() == (
        ["sign", "in", "and", "resign.py"]
    )
