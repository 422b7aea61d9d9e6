"""A store that may be read but not written is read, and says so where something must be written."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire.core.types import OWNER
from quire.errors import StoreError
from quire.store import open_store
from quire.system import platform
from tests.conftest import Tree
from tests.unprivileged import as_other_user

QUERY = "quorum votes"
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def shared() -> Iterator[Tree]:
    """An indexed project where other users can look at it."""
    folder = Path(tempfile.mkdtemp(prefix="quire-read-only-"))
    folder.chmod(0o755)
    tree = Tree(folder / "project")
    tree.fill({"plan.md": "# Plan\n\nThe quorum needs three votes.\n"})
    tree.index()
    yield tree
    for place in (tree.store.parent, tree.store):
        place.chmod(0o700)
    shutil.rmtree(folder)


def protect(tree: Tree) -> None:
    tree.store.chmod(0o444)
    tree.store.parent.chmod(0o555)


def read(tree: Tree) -> tuple[list[str], str, bool]:
    with quire.open(tree.root, create=False) as opened:
        found = [hit.chunk.path for hit in opened.search(QUERY).results]
        context = opened.assemble(QUERY)
        return found, context.text, bool(opened.verify(dict(context.receipt)).binds)


def test_a_store_that_cannot_be_written_is_read(shared: Tree) -> None:
    before = read(shared)
    protect(shared)
    assert as_other_user(lambda: read(shared)) == before
    assert before[0] == ["plan.md"]
    assert before[2]
    files = sorted(file.name for file in shared.store.parent.iterdir())
    assert files == [".gitignore", "store.db"]


def test_what_must_write_says_why_it_cannot(shared: Tree) -> None:
    def write() -> str:
        with quire.open(shared.root, create=False) as opened:
            try:
                opened.memories.add("The quorum is three.", at=1)
            except StoreError as error:
                return str(error)
            return "written"

    write()  # imports what it needs
    protect(shared)
    assert "cannot be written; check its permissions" in as_other_user(write)


def test_access_rules_that_cannot_be_applied_are_not_passed_over(shared: Tree) -> None:
    def look() -> str:
        try:
            return str(read(shared))
        except StoreError as error:
            return str(error)

    look()
    protect(shared)
    (shared.root / "quire.toml").write_text('[access]\n"plan.md" = ["ann"]\n')
    assert "cannot be written" in as_other_user(look)


def test_an_open_reader_sees_what_others_write(
    shared: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(platform, "is_writable", lambda _: False)
        reader = open_store(shared.store, create=False)
    with reader.view(OWNER) as view:
        before = view.status()
    shared.fill({"more.md": "# More\n\nAnother quorum.\n"})
    shared.index()
    with reader.view(OWNER) as view:
        assert view.status().records == before.records + 1
    reader.close()


def test_a_store_of_an_older_format_is_not_upgraded_by_a_reader(
    shared: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quire.store.sqlite import schema

    monkeypatch.setattr(platform, "is_writable", lambda _: False)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "SELECT 1"))
    with pytest.raises(StoreError, match="an older Quire wrote this store"):
        open_store(shared.store, create=False)
