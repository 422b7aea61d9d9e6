"""The commands for blocks do what they report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Tree


def told(tree: Tree, *arguments: str, stdin: str = "") -> Any:
    done = tree.call(*arguments, "--json", stdin=stdin)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def filled(plain: Tree) -> Tree:
    told(plain, "block", "put", "Voyage", "--id", "voyage", "--type", "page")
    todo = ("--id", "rope", "--type", "todo", "--in", "voyage")
    told(plain, "block", "put", "Buy rope", *todo, "--set", "due=2026-02-01", "--set", "done=false")
    told(plain, "block", "put", "-", "--id", "log", "--in", "voyage", stdin="Calm sea")
    return plain


def test_put_show_and_tree(filled: Tree) -> None:
    shown = told(filled, "block", "show", "rope")
    assert shown["properties"] == {"done": False, "due": "2026-02-01"}
    assert (shown["parent"], shown["position"]) == ("voyage", 0)
    lines = filled.call("block", "tree").stdout.splitlines()
    assert lines == ["voyage  page  Voyage", "  rope  todo  Buy rope", "  log  paragraph  Calm sea"]
    plain = filled.call("block", "show", "rope").stdout
    assert "properties  done = False; due = 2026-02-01" in plain
    assert plain.endswith("| Buy rope\n")
    listed = told(filled, "block", "tree", "voyage", "--levels", "1")["blocks"]
    assert [(one["depth"], one["id"]) for one in listed] == [(0, "voyage")]
    assert filled.call("search", "rope", "--kind", "block.todo").stdout.startswith(
        "1. .quire/block/rope"
    )


def test_a_block_is_replaced_only_on_purpose(filled: Tree) -> None:
    done = filled.call("block", "put", "Another", "--id", "voyage")
    assert done.returncode == 2
    assert "block 'voyage' already exists; change it with `quire block edit`" in done.stderr
    assert told(filled, "block", "show", "voyage")["text"] == "Voyage"
    told(filled, "block", "put", "Another", "--id", "voyage", "--type", "page", "--replace")
    lines = filled.call("block", "tree").stdout.splitlines()
    assert lines[0] == "voyage  page  Another"
    assert len(lines) == 3, "what stands in it stays"


def test_edit_and_move(filled: Tree) -> None:
    edited = told(
        filled, "block", "edit", "rope", "Buy it", "--unset", "due", "--set", "who=ann",
        "--relate", "crew=a", "--relate", "crew=b", "--link", "log", "--mention", "ann",
    )  # fmt: skip
    assert edited["properties"] == {"done": False, "who": "ann"}
    assert (edited["relations"], edited["links"]) == ({"crew": ["a", "b"]}, ["log"])
    assert told(filled, "block", "move", "rope", "log")["parent"] == "log"
    assert told(filled, "block", "move", "rope", "--root")["position"] == 1
    assert filled.call("block", "move", "rope", "voyage").stdout == "moved rope\n"
    assert told(filled, "block", "show", "rope")["position"] == 2


def test_shared_and_read_by_others(filled: Tree) -> None:
    told(filled, "block", "share", "voyage", "ann", "link:t0ken")
    assert (
        "block rope does not exist"
        in filled.call("block", "show", "rope", "--viewer", "bob").stderr
    )
    assert told(filled, "block", "show", "rope", "--viewer", "ann")["access"] is None
    guest = ("--with-link", "t0ken")
    assert told(filled, "block", "show", "rope", *guest)["text"] == "Buy rope"
    assert len(told(filled, "block", "tree", *guest)["blocks"]) == 3
    assert len(told(filled, "block", "export", *guest, "--viewer", "bob")["blocks"]) == 3
    told(filled, "block", "share", "voyage", "--inherit")
    assert told(filled, "block", "show", "rope", "--viewer", "bob")["text"] == "Buy rope"


def test_deleted_and_put_back(filled: Tree) -> None:
    before = filled.call("block", "export").stdout
    assert len(before.splitlines()) == 3
    gone = filled.call("block", "delete", "voyage")
    assert gone.stdout == before
    assert "deleted 3 blocks; `quire import blocks` restores" in gone.stderr
    assert filled.call("block", "tree").stderr == "no blocks\n"
    result = told(filled, "import", "blocks", "-", stdin=gone.stdout)
    assert (result["added"], result["changed"], result["unchanged"]) == (3, 0, 0)
    assert filled.call("block", "export").stdout == before
    assert told(filled, "block", "delete", "rope")["deleted"][0]["id"] == "rope"


def test_folders_are_imported(plain: Tree) -> None:
    plain.fill({"notes/A.md": "[[B]] [[C]]\n", "notes/B.md": "Text.\n"})
    done = plain.call("import", "vault", "notes")
    assert done.returncode == 0
    assert "dangling link: [[C]] on A.md" in done.stderr
    assert done.stdout.startswith(
        "2 pages, 5 blocks (5 added, 0 changed, 0 unchanged, 0 removed); "
        "links: 1 resolved, 1 dangling; root b-"
    )
    result = told(plain, "import", "vault", "notes", "--share", "ann")
    assert (result["changed"], result["unchanged"]) == (1, 4)
    assert result["dangling"] == [{"path": "A.md", "reason": "[[C]]"}]
    assert plain.call("block", "tree", "--viewer", "bob").stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "absent"), "block absent does not exist; see `quire block tree`"),
        (("put", "x", "--type", "poem"), "type: unknown type 'poem'"),
        (("put", "x", "--set", "novalue"), "--set: expected NAME=VALUE, not 'novalue'"),
        (("put", "x", "--in", "absent"), "block absent does not exist"),
        (("edit", "rope"), "nothing to edit"),
        (("move", "rope"), "expected either a PARENT or --root"),
        (("move", "rope", "log", "--root"), "expected either a PARENT or --root"),
        (("move", "voyage", "rope"), "(voyage in rope in voyage)"),
        (("share", "rope"), "expected either PRINCIPALS or --inherit"),
        (("share", "rope", "a b"), "'a b' is not a principal"),
        (("tree", "--levels", "0"), "--levels: must be at least 1, not 0"),
        (
            ("put", "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
            "store it anyway with --allow-secret",
        ),
    ],
)
def test_mistakes_are_told(filled: Tree, arguments: tuple[str, ...], message: str) -> None:
    done = filled.call("block", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_imports_that_cannot_be(plain: Tree) -> None:
    for arguments, message in (
        (("blocks", "nothing.jsonl"), "nothing.jsonl cannot be read"),
        (("blocks", "-"), "line 1: not valid JSON"),
        (("vault", "nothing"), "is not a folder"),
        (("notion", "."), "holds no pages"),
    ):
        done = plain.call("import", *arguments, stdin="{")
        assert done.returncode == 2
        assert message in done.stderr
