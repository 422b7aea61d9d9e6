"""Imported notes are quoted as they are on disk now, and named by their files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quire import Quire
from quire.core.types.blocks import Block
from quire.indexing import files, freshness
from tests.conftest import Tree

HERON = "---\ntags: [bird]\n---\n# Heron\n\nThe heron nests in colonies.\n\n## Food\n\nFrogs, [[Pike]].\n"
NOTES: dict[str, str | bytes] = {
    "vault/birds/Heron.md": HERON,
    "vault/Pike.md": "# Pike\n\nThe pike is a fish.\n",
    "readme.md": "# Read me\n\nAbout rivers.\n",
}
QUERY = "heron nests in colonies, winters in Spain"
ADDED = f"{HERON}\nThe heron winters in Spain.\n"
STALE = "not as on disk: vault/birds/Heron.md (changed); `quire index` reads what has changed"
FORMATS = ("markers", "json", "markdown", "plain", "xml")


@pytest.fixture
def vault(tree: Tree) -> Tree:
    tree.fill(NOTES)
    tree.index()
    assert tree.call("import", "vault", "vault").returncode == 0
    return tree


def blocks_of(opened: Quire) -> dict[str, Block]:
    return {block.id: block for _, block in opened.blocks.tree()}


# --- names -----------------------------------------------------------------------------------------


def test_sources_are_named_by_file_and_line(vault: Tree) -> None:
    with vault.open() as opened:
        context = opened.assemble(QUERY)
        assert "[DOC: vault/birds/Heron.md:6]\nThe heron nests in colonies.\n" in context.text
        assert "[DOC: vault/birds/Heron.md]\nHeron" in context.text
        assert ".quire/" not in context.text
        names = [chunk.document_name for chunk in context.chunks]
        assert names[:3] == [f"vault/birds/Heron.md{line}" for line in ("", ":4", ":6")]
        assert opened.verify(context.receipt, context.text).holds
        assert opened.search(QUERY).results[0].document == "vault/birds/Heron.md:6"
    printed = vault.call("search", "heron nests").stdout
    assert "1. vault/birds/Heron.md:6  (" in printed
    assert ".quire" not in printed
    found = json.loads(vault.call("search", "heron nests", "--json").stdout)
    assert found["results"][0]["document"] == "vault/birds/Heron.md:6"


def test_pages_name_the_file(vault: Tree) -> None:
    with vault.open() as opened:
        assert "vault/birds/Heron.md:6" in opened.assemble(QUERY, recipe="entities").text
        page = opened.assemble(QUERY, recipe="agent").text
    assert "\n`vault/birds/Heron.md`\n" in page, "once for all of its blocks"
    assert "\nLine 6\nThe heron nests in colonies.\n" in page


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_names_the_file(vault: Tree, format_: str) -> None:
    with vault.open() as opened:
        context = opened.assemble(QUERY, format=format_)
        assert "vault/birds/Heron.md" in context.text
        assert opened.verify(context.receipt, context.text).holds


def test_lines_are_those_of_the_file(vault: Tree) -> None:
    text = NOTES["vault/birds/Heron.md"]
    assert isinstance(text, str)
    with vault.open() as opened:
        blocks = [block for block in blocks_of(opened).values() if block.line]
        assert len(blocks) >= 5
        for block in blocks:
            lines = str(NOTES[block.file]).split("\n")
            assert block.text.split("\n", maxsplit=1)[0] in lines[block.line - 1]


def test_a_reader_of_one_note_is_not_told_its_folders(vault: Tree) -> None:
    with vault.open() as opened:
        blocks = blocks_of(opened).values()
        page = next(block for block in blocks if block.text == "Heron" and block.type == "page")
        folder = next(block for block in blocks if block.text == "birds")
        opened.blocks.share(folder.id, ["@keepers"], at=1)
        opened.blocks.share(page.id, ["ann"], at=1)
        context = opened.assemble(QUERY, viewer="ann")
        assert "[DOC: Heron.md:6]" in context.text
        assert "birds" not in json.dumps(context.chunks, default=str)
        assert not any(block.file for _, block in opened.blocks.tree(viewer="ann"))
        assert "birds" not in opened.search(QUERY, viewer="ann").results[0].document
        nests = next(block for block in blocks if "nests" in block.text)
        opened.blocks.share(nests.id, ["bob"], at=1)
        assert "Heron.md" not in opened.assemble(QUERY, viewer="bob").text, "nor the page"


def test_nobody_claims_a_file(vault: Tree) -> None:
    with vault.open() as opened:
        own = Block("b-mine", "paragraph", "Herons are reptiles.", file="readme.md", line=3)
        opened.blocks.put([own], viewer="ann", at=1)
        assert opened.blocks.get("b-mine", viewer="ann").file == ""


# --- before an answer ------------------------------------------------------------------------------


def test_a_note_that_changed_is_imported_again_before_it_is_quoted(vault: Tree) -> None:
    with vault.open() as opened:
        before = blocks_of(opened)
        assert "Spain" not in opened.assemble(QUERY).text
        vault.write("vault/birds/Heron.md", ADDED)
        context = opened.assemble(QUERY)
        assert "[DOC: vault/birds/Heron.md:12]\nThe heron winters in Spain." in context.text
        assert not any("not as on disk" in note for note in context.notes)
        assert opened.verify(context.receipt, context.text).holds
        assert opened.replay(context.receipt)[1] == []
        after = blocks_of(opened)
        assert {name: after[name] for name in before} == before, "what did not change stays"
        assert len(after) == len(before) + 1
        vault.write("vault/birds/Heron.md", ADDED.replace("Spain", "Portugal"))
        assert "Portugal" in opened.search("heron winters").results[0].chunk.text
    assert vault.index().indexed == 0, "nothing is left to read"


def test_notes_that_changed_beside_a_quoted_one_are_imported_later(vault: Tree) -> None:
    vault.fill(
        {
            "vault/birds/Heron.md": ADDED,
            "vault/Pike.md": "# Pike\n\nThe pike is a predator.\n",
            "vault/Carp.md": "# Carp\n\nThe carp is a grazer.\n",
        }
    )
    with vault.open() as opened:
        opened.search("heron nests in colonies", k=1)
        before = {block.text for block in blocks_of(opened).values()}
        assert "The heron winters in Spain." in before
        assert "The pike is a predator." not in before
        opened.index(embed=False)
        after = {block.text for block in blocks_of(opened).values()}
    assert {"The pike is a predator.", "The carp is a grazer."} <= after
    assert "The pike is a fish." not in after


def test_lines_that_move_are_no_edit(vault: Tree) -> None:
    with vault.open() as opened:
        times = {block.id: block.edited for block in blocks_of(opened).values()}
        vault.write("vault/birds/Heron.md", HERON.replace("# Heron\n", "\n\n# Heron\n"))
        assert "[DOC: vault/birds/Heron.md:8]\nThe heron nests" in opened.assemble(QUERY).text
        assert {block.id: block.edited for block in blocks_of(opened).values()} == times


def test_links_and_access_stay(vault: Tree) -> None:
    with vault.open() as opened:
        food = next(block for block in blocks_of(opened).values() if "Frogs" in block.text)
        opened.blocks.share(food.id, ["ann"], at=1)
        vault.write("vault/birds/Heron.md", ADDED)
        opened.assemble(QUERY)
        again = opened.blocks.get(food.id)
        assert (again.links, again.access) == (food.links, ("user:ann",))
        assert again.links


def test_a_note_that_is_gone_is_quoted_no_more(vault: Tree) -> None:
    vault.remove("vault/birds/Heron.md")
    with vault.open() as opened:
        assert "heron" not in opened.assemble(QUERY, allow_empty=True).text.lower()
        assert all(block.file != "vault/birds/Heron.md" for block in blocks_of(opened).values())


@pytest.mark.parametrize("options", [{"viewer": "bob"}, {"refresh": False}])
@pytest.mark.parametrize("recipe", ["documents", "agent"])
def test_who_may_not_write_is_told_what_is_stale(
    vault: Tree, options: dict[str, Any], recipe: str
) -> None:
    vault.write("vault/birds/Heron.md", ADDED)
    with vault.open() as opened:
        context = opened.assemble(QUERY, recipe=recipe, **options)
        assert "Spain" not in context.text
        assert "changed on disk since it was indexed" in context.text
        assert STALE in context.notes
        assert opened.verify(context.receipt, context.text, options.get("viewer")).holds
        assert STALE in opened.search("heron nests", **options).notes


def test_a_large_vault_is_called_stale(vault: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "MAX_NAMED_FILES", 1)
    vault.write("vault/birds/Heron.md", ADDED)
    with vault.open() as opened:
        assert STALE in opened.assemble(QUERY).notes


def test_what_was_edited_or_deleted_in_the_store_stays_so(vault: Tree) -> None:
    with vault.open() as opened:
        pike = next(block for block in blocks_of(opened).values() if "is a fish" in block.text)
        opened.blocks.edit(pike.id, text="The pike is a predator.", at=5)
        vault.write("vault/birds/Heron.md", ADDED)
        assert "Spain" in opened.assemble(QUERY).text
        assert opened.blocks.get(pike.id).text == "The pike is a predator."
        opened.blocks.delete(pike.id)
        vault.write("vault/birds/Heron.md", HERON)
        opened.index(embed=False)
        assert pike.id not in blocks_of(opened)


# --- index and watch -------------------------------------------------------------------------------


def test_index_imports_what_changed(vault: Tree) -> None:
    vault.write("vault/birds/Heron.md", ADDED)
    vault.write("vault/Otter.md", "# Otter\n\nThe otter swims.\n")
    vault.remove("vault/Pike.md")
    with vault.open() as opened:
        assert opened.documents.stale() == {"new": 1, "changed": 1, "gone": 1}
        result = opened.index(embed=False)
        assert (result.indexed, result.unchanged, result.removed) == (2, 1, 1)
        named = {block.file for block in blocks_of(opened).values()} - {""}
        assert named == {"vault/birds/Heron.md", "vault/Otter.md"}
        root = result.state_root
        again = opened.index(embed=False)
        assert (again.indexed, again.unchanged, again.removed) == (0, 3, 0)
        assert again.state_root == root
        assert (
            sum("winters" in hit.chunk.text for hit in opened.search("heron winters").results) == 1
        )
    assert [path for path in vault.paths() if not path.startswith(".quire/")] == ["readme.md"]


def test_index_of_one_path_leaves_others_alone(vault: Tree) -> None:
    vault.write("vault/birds/Heron.md", ADDED)
    assert vault.index("readme.md").indexed == 0
    assert vault.index("vault/Pike.md").indexed == 0
    assert vault.index("vault/birds").indexed == 1


def test_a_watch_imports_what_changed(vault: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(*_: object) -> Iterator[list[Path]]:
        yield [vault.write("vault/birds/Heron.md", ADDED)]

    monkeypatch.setattr(files, "watch_changes", change)
    with vault.open() as opened:
        results = list(opened.watch(embed=False))
        assert [getattr(result, "indexed", None) for result in results] == [0, 1]
        assert "Spain" in opened.search("heron winters", refresh=False).results[0].chunk.text


def test_reading_some_files_again_imports_them(vault: Tree) -> None:
    vault.write("vault/birds/Heron.md", ADDED)
    with vault.open() as opened:
        assert opened.documents.read_again([vault.root / "vault/birds/Heron.md"]).indexed == 1
        assert "Spain" in opened.search("heron winters", refresh=False).results[0].chunk.text


def test_the_import_of_another_viewer_stays_theirs(tree: Tree) -> None:
    tree.fill(NOTES)
    with tree.open() as opened:
        opened.blocks.import_pages(tree.root / "vault", "vault", viewer="ann", at=1)
        tree.write("vault/birds/Heron.md", ADDED)
        opened.index(embed=False)
        new = next(block for _, block in opened.blocks.tree() if "Spain" in block.text)
        assert new.author == "ann"
        assert not [block for _, block in opened.blocks.tree(viewer="bob")]


def test_a_folder_elsewhere_is_not_read_by_itself(tree: Tree, tmp_path_factory: Any) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    note = elsewhere / "Heron.md"
    note.write_text(HERON)
    tree.fill({"readme.md": "# Read me\n"})
    with tree.open() as opened:
        opened.blocks.import_pages(elsewhere, "vault", at=1)
        note.write_text(ADDED)
        assert opened.index(embed=False).unchanged == 0
        context = opened.assemble(QUERY)
        assert "Spain" not in context.text
        assert f"[DOC: {elsewhere.name}/Heron.md:6]" in context.text
