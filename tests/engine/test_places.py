"""Which directory a store is about, and what never crosses from one space to another."""

from __future__ import annotations

import os
import shutil
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quire
from quire import AccessRule
from quire.errors import InputError, NoStoreError

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree
    from tests.engine.conftest import Watched

SHIPS = {"ships.md": "# Ships\n\nThe brig has two masts.\n", "crew/cook.md": "The cook sings.\n"}
TREES = {"trees.md": "# Trees\n\nThe birch has white bark.\n"}


# --- spaces ------------------------------------------------------------------------------------


@pytest.mark.model
def test_two_spaces_of_one_store_do_not_see_each_other(
    plant: Forest, tmp_path: Path, model: Watched
) -> None:
    sea, wood = plant("sea", SHIPS), plant("wood", TREES)
    both, alone = tmp_path / "both.db", tmp_path / "alone.db"
    with quire.open(sea.root, store=alone) as opened:
        expected = opened.index()
        status = opened.status()
    with quire.open(sea.root, store=both, space="sea") as opened:
        opened.index(embed=False)
    with quire.open(wood.root, store=both, space="wood") as opened:
        opened.index()
        opened.access.set_rules([AccessRule("**", ("ann",))])
        opened.access.set_groups({"foresters": ["ann"]})
        assert [record.path for record in opened.documents.list()] == ["trees.md"]
        assert opened.search("brig").results[0].chunk.path == "trees.md"

    with quire.open(sea.root, store=both, space="sea") as opened:
        assert opened.index().state_root == expected.state_root
        assert opened.status().roots == status.roots
        assert opened.access.rules() == {"config": (), "command": ()}
        assert opened.access.groups() == {"config": {}, "command": {}}
        assert opened.root() == sea.root
        assert [record.path for record in opened.documents.list(viewer="eve")] == sorted(SHIPS)
        opened.purge([sea.root / "ships.md"])
    with quire.open(wood.root, store=both, space="wood") as opened:
        assert [record.path for record in opened.documents.list()] == ["trees.md"]
        assert opened.documents.list(viewer="eve") == []
        assert opened.store.check() == []


def test_a_space_that_was_never_written_is_empty(tree: Tree) -> None:
    tree.fill(SHIPS)
    tree.index()
    with tree.open(space="elsewhere") as opened:
        assert opened.status().records == 0
        assert opened.search("brig").results == ()
        assert opened.documents.indexed_at() is None


def test_a_misspelt_space_is_refused_where_none_is_made(tree: Tree) -> None:
    tree.fill(SHIPS)
    tree.index()
    asked = (
        ("search", "brig"),
        ("status",),
        ("assemble", "brig"),
        ("why-not", "brig", "ships.md"),
        ("doctor",),
        ("purge", "ships.md"),
        ("access", "list"),
        ("access", "allow", "crew/**", "ann"),
        ("access", "group", "crew", "ann"),
        ("access", "check", "ann"),
    )
    for arguments in asked:
        done = tree.call(*arguments, "--space", "mian")
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert f"{tree.store} has no space 'mian'" in done.stderr
        assert "quire index --space" in done.stderr
    assert tree.call("index", "--no-embed", "--space", "mian").returncode == 0
    for arguments in asked[:3]:
        assert tree.call(*arguments, "--space", "mian").returncode == 0


def test_a_space_with_rules_alone_is_one(tree: Tree) -> None:
    tree.fill(SHIPS)
    tree.index()
    with tree.open(space="rules") as opened:
        opened.access.set_rules([AccessRule("**", ("ann",))])
    with tree.open(space="groups") as opened:
        opened.access.set_groups({"crew": ["ann"]})
    for space in ("rules", "groups"):
        assert tree.call("access", "list", "--space", space).returncode == 0


def test_a_receipt_is_not_checked_against_a_misspelt_space(tree: Tree) -> None:
    tree.fill(SHIPS)
    tree.index()
    receipt = str(tree.root / "r.json")
    assert tree.call("assemble", "brig", "--receipt", receipt).returncode == 0
    assert tree.call("verify", receipt).returncode == 0
    done = tree.call("verify", receipt, "--space", "mian")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("name", ["x" * 300, "two\nlines"])
def test_a_name_that_is_none_for_a_space_is_refused(tree: Tree, name: str) -> None:
    with tree.open(space=name) as opened, pytest.raises(InputError, match="not a name for a space"):
        opened.index(embed=False)


# --- directories -------------------------------------------------------------------------------


def test_the_nearest_marked_directory_above_is_the_project(tree: Tree) -> None:
    tree.fill(SHIPS)
    with quire.open(tree.root / "crew") as opened:
        assert opened.root() == tree.root
        opened.index(embed=False)
    assert tree.paths() == sorted(SHIPS)


def test_a_file_may_stand_for_its_directory(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    note = folder / "note.md"
    note.write_text("a note")
    with quire.open(note, store=tmp_path / "s.db") as opened:
        assert opened.root() == folder
        assert opened.index([note], embed=False).indexed == 1


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        quire.open(tmp_path / "typo")
    assert not (tmp_path / "typo").exists()


def test_without_a_store_nothing_is_made_unless_asked_for(tree: Tree) -> None:
    with pytest.raises(NoStoreError, match="quire index"):
        quire.open(tree.root, create=False)
    assert not tree.store.exists()


def test_a_path_outside_of_the_directory_is_refused(tree: Tree, tmp_path: Path) -> None:
    tree.fill(SHIPS)
    (tmp_path / "outside.md").write_text("outside")
    with tree.open() as opened:
        with pytest.raises(InputError, match="outside of"):
            opened.index([tmp_path / "outside.md"], embed=False)
        with pytest.raises(InputError, match="outside of"):
            opened.index([tree.root / ".." / "outside.md"], embed=False)
        with pytest.raises(InputError, match="does not exist"):
            opened.index([tree.root / "nothing.md"], embed=False)
        assert opened.status().records == 0


def test_paths_count_from_where_the_caller_stands(tree: Tree) -> None:
    tree.fill(SHIPS)
    with chdir(tree.root / "crew"), quire.open() as opened:
        assert opened.index(["cook.md"], embed=False).indexed == 1
        assert opened.index([".."], embed=False).indexed == 1


def test_a_link_to_the_directory_is_the_directory(tree: Tree, tmp_path: Path) -> None:
    tree.fill(SHIPS)
    link = tmp_path / "link"
    link.symlink_to(tree.root)
    with quire.open(link) as opened:
        assert opened.root() == tree.root
        assert opened.index([link / "crew"], embed=False).indexed == 1
        assert opened.index([link], embed=False).indexed == 1
        assert opened.index([str(link) + "/"], embed=False).unchanged == 2
    assert tree.paths() == sorted(SHIPS)


def test_a_link_inside_the_directory_is_named_not_followed(tree: Tree, tmp_path: Path) -> None:
    tree.fill(SHIPS)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "note.md").write_text("not part of it")
    (tree.root / "link").symlink_to(outside)
    result = tree.index("link")
    assert [(one.path, one.reason) for one in result.skipped] == [
        ("link", "symbolic link, not followed")
    ]
    with tree.open() as opened, pytest.raises(InputError, match="outside of"):
        opened.index([tree.root / "link" / "note.md"], embed=False)


def test_a_store_elsewhere_knows_its_directory(tree: Tree, tmp_path: Path) -> None:
    tree.fill(SHIPS)
    place, elsewhere = tmp_path / "kept" / "store.db", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "other.md").write_text("not part of it")
    with quire.open(tree.root, store=place) as opened:
        opened.index(embed=False)
    tree.write("new.md", "a sloop")
    with quire.open(elsewhere, store=place) as opened:
        assert opened.root() == tree.root
        result = opened.index(embed=False)
        assert (result.indexed, result.unchanged, result.removed) == (1, 2, 0)
        assert opened.documents.stale() == {"new": 0, "changed": 0, "gone": 0}
        with pytest.raises(InputError, match="outside of"):
            opened.index([elsewhere / "other.md"], embed=False)
    assert not (tree.root / ".quire" / "store.db").exists()


def test_a_store_whose_directory_is_gone_takes_no_other(tree: Tree, tmp_path: Path) -> None:
    tree.fill(SHIPS)
    place, elsewhere = tmp_path / "kept.db", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "other.md").write_text("The brig of another.")
    (elsewhere / "quire.toml").write_text('[access]\ndefault = "owner"\n')
    with quire.open(tree.root, store=place) as opened:
        opened.index(embed=False)
    tree.root.rename(tmp_path / "moved")
    for arguments in (("index", "--no-embed"), ("index", "--no-embed", "other.md"), ("watch",)):
        done = tree.run(*arguments, "--store", str(place), cwd=elsewhere)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert f"{tree.root}, the directory that {place} is about, does not exist" in done.stderr
    with quire.open(elsewhere, store=place) as opened:
        assert opened.root() == tree.root
        assert [one.chunk.path for one in opened.search("brig").results] == ["ships.md"]
        assert len(opened.documents.list(viewer="eve")) == 2, "the rules of elsewhere do not apply"
        with pytest.raises(InputError, match="does not exist"):
            opened.documents.stale()
        assert opened.documents.still_there(["ships.md"]) == []
        with pytest.raises(InputError, match="outside of"):
            opened.purge([elsewhere / "other.md"])
        assert opened.purge([tree.root / "crew"]) == ["crew/cook.md"]

    home = tmp_path / "moved" / ".quire" / "store.db"
    place.rename(home)
    with quire.open(tmp_path / "moved") as opened:
        result = opened.index(embed=False)
        assert (result.indexed, result.unchanged) == (1, 1), "the advice holds"


def test_a_copied_checkout_is_about_itself(tree: Tree, plant: Forest) -> None:
    tree.fill(SHIPS)
    tree.index()
    copied = tree.root.with_name("copied")
    shutil.copytree(tree.root, copied, symlinks=True)
    (copied / "ships.md").write_text("The copy has three masts.\n")
    with quire.open(copied) as opened:
        assert opened.root() == copied
        assert opened.index(embed=False).indexed == 1
        assert opened.search("three masts").results[0].chunk.path == "ships.md"
    assert tree.index().unchanged == 2


def test_two_projects_do_not_push_each_other_out_of_one_store(
    plant: Forest, tmp_path: Path
) -> None:
    shared = f'store = "{tmp_path / "shared.db"}"\n[ingest]\nignore = ["quire.toml"]\n'
    sea = plant("sea", {**SHIPS, "quire.toml": shared})
    wood = plant("wood", {**TREES, "quire.toml": shared})
    sea.trust()
    wood.trust()
    sea.index()
    with pytest.raises(InputError, match="use another store or space") as refused:
        wood.index()
    assert str(sea.root) in str(refused.value)
    assert sea.paths() == sorted(SHIPS)
    with wood.open(space="wood") as opened:
        assert opened.index(embed=False).indexed == 1
    assert sea.paths() == sorted(SHIPS)


def test_a_directory_whose_own_name_is_not_utf8_is_refused_clearly(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd.mkdir()
    (odd / "note.md").write_text("here")
    with pytest.raises(InputError, match="not UTF-8"):
        quire.open(odd)


# --- purge -------------------------------------------------------------------------------------


def test_purge_leaves_no_byte_and_says_what_is_still_on_disk(tree: Tree) -> None:
    tree.fill({**SHIPS, "crew/mate.md": "The mate whispers xyzzyplugh at night.\n"})
    tree.index()
    with tree.open() as opened:
        gone = opened.purge([tree.root / "crew"])
        assert gone == ["crew/cook.md", "crew/mate.md"]
        assert opened.documents.still_there(gone) == gone
        assert opened.purge([tree.root / "crew"]) == []
        assert opened.search("xyzzyplugh").results == ()
        for file in tree.store.parent.iterdir():
            assert b"xyzzyplugh" not in file.read_bytes(), file
            assert b"whispers" not in file.read_bytes(), file
    tree.remove("crew/mate.md")
    with tree.open() as opened:
        assert opened.documents.still_there(gone) == ["crew/cook.md"]
    assert tree.index().indexed == 1, "a purged file that is still there comes back"


def test_purge_works_for_what_is_no_longer_on_disk(tree: Tree) -> None:
    tree.fill(SHIPS)
    tree.index()
    tree.remove("crew")
    with tree.open() as opened:
        assert opened.purge([tree.root / "crew/cook.md"]) == ["crew/cook.md"]
        assert opened.purge([tree.root]) == ["ships.md"]
        assert opened.status().chunks == 0
        with pytest.raises(InputError, match="outside of"):
            opened.purge([tree.root / ".." / "x"])
