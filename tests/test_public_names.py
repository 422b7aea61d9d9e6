"""Which names are public? A name that is added or taken away is a decision, so it is made here too."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys

import pytest

import quire

PUBLIC = [
    "AccessRule",
    "Filter",
    "IndexResult",
    "Quire",
    "QuireError",
    "SearchResult",
    "Status",
    "Viewer",
    "open",
    "verify_proof",
]


def test_the_public_names_are_these() -> None:
    assert quire.__all__ == PUBLIC
    assert quire.__all__ == sorted(quire.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_each_name_is_there_and_explained(name: str) -> None:
    found = getattr(quire, name)
    written = inspect.getdoc(found)
    assert written
    assert not written.startswith(f"{name}("), "a signature is no explanation"
    if inspect.isclass(found):
        for method, function in inspect.getmembers(found, inspect.isfunction):
            if not method.startswith("_"):
                assert inspect.getdoc(function), f"{name}.{method}"


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = quire.nothing


def test_all_names_can_be_imported_at_once() -> None:
    script = "from quire import *; print(Quire, open, verify_proof)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert b"quire.engine.Quire" in done.stdout


def test_every_module_says_which_question_it_answers() -> None:
    for module in pkgutil.walk_packages(quire.__path__, "quire."):
        found = __import__(module.name, fromlist=["_"])
        assert found.__doc__, module.name
