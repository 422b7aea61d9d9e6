"""A store that came with a project runs nothing of its own."""

from __future__ import annotations

from contextlib import closing

import apsw

from quire import AccessRule
from quire.store.sqlite.page_checksums import CHECKED
from tests.conftest import Tree


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
    assert tree.paths() == ["a.md", "hr/pay.md", "quire.toml"]


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
