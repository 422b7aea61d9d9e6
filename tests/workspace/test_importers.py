"""Folders of pages become the blocks that they should, and stay in step with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quire import Block, PageImportResult, Quire, QuireError
from quire.core.types import OWNER
from quire.workspace.importers.markdown import parse_page
from quire.workspace.importers.outline import Page, Part

if TYPE_CHECKING:
    from tests.conftest import Tree

MIXED = """---
title: Ropes
tags: [deck, gear]
status: draft
---
Intro with [a link](other.md "Other") and `[[no link]]`.

# Knots

- one
- [two](b.md#x)

## Bowline

> Quoted
> text

> [!Warning] Wet rope
> Slips.

```python
tie()
```

| a | b |
|---|---|
| 1 | [c](c.md) |

---

- [ ] Buy rope 📅 2026-02-01
  - [x] Measure
    1. plainly
- plain item

![A knot](knot.png)

<!-- a comment -->

# Knots

Last. ^the-end
"""


def shown(page: Page) -> list[tuple[str, str, str | None]]:
    return [
        (part.type, part.text, None if part.parent is None else page.parts[part.parent].text)
        for part in page.parts
    ]


def part(page: Page, type_: str, number: int = 0) -> Part:
    return [one for one in page.parts if one.type == type_][number]


def test_a_page_has_parts_by_its_structure() -> None:
    page = parse_page("ropes.md", MIXED)
    assert page.title == "Ropes"
    assert shown(page) == [
        ("paragraph", 'Intro with [a link](other.md "Other") and `[[no link]]`.', None),
        ("heading", "Knots", None),
        ("list", "- one\n- [two](b.md#x)", "Knots"),
        ("heading", "Bowline", "Knots"),
        ("quote", "Quoted\ntext", "Bowline"),
        ("callout", "Wet rope\nSlips.", "Bowline"),
        ("code", "tie()", "Bowline"),
        ("table", "| a | b |\n|---|---|\n| 1 | [c](c.md) |", "Bowline"),
        ("divider", "", "Bowline"),
        ("todo", "Buy rope", "Bowline"),
        ("todo", "Measure", "Buy rope"),
        ("list", "plainly", "Measure"),
        ("list", "plain item", "Bowline"),
        ("image", "A knot", "Bowline"),
        ("heading", "Knots", None),
        ("paragraph", "Last.", "Knots"),
    ]
    assert part(page, "todo").properties == {"done": False, "due": "2026-02-01"}
    assert part(page, "todo", 1).properties == {"done": True}
    assert part(page, "code").properties == {"language": "python"}
    assert part(page, "callout").properties == {"kind": "warning"}
    assert part(page, "image").properties == {"file": "knot.png"}
    assert part(page, "heading", 1).properties == {"level": 2}
    assert [one.addresses for one in page.parts if one.addresses] == [
        ("other.md",),
        ("b.md#x",),
        ("c.md",),
    ]
    assert page.parts[-1].anchor == "^the-end"
    assert len({one.key for one in page.parts}) == len(page.parts)


def test_an_edit_leaves_the_places_of_other_sections() -> None:
    before = {one.text: one.key for one in parse_page("a.md", MIXED).parts}
    edited = MIXED.replace("# Knots\n\n- one", "# Knots\n\nNew.\n\n- one", 1)
    after = {one.text: one.key for one in parse_page("a.md", edited).parts}
    assert {text for text in before if after.get(text) != before[text]} == set()


def test_a_first_heading_is_the_title() -> None:
    assert parse_page("x/a.md", "# The *title*\n\nText.\n").title == "The title"
    assert parse_page("x/plain.md", "Text.\n").title == "plain"
    assert parse_page("x/n.md", "# Heading\n", wiki=True).title == "n"
    assert (
        parse_page("x/a.rst", "Title\n=====\n\nText.\n\nBelow\n-----\n\nMore.\n").title == "Title"
    )


def test_a_note_that_stands_for_its_folder_is_called_as_that() -> None:
    title = "# Paid time off\n"
    assert parse_page("leave/time-off/index.md", title, wiki=True).title == "time-off"
    assert parse_page("leave/README.md", title, wiki=True).title == "leave"
    assert parse_page("index.md", title, wiki=True).title == "index"
    assert parse_page("leave/sick.md", title, wiki=True).title == "sick"
    assert parse_page("leave/time-off/index.md", title).title == "Paid time off"


def test_what_is_too_long_for_a_block_is_cut() -> None:
    lines = "".join(f"line {number} of a long listing\n" for number in range(5_000))
    page = parse_page("a.md", f"```\n{lines}```\n")
    assert len(page.parts) == 3
    assert "".join(one.text for one in page.parts) == lines.rstrip("\n")


# --- into a store --------------------------------------------------------------------------------


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    return folder


def tree_of(quire: Quire, viewer: str | None = None) -> list[str]:
    return [
        f"{'  ' * depth}{one.type} {one.text}" for depth, one in quire.blocks.tree(viewer=viewer)
    ]


def linked(quire: Quire) -> set[tuple[str, str, str]]:
    """Give all links between blocks by their texts."""
    with quire.store.view(OWNER) as view:
        names = {record.id: record.title for record in view.listing()}
        return {(names[one.source], one.kind, names[one.target]) for one in view.links([*names])}


def counts(result: PageImportResult) -> tuple[int, ...]:
    return result.added, result.changed, result.unchanged, result.removed


GONE = "[Gone](missing.md), [logo](../logo.png), [site](https://a.b), [mail](mailto:a@b.c)."
DOCS = {
    "docs/index.md": "# Handbook\n\nSee [setup](guide/setup.md#install) and [guide](guide/).\n",
    "docs/guide/setup.md": "# Setup\n\n## Install\n\nRun it. Back [home](../) or [up](/index.md).\n",
    "docs/guide/README.md": f"# Guide\n\n{GONE}\n",
    "docs/guide/img/x.png": "no page",
    "docs/logo.png": "no page",
    "docs/plans/old.md": "---\nstatus: superseded\nsuperseded_by: new.md\nupdated: 2020-01-01\n---\nOld.\n",
    "docs/plans/new.md": "# New\n\nNew.\n",
}


def test_a_tree_of_markdown(opened: Quire, plain: Tree) -> None:
    folder = written(plain.root, DOCS) / "docs"
    result = opened.blocks.import_pages(folder, "markdown", at=100)
    assert tree_of(opened) == [
        "page Handbook",
        "  paragraph See [setup](guide/setup.md#install) and [guide](guide/).",
        "  page Guide",
        f"    paragraph {GONE}",
        "    page Setup",
        "      heading Install",
        "        paragraph Run it. Back [home](../) or [up](/index.md).",
        "  page plans",
        "    page New",
        "      paragraph New.",
        "    page old",
        "      paragraph Old.",
    ]
    see, run = (
        "See [setup](guide/setup.md#install) and [guide](guide/).",
        "Run it. Back [home](../) or [up](/index.md).",
    )
    assert linked(opened) == {
        (see, "link", "Setup"),
        (see, "link", "Install"),
        (see, "link", "Guide"),
        (run, "link", "Handbook"),
        ("New", "supersedes", "old"),
    }
    assert (result.pages, result.blocks, result.resolved) == (5, 12, 4)
    assert [(one.path, one.reason) for one in result.dangling] == [
        ("guide/README.md", "missing.md")
    ]
    old = next(one for _, one in opened.blocks.tree() if one.text == "old")
    assert (old.properties["status"], old.edited) == ("superseded", 1_577_836_800)
    assert opened.blocks.get(result.root).text == "Handbook"


def test_twice_changes_nothing_and_a_change_little(opened: Quire, plain: Tree) -> None:
    folder = written(plain.root, DOCS) / "docs"
    first = opened.blocks.import_pages(folder, "markdown", at=100)
    assert counts(first) == (12, 0, 0, 0)
    before = opened.status().roots
    again = opened.blocks.import_pages(folder, "markdown", at=200)
    assert counts(again) == (0, 0, 12, 0)
    assert opened.status().roots == before
    ids = {one.text: one.id for _, one in opened.blocks.tree()}
    written(plain.root, {"docs/plans/new.md": "# New\n\nNewer.\n", "docs/plans/next.md": "Next.\n"})
    assert counts(opened.blocks.import_pages(folder, "markdown", at=300)) == (2, 1, 11, 0)
    after = {one.text: one for _, one in opened.blocks.tree()}
    assert after["Newer."].id == ids["New."]
    assert (after["Newer."].created, after["Newer."].edited) == (100, 300)
    (folder / "plans/next.md").unlink()
    written(plain.root, {"docs/plans/new.md": "# New\n\nNew.\n"})
    assert counts(opened.blocks.import_pages(folder, "markdown", at=400)) == (0, 1, 11, 2)
    (folder / "guide/setup.md").rename(folder / "guide/start.md")
    moved = opened.blocks.import_pages(folder, "markdown", at=500)
    assert moved.removed == 3
    assert sorted(one.reason for one in moved.dangling) == ["guide/setup.md#install", "missing.md"]
    assert opened.store.check() == []


def test_whom_it_is_shared_with_stays(opened: Quire, plain: Tree) -> None:
    folder = written(plain.root, DOCS) / "docs"
    result = opened.blocks.import_pages(folder, "markdown", at=100, share=["ann"])
    assert tree_of(opened, "bob") == []
    assert tree_of(opened, "ann") == tree_of(opened)
    guide = next(one.id for _, one in opened.blocks.tree() if one.text == "Guide")
    opened.blocks.share(guide, ["bob"], at=150)
    opened.blocks.put([Block("remark", "comment", "Nice", guide)], at=160, viewer="bob")
    written(plain.root, {"docs/guide/README.md": "# Guide\n\nShort.\n"})
    opened.blocks.import_pages(folder, "markdown", at=200)
    assert sorted(tree_of(opened, "bob")[:3]) == [
        "  comment Nice",
        "  paragraph Short.",
        "page Guide",
    ]
    assert opened.blocks.get(result.root).access == ("user:ann",)
    assert opened.blocks.get("remark").text == "Nice"


def test_a_viewer_imports_for_themselves(opened: Quire, plain: Tree) -> None:
    folder = written(plain.root, DOCS) / "docs"
    mine = opened.blocks.import_pages(folder, "markdown", at=100, viewer="ann")
    owners = opened.blocks.import_pages(folder, "markdown", at=100)
    assert mine.root != owners.root
    assert opened.blocks.get(mine.root).access == ("user:ann",)
    assert opened.blocks.get(mine.root).author == "ann"
    assert counts(opened.blocks.import_pages(folder, "markdown", at=200, viewer="ann")) == (
        0,
        0,
        12,
        0,
    )
    assert len(tree_of(opened, "bob")) == 12


def test_an_import_takes_nothing_over(opened: Quire, plain: Tree) -> None:
    folder = written(plain.root, DOCS) / "docs"
    root = opened.blocks.import_pages(folder, "markdown", at=100, viewer="bob").root
    opened.blocks.delete(root, viewer="bob")
    opened.blocks.put([Block(root, "page", "Mine")], at=150, viewer="ann")
    with pytest.raises(QuireError, match=f"the id {root} cannot be used"):
        opened.blocks.import_pages(folder, "markdown", at=200, viewer="bob")
    assert opened.blocks.get(root).text == "Mine"


def test_a_folder_that_cannot_be_taken_in(opened: Quire, plain: Tree, tmp_path: Path) -> None:
    with pytest.raises(QuireError, match="is not a folder"):
        opened.blocks.import_pages(tmp_path / "nothing", "markdown", at=1)
    with pytest.raises(QuireError, match="holds no pages"):
        opened.blocks.import_pages(tmp_path, "markdown", at=1)
    with pytest.raises(QuireError, match="unknown format 'wiki'; choose from vault, notion"):
        opened.blocks.import_pages(tmp_path, "wiki", at=1)
    written(tmp_path, {"a.md": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n", "b.md": "B"})
    (tmp_path / "c.md").write_bytes(b"\x00\x01\x02")
    result = opened.blocks.import_pages(tmp_path, "markdown", at=1)
    assert [one.path for one in result.skipped] == ["c.md"]
    assert [(one.path, one.line) for one in result.redacted] == [("a.md", 1)]
    assert result.pages == 2


VAULT = {
    ".obsidian/app.json": "{}",
    "Home.md": "---\naliases: [Start, Begin]\ntags: top\n---\n"
    "Go to [[Harbour|the harbour]], [[Log#Day two]], [[Log#^calm]], [[boats/heron]] and [[Tern]].\n\n"
    "![[Log]]\n\n![[map.png|The bay]]\n\n| x |\n|---|\n| [[Harbour\\|h]] |\n\n#deck/aft `#code` [[Nowhere]]\n",
    "Harbour.md": "See [[start]] and [log](Log.md).\n",
    "places/Harbour.md": "Another [[Harbour]].\n",
    "Log.md": "# Day one\n\n# Day two\n\nCalm sea. ^calm\n",
    "boats/Heron.md": "A [[Tern]] of its own. [[../Log]]\n",
    "boats/Tern.md": "Tern.\n",
    "boats/boats.md": "All boats.\n",
    "old/deep/Tern.md": "Old tern.\n",
    "map.png": "picture",
}


def test_a_vault(opened: Quire, plain: Tree) -> None:
    folder = written(plain.root / "My vault", VAULT)
    result = opened.blocks.import_pages(folder, "vault", at=100)
    assert tree_of(opened) == [
        "page My vault",
        "  page boats",
        "    paragraph All boats.",
        "    page Heron",
        "      paragraph A [[Tern]] of its own. [[../Log]]",
        "    page Tern",
        "      paragraph Tern.",
        "  page Harbour",
        "    paragraph See [[start]] and [log](Log.md).",
        "  page Home",
        "    paragraph Go to [[Harbour|the harbour]], [[Log#Day two]], [[Log#^calm]], [[boats/heron]] and [[Tern]].",
        "    embed Log",
        "    image The bay",
        "    table | x |\n|---|\n| [[Harbour\\|h]] |",
        "    paragraph #deck/aft `#code` [[Nowhere]]",
        "  page Log",
        "    heading Day one",
        "    heading Day two",
        "      paragraph Calm sea.",
        "  page old",
        "    page deep",
        "      page Tern",
        "        paragraph Old tern.",
        "  page places",
        "    page Harbour",
        "      paragraph Another [[Harbour]].",
    ]
    assert [one.reason for one in result.dangling] == ["[[Nowhere]]"]
    assert result.resolved == 12
    blocks = [one for _, one in opened.blocks.tree()]
    by_text = {one.text: one for one in blocks}
    home = by_text["Home"]
    assert home.properties == {"aliases": ("Start", "Begin"), "tags": ("top", "deck/aft")}
    terns = {one.parent: one.id for one in blocks if one.text == "Tern"}
    harbours = {one.parent: one.id for one in blocks if one.text == "Harbour"}
    go = next(one for one in blocks if one.text.startswith("Go to"))
    assert go.links == (
        harbours[result.root],
        next(one.id for one in blocks if (one.type, one.text) == ("page", "Log")),
        by_text["Day two"].id,
        by_text["Calm sea."].id,
        by_text["Heron"].id,
        terns[by_text["boats"].id],
    )
    near = next(one for one in blocks if one.text.startswith("Another"))
    assert near.links == (harbours[result.root],), "what is named by its whole path goes first"
    assert home.id in by_text["See [[start]] and [log](Log.md)."].links


def test_headings_of_a_vault_link_too(opened: Quire, plain: Tree) -> None:
    pages = {"A.md": "# See [[B|that one]] and [[Nowhere]] #sea\n\nHere.\n", "B.md": "B.\n"}
    result = opened.blocks.import_pages(written(plain.root / "vault", pages), "vault", at=100)
    assert (result.resolved, [one.reason for one in result.dangling]) == (1, ["[[Nowhere]]"])
    blocks = [one for _, one in opened.blocks.tree()]
    (heading,) = [one for one in blocks if one.type == "heading"]
    (page, other) = (next(one for one in blocks if one.text == name) for name in "AB")
    assert heading.links == (other.id,)
    assert page.properties == {"tags": ("sea",)}


def test_the_heading_that_a_link_leads_to_is_no_tag(opened: Quire, plain: Tree) -> None:
    text = (
        "# Incidents\n\n- [The lead](#incident-lead)\n- [Levels](process.md#severity) (#ops)\n\n"
        '<a href="#playbooks">Playbooks</a> and [alerts][1], #sea.\n\n[1]: #alerts\n'
    )
    folder = written(plain.root / "vault", {"Incidents.md": text})
    opened.blocks.import_pages(folder, "vault", at=100)
    (page,) = [
        one for _, one in opened.blocks.tree() if one.text == "Incidents" and one.type == "page"
    ]
    assert page.properties == {"tags": ("ops", "sea")}


A, B, C, D, E = ("0123456789abcdef0123456789abcde" + end for end in "01234")
NOTION = {
    f"Team {A}.md": f"# Team\n\nWelcome. [Tasks](Team%20{A}/Tasks%20{B}.csv) "
    f"[Guide](Team%20{A}/Guide%20{E}.md) [web](https://www.notion.so/Guide-{E}?pvs=4)\n",
    f"Team {A}/Guide {E}.md": "# Guide\n\n- [ ] Read\n",
    f"Team {A}/Tasks {B}.csv": "Name,Status\nWrite,Done\n",
    f"Team {A}/Tasks {B}_all.csv": "\ufeffName,Status,Due,Needs\n"
    f'Write,Done,"March 3, 2026",Plan (Tasks%20{B}/Plan%20{D}.md)\n'
    "Plan,Open,,\n"
    '"Ship, at last",Open,,"Write (Tasks%20'
    + B
    + "/Write%20"
    + C
    + ".md), Plan (https://www.notion.so/Plan-"
    + D
    + ')"\n'
    "Ship again,Open,,\n",
    f"Team {A}/Tasks {B}/Write {C}.md": "# Write\n\nStatus: Done\nDue: March 3, 2026\n\nThe text.\n",
    f"Team {A}/Tasks {B}/Plan {D}.md": "# Plan\n\nStatus: Open\n\n## Steps\n\nNote: this stays.\n",
}


def test_a_notion_export(opened: Quire, plain: Tree) -> None:
    folder = written(plain.root / "Export", NOTION)
    result = opened.blocks.import_pages(folder, "notion", at=100)
    blocks = [one for _, one in opened.blocks.tree()]
    assert tree_of(opened)[3:] == [
        "    page Guide",
        "      todo Read",
        "    db Tasks",
        "      db_row Write",
        "        paragraph The text.",
        "      db_row Plan",
        "        heading Steps",
        "          paragraph Note: this stays.",
        "      db_row Ship, at last",
        "      db_row Ship again",
    ]
    by_text = {one.text: one for one in blocks}
    assert by_text["Write"].properties == {
        "Status": "Done",
        "Due": "March 3, 2026",
        "Needs": "Plan",
    }
    assert by_text["Write"].relations == {"Needs": (by_text["Plan"].id,)}
    assert by_text["Ship, at last"].relations == {
        "Needs": (by_text["Write"].id, by_text["Plan"].id)
    }
    assert blocks[2].links == (by_text["Tasks"].id, by_text["Guide"].id)
    assert (result.dangling, result.skipped) == ((), ())
    assert ("Write", "relation:Needs", "Plan") in linked(opened)
    before = opened.status().roots
    assert counts(opened.blocks.import_pages(folder, "notion", at=200)) == (0, 0, len(blocks), 0)
    assert opened.status().roots == before
    renamed = folder / f"Team {A}/Tasks {B}/Renamed {C}.md"
    (folder / f"Team {A}/Tasks {B}/Write {C}.md").rename(renamed)
    opened.blocks.import_pages(folder, "notion", at=300)
    assert by_text["Write"].id in {one.id for _, one in opened.blocks.tree()}, "known by its id"


def test_a_table_that_is_none_is_told(opened: Quire, plain: Tree) -> None:
    files = {f"A {A}.md": "# A\n", f"B {B}.csv": '"Name\nx,y\n', f"C {C}.csv": ""}
    result = opened.blocks.import_pages(written(plain.root / "Export", files), "notion", at=1)
    assert [one.path for one in result.skipped] == [f"B {B}.csv", f"C {C}.csv"]
    assert all("not a readable table" in one.reason for one in result.skipped)


def test_headers_of_proposals(opened: Quire, plain: Tree) -> None:
    header = "PEP: {0}\nTitle: {1}\nStatus: {2}\n{3}\n\nIntro\n=====\n\nText, see :pep:`7`.\n"
    files = {
        "pep-0005.rst": header.format(5, "Old way", "Superseded", "Superseded-By: 387, 7\n"),
        "pep-0387.rst": header.format(387, "New way", "Active", "Replaces: 291\n"),
        "pep-0291.rst": header.format(291, "Older", "Final", ""),
        "pep-0007.rst": header.format(7, "Style", "Active", ""),
    }
    result = opened.blocks.import_pages(written(plain.root / "peps", files), "markdown", at=1)
    ties = {one for one in linked(opened) if one[1] == "supersedes"}
    assert ties == {
        ("New way", "supersedes", "Old way"),
        ("New way", "supersedes", "Older"),
        ("Style", "supersedes", "Old way"),
    }
    assert result.resolved == 3
    old = next(one for _, one in opened.blocks.tree() if one.text == "Old way")
    assert old.properties["superseded_by"] == "387, 7"
