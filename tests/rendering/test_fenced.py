"""A cell of a notebook stands in one fence, in its own language."""

from __future__ import annotations

import json

import pytest

from quire.rendering.fenced import without_fence
from tests.conftest import Tree

CELLS = [
    {"cell_type": "markdown", "source": ["# Harbour\n", "How much the crane lifts.\n"]},
    {"cell_type": "code", "source": "crane_tons = 40\nprint(crane_tons)", "outputs": []},
]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("```python\nx = 1\n```\n", ("x = 1", "python")),
        ("~~~~\nx = 1\n~~~~", ("x = 1", "")),
        ("```python\nx = 1\n", ("x = 1", "python")),
        ("```python\nx = 1\n```\nMore.", ("```python\nx = 1\n```\nMore.", "markdown")),
        ("Prose.", ("Prose.", "markdown")),
        ("```\n```", ("```\n```", "markdown")),
    ],
)
def test_a_text_in_a_fence_is_taken_out_of_it(text: str, shown: tuple[str, str]) -> None:
    assert without_fence(text, "markdown") == shown
    assert without_fence(text, "rst") == (text, "rst")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("```python\nx = 1\n```\n", ("x = 1", "python")),
        ("Prose.\n\n```python\nx = 1\n```\nMore.", ("Prose.\n\n    x = 1\nMore.", "markdown")),
        ("x = 1\n```\nMore.", ("    x = 1\nMore.", "markdown")),
        ("Prose.\n```python\nx = 1", ("Prose.\n    x = 1", "markdown")),
        ("Prose.", ("Prose.", "markdown")),
    ],
)
def test_code_between_prose_of_a_notebook_is_indented(text: str, shown: tuple[str, str]) -> None:
    assert without_fence(text, "notebook") == shown


@pytest.mark.parametrize("recipe", ["agent", "entities"])
def test_a_notebook_is_not_fenced_twice(tree: Tree, recipe: str) -> None:
    tree.write("crane.ipynb", json.dumps({"cells": CELLS, "metadata": {}}))
    with tree.open() as quire:
        quire.index(embed=False)
        page = quire.assemble("crane_tons print", recipe=recipe)
        assert quire.verify(page.receipt, page.text).problems == ()
    assert "crane_tons = 40" in page.text
    assert "````" not in page.text
    assert "notebook" not in page.text
