"""Blocks of a workspace and guides, as pages for agents show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from quire import Quire
from quire.core.types.blocks import Block
from tests.conftest import Tree
from tests.pages.project import block_id, seconds

NOTES = """\
# Walrus import

(walrus-import)=

## Steps of the walrus import

The walrus import strips the byte order mark.

```python
# walrus import, step by step
strip(mark)  # not the header
```

- [ ] Measure the walrus import @Ann due:2026-11-10
- [ ] Write down the walrus import @Ann due:2026-12-24
"""


@pytest.fixture
def noted(tree: Tree) -> Iterator[Quire]:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n\n[ingest]\nignore = ["/notes/"]\n')
    tree.write("notes/Walrus.md", NOTES)
    tree.write("AGENTS.md", "# House rules\n\n- Use absolute imports.\n")
    tree.write("src/AGENTS.md", "# House rules\n\n- Use relative imports.\n")
    with tree.open() as opened:
        opened.index()
        at = seconds("2026-11-01")
        opened.blocks.import_pages(tree.root / "notes", "vault", share=["public"], at=at)
        yield opened


def test_blocks_are_named_by_their_page_and_code_stays_code(noted: Quire) -> None:
    page = noted.assemble("how does the walrus import work", recipe="agent")
    assert (
        "`notes/Walrus.md:7`: Steps of the walrus import\n"
        "The walrus import strips the byte order mark.\n\n"
        "Line 9\n```python\n# walrus import, step by step\nstrip(mark)"
    ) in page.text
    assert noted.verify(page.receipt, page.text).binds
    (titles,) = [{one.about["page_title"] for one in page.items if one.about.get("page_title")}]
    assert titles == {"Walrus"}


def test_titles_and_anchors_alone_are_no_items(noted: Quire) -> None:
    page = noted.assemble("how does the walrus import work", recipe="agent")
    assert not any(one.text.startswith(("**Page**", "**Heading**")) for one in page.items)
    assert not any("(walrus-import)=" in block.text for block in noted.blocks.export())
    assert noted.assemble("walrus page", recipe="agent", allow_empty=True).failed == ()


def test_due_dates_of_plain_text_are_due_dates(noted: Quire) -> None:
    focus = block_id(noted, "Walrus")
    page = noted.assemble(
        "What is overdue on this page?", recipe="workspace", focus=focus, as_of="2026-11-18"
    )
    assert "[ ] Measure the walrus import @Ann\nDue: 2026-11-10 (overdue)" in page.text
    assert "Due: 2026-12-24 (overdue)" not in page.text


def test_guides_say_where_they_stand(noted: Quire) -> None:
    situation = {"tool": "edit", "path": "src/a.py"}
    page = noted.assemble("edit", recipe="situation", situation=situation, base="src")
    near, far = (page.text.index(f"### House rules ({path}AGENTS.md)") for path in ("src/", ""))
    assert near < far, "of two that contradict each other the nearer one comes first"


GUIDE = """\
# Handbook

## Leave

Paid leave takes sixteen weeks.

## Incidents

The incident lead changes with the severity of the incident.

A security incident lead is responsible for:

- Following the checklist.
- Telling customers.

## Travel

Nobody books a flight on a weekend.

An incident abroad is reported to the desk.
"""


@pytest.fixture
def handbook(tree: Tree) -> Iterator[Quire]:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n\n[ingest]\nignore = ["/notes/"]\n')
    tree.write("notes/Handbook.md", GUIDE)
    for number in range(8):
        tree.write(
            f"notes/Other {number}.md", f"# Other {number}\n\nAn incident, number {number}.\n"
        )
    with tree.open() as opened:
        opened.index()
        at = seconds("2026-11-01")
        opened.blocks.import_pages(tree.root / "notes", "vault", share=["public"], at=at)
        yield opened


def test_blocks_of_one_page_stand_together_in_their_order(handbook: Quire) -> None:
    page = handbook.assemble("who is the security incident lead", recipe="agent", floor=0)
    assert page.text.count("`notes/Handbook.md:") == 1, "a page is named once"
    lines = [
        page.text.index(part)
        for part in (
            "`notes/Handbook.md:9`: Incidents\nThe incident lead changes",
            "\n\nLine 11\nA security incident lead",
            "\n\nLine 20: Travel\nAn incident abroad",
        )
    ]
    assert lines == sorted(lines)
    assert handbook.verify(page.receipt, page.text).binds


@pytest.mark.parametrize("recipe", ["agent", "workspace"])
def test_what_announces_a_list_brings_it(handbook: Quire, recipe: str) -> None:
    page = handbook.assemble("what is a security incident lead responsible for", recipe=recipe)
    assert "- Following the checklist." in page.text
    assert page.text.index("is responsible for:") < page.text.index("- Following the checklist.")
    none = handbook.assemble(
        "what is a security incident lead responsible for",
        recipe=recipe,
        kinds=["block.paragraph"],
        allow_empty=True,
    )
    assert "- Following the checklist." not in none.text


def test_without_vectors_a_workspace_is_ordered_by_words(handbook: Quire) -> None:
    page = handbook.assemble("security incident lead responsible", recipe="workspace", floor=0)
    scores = {chunk.text: chunk.score for chunk in page.chunks}
    best = [text for text in scores if scores[text] == max(scores.values())]
    assert "A security incident lead is responsible for:" in best, "not the id of a block decides"
    assert len(best) < len(scores)


@pytest.mark.parametrize("recipe", ["entities", "workspace"])
def test_a_heading_leads_to_nothing_that_a_filter_leaves_out(tree: Tree, recipe: str) -> None:
    """What it leads to takes its place, so a block that nobody sees must not take it."""
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    everybody = ("public",)
    with tree.open() as opened:
        opened.blocks.put([Block("old", "paragraph", "The old way.", "h", access=everybody)], at=1)
        heading = Block("h", "heading", "Walrus migration", access=everybody)
        opened.blocks.put([heading], at=100)
        own = Block("own", "paragraph", "Only for Ann.", "h", access=("user:ann",))
        opened.blocks.put([own], at=100, viewer="ann")

        def page(**options: Any) -> str:
            context = opened.assemble(
                "walrus migration", recipe=recipe, budget=2000, allow_empty=True, **options
            )
            return context.text

        assert "The old way." in page()
        since = page(since=50, shared_only=True)
        assert "The old way." not in since
        assert "Only for Ann." not in since
        assert "Walrus migration" in since
        assert "Only for Ann." in page(since=50)
