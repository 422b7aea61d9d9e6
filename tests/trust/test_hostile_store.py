"""A store that came with a project runs nothing of its own."""

from __future__ import annotations

import json
from contextlib import closing

import apsw
import pytest

from quire import AccessRule
from quire.core.types.blocks import IMPORTS
from quire.store import open_store
from quire.store.sqlite.page_checksums import CHECKED
from tests.conftest import Tree

IMPORT = {
    "source": "s",
    "folder": "",
    "format": "vault",
    "author": None,
    "secrets": False,
    "root": "ROOT",
}


def alter(tree: Tree, *statements: str) -> None:
    with closing(apsw.Connection(str(tree.store), vfs=CHECKED)) as database:
        for statement in statements:
            database.execute(statement)


def test_a_trigger_in_a_store_does_not_fire(tree: Tree) -> None:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("a.md", "# Mast\n")
    tree.index()
    with tree.open() as opened:
        opened.access.set_rules([AccessRule("hr/**", ("owner",))])
    alter(tree, "CREATE TRIGGER evil AFTER INSERT ON record BEGIN DELETE FROM rule; END")
    tree.write("hr/pay.md", "# Pay\n")
    tree.index()
    with tree.open() as opened:
        assert opened.access.rules()["command"] == (AccessRule("hr/**", ()),), "the owner alone"
    assert tree.paths() == ["a.md", "hr/pay.md"]


def test_a_view_in_the_place_of_a_table_is_refused(tree: Tree) -> None:
    """A view can compute for ever, or show other rows than those that are stored."""
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("a.md", "# Mast\n")
    tree.index()
    alter(
        tree,
        "ALTER TABLE rule RENAME TO rule_before",
        "CREATE VIEW rule AS SELECT * FROM rule_before",
    )
    done = tree.run("access", "list")
    assert done.returncode == 1
    assert "view" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "note",
    [
        "not JSON",
        "3",
        '[{"x": 1}]',
        "[" * 99_999,
        *(
            json.dumps([{**IMPORT, name: value}])
            for name, value in (("folder", 3), ("folder", "a\0b"), ("format", "x"), ("author", 1))
        ),
    ],
)
def test_imports_that_nobody_made_are_passed_over(tree: Tree, note: str) -> None:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("a.md", "# Mast\n")
    tree.index()
    with tree.open() as opened:
        noted = note.replace("ROOT", opened.documents.get("a.md").id)
    with closing(open_store(tree.store)) as store, store.write("main") as writer:
        writer.set_note(IMPORTS, noted)
    tree.index()
    with tree.open() as opened:
        assert opened.assemble("mast", budget=2000).sources
