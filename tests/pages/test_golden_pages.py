"""Pages of each recipe at four budgets, as they were read.

`make golden-pages` writes them anew; then read each difference as the model or the person would who
gets the page.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quire import Quire
from tests.pages.project import BUDGETS, PAGES, page
from tests.pipeline.invariants import count

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_it_was_read(project: Quire, name: str, budget: int) -> None:
    context = page(project, name, budget)
    file = GOLDEN / f"{name}-{budget}.md"
    if os.environ.get("QUIRE_GOLDEN") == "write":
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(f"{context.text}\n", "utf-8")
    assert f"{context.text}\n" == file.read_text("utf-8")
    assert context.tokens == count("o200k", context.text) <= budget
    assert project.verify(context.receipt, context.text).problems == ()
    assert project.replay(context.receipt)[1] == []


def test_no_golden_page_is_left_over() -> None:
    expected = {f"{name}-{budget}.md" for name in PAGES for budget in BUDGETS}
    assert {file.name for file in GOLDEN.iterdir()} == expected
