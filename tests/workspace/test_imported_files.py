"""A note that was indexed and imported is in the store once."""

from __future__ import annotations

import pytest

from tests.conftest import Tree

NOTES: dict[str, str | bytes] = {
    "notes/Bread.md": "# Sourdough\n\nAn intro.\n\n## Hydration\n\nThe dough has a hydration of 78 "
    "percent, because the flour is strong.\n",
    "notes/sub/Garden.MD": "# Garden\n\n## Watering\n\nTomatoes get two litres each day.\n",
    "notes/plan.txt": "Hydration is planned.\n",
    "readme.md": "# Read me\n\nAbout hydration.\n",
}


@pytest.fixture
def vault(tree: Tree) -> Tree:
    tree.fill(NOTES)
    tree.index()
    return tree


def files(tree: Tree) -> list[str]:
    return [path for path in tree.paths() if not path.startswith(".quire/")]


def test_an_imported_note_is_there_once(vault: Tree) -> None:
    assert files(vault) == sorted(NOTES)
    done = vault.call("import", "vault", "notes")
    assert done.returncode == 0, done.stderr
    assert "2 files of notes are in the store as blocks now, and no longer as files" in done.stderr
    assert files(vault) == ["notes/plan.txt", "readme.md"]
    with vault.open() as opened:
        roots = opened.status().roots
        result = opened.index(embed=False)
        assert (result.indexed, result.removed) == (0, 0)
        assert opened.status().roots == roots
        text = opened.assemble("hydration of the dough").text
    assert text.count("78 percent") == 1


def test_a_note_that_is_imported_before_it_is_indexed_is_there_once(tree: Tree) -> None:
    tree.fill(NOTES)
    assert tree.call("import", "vault", "notes").returncode == 0
    tree.index()
    assert files(tree) == ["notes/plan.txt", "readme.md"]


def test_files_come_back_when_their_blocks_are_deleted(vault: Tree) -> None:
    with vault.open() as opened:
        root = opened.blocks.import_pages(vault.root / "notes", "vault", at=1).root
        opened.blocks.delete(root)
        opened.index(embed=False)
    assert files(vault) == sorted(NOTES)


@pytest.mark.parametrize("options", [{"viewer": "ann"}, {"share": ["ann"]}])
def test_files_stay_where_not_all_their_readers_may_read_the_blocks(
    vault: Tree, options: dict[str, object]
) -> None:
    with vault.open() as opened:
        opened.blocks.import_pages(vault.root / "notes", "vault", at=1, **options)  # type: ignore[arg-type]  # one option each
        opened.index(embed=False)
    assert files(vault) == sorted(NOTES)


def test_the_paragraph_that_answers_comes_before_its_heading(vault: Tree) -> None:
    assert vault.call("import", "vault", "notes").returncode == 0
    with vault.open() as opened:
        for query, answer in (("hydration", "78 percent"), ("watering tomatoes", "two litres")):
            texts = [hit.chunk.text for hit in opened.search(query).results]
            heading = query.split(maxsplit=1)[0].capitalize()
            assert heading in texts
            answers = [at for at, text in enumerate(texts) if answer in text]
            assert answers[0] < texts.index(heading)


def test_what_obsidian_keeps_for_itself_is_not_indexed(vault: Tree) -> None:
    vault.write("notes/.obsidian/plugins/x/main.js", "const hydration = 78;\n")
    vault.write("notes/.trash/Old.md", "# Old hydration\n")
    vault.write("other/.obsidian/app.json", '{"hydration": 1}\n')
    vault.index()
    assert "notes/.obsidian/plugins/x/main.js" in files(vault)
    assert vault.call("import", "vault", "notes").returncode == 0
    vault.index()
    assert files(vault) == ["notes/plan.txt", "other/.obsidian/app.json", "readme.md"]
