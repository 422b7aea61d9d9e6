"""Only what changed is read again, and what is gone is removed."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from quire.indexing import files

from .conftest import SENTENCE, THREE

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree
    from tests.engine.conftest import Watched


def test_a_new_tree_is_indexed_whole(tree: Tree) -> None:
    tree.fill(THREE)

    result = tree.index()

    assert (result.indexed, result.unchanged, result.removed) == (3, 0, 0)
    assert result.skipped == ()
    assert tree.texts() == THREE
    assert tree.found("bollard") == ["docs/guide.md"]
    with tree.open() as opened:
        status = opened.status()
    assert (status.records, status.chunks) == (3, result.chunks)
    assert status.roots.state == result.state_root
    assert result.missing_vectors == result.chunks


def test_only_what_changed_is_read_again(tree: Tree, reads: list[str]) -> None:
    tree.fill(THREE)
    tree.index()
    reads.clear()
    tree.write("docs/guide.md", "# Guide\n\nLoosen the rope from the cleat.\n")
    tree.write("docs/new.md", "# New\n\nA pilot comes aboard.\n")

    result = tree.index()

    assert (result.indexed, result.unchanged, result.removed) == (2, 2, 0)
    assert set(reads) == {"docs/guide.md", "docs/new.md"}
    assert tree.found("bollard") == []
    assert tree.found("cleat") == ["docs/guide.md"]
    assert tree.found("pilot") == ["docs/new.md"]


def test_an_unchanged_tree_is_not_read_at_all(tree: Tree, reads: list[str]) -> None:
    tree.fill({f"part{n % 7}/note{n}.md": f"# Note {n}\n\n{SENTENCE}\n" for n in range(400)})
    first = tree.index()
    reads.clear()

    second = tree.index()

    assert (second.indexed, second.unchanged, second.removed) == (0, 400, 0)
    assert reads == []
    assert second.state_root == first.state_root


def test_a_removed_file_leaves_nothing_behind(tree: Tree) -> None:
    tree.fill(THREE)
    tree.index()
    tree.remove("docs/guide.md")

    result = tree.index()

    assert (result.unchanged, result.removed) == (2, 1)
    assert tree.paths() == ["readme.md", "src/crane.py"]
    assert tree.found("bollard") == []


@pytest.mark.model
def test_a_renamed_file_is_not_embedded_again(tree: Tree, model: Watched) -> None:
    tree.fill(THREE)
    assert tree.index(embed=True).vectors == 3
    (tree.root / "docs/guide.md").rename(tree.root / "docs/manual.md")
    (tree.root / "src").rename(tree.root / "lib")
    model.texts.clear()

    result = tree.index(embed=True)

    assert (result.indexed, result.removed) == (2, 2)
    assert result.vectors == 0
    assert result.missing_vectors == 0
    assert model.texts == []
    assert tree.paths() == ["docs/manual.md", "lib/crane.py", "readme.md"]


@pytest.mark.model
def test_only_changed_text_is_embedded_again(tree: Tree, model: Watched) -> None:
    tree.fill(THREE)
    tree.index(embed=True)
    model.texts.clear()
    tree.write("readme.md", "# Harbour\n\nNo ship is here by day.\n")

    result = tree.index(embed=True)

    assert result.vectors == 1
    assert len(model.texts) == 1
    assert "No ship is here by day." in model.texts[0]


def test_a_sub_path_never_removes_the_rest(tree: Tree) -> None:
    tree.fill(THREE)
    tree.index()
    tree.write("docs/new.md", "# New\n\nA pilot comes aboard.\n")
    tree.remove("docs/guide.md")
    tree.remove("src/crane.py")

    result = tree.index("docs")

    assert (result.indexed, result.unchanged, result.removed) == (1, 0, 1)
    assert tree.paths() == ["docs/new.md", "readme.md", "src/crane.py"]


def test_a_sub_path_may_be_one_file(tree: Tree, reads: list[str]) -> None:
    tree.fill(THREE)

    result = tree.index("docs/guide.md")

    assert result.indexed == 1
    assert reads == ["docs/guide.md"]
    assert tree.paths() == ["docs/guide.md"]


def test_a_sub_path_is_no_prefix_of_names(tree: Tree) -> None:
    tree.fill({"doc/a.md": "one", "docs/b.md": "two", "doc.md": "three"})
    tree.index()
    for path in ("doc/a.md", "docs/b.md", "doc.md"):
        tree.remove(path)

    assert tree.index("doc").removed == 1
    assert tree.paths() == ["doc.md", "docs/b.md"]


def test_several_sub_paths_at_once_even_one_inside_another(tree: Tree) -> None:
    tree.fill(THREE)

    result = tree.index("src", "docs", "docs/guide.md")

    assert result.indexed == 2
    assert tree.paths() == ["docs/guide.md", "src/crane.py"]


def test_the_sub_path_of_a_removed_folder_is_refused_and_its_parent_takes_it_out(
    tree: Tree,
) -> None:
    from quire.errors import InputError

    tree.fill({**THREE, "docs/old/one.md": "anchor", "docs/old/two.md": "winch"})
    tree.index()
    tree.remove("docs/old")

    with pytest.raises(InputError, match="does not exist"):
        tree.index("docs/old")
    assert tree.index("docs").removed == 2
    assert tree.paths() == ["docs/guide.md", "readme.md", "src/crane.py"]


def test_a_file_becomes_a_folder_and_back(tree: Tree, plant: Forest) -> None:
    tree.fill({"notes": "a plain file about buoys", "other.md": "here"})
    tree.index()
    before = tree.content_root()
    tree.remove("notes")
    tree.write("notes/today.md", "a note about tides")

    there = tree.index()
    assert (there.indexed, there.removed) == (1, 1)
    assert tree.paths() == ["notes/today.md", "other.md"]

    tree.remove("notes")
    tree.write("notes", "a plain file about buoys")
    back = tree.index()
    assert (back.indexed, back.removed) == (1, 1)
    assert tree.content_root() == before


def test_a_file_that_is_now_read_as_another_kind_is_there_once(tree: Tree) -> None:
    tree.write("run", "plain words about mooring\n" * 3)
    tree.index()
    tree.write("run", "#!/usr/bin/env python3\nprint('mooring')\n")

    tree.index()

    assert tree.paths() == ["run"]
    assert tree.texts()["run"].startswith("#!/usr/bin/env")


def test_a_change_within_the_same_tick_of_the_clock_is_seen(tree: Tree) -> None:
    place = tree.root / "note.md"
    place.write_text("the anchor holds")
    stamp = place.stat().st_mtime_ns
    tree.index()
    place.write_text("the anchor slips")
    os.utime(place, ns=(stamp, stamp))
    assert place.stat().st_size == len("the anchor holds")

    result = tree.index()

    assert result.indexed == 1
    assert tree.texts() == {"note.md": "the anchor slips"}


def test_a_touched_file_is_only_stamped_anew(tree: Tree, reads: list[str]) -> None:
    tree.fill(THREE)
    first = tree.index()
    os.utime(tree.root / "readme.md", (1_400_000_000, 1_400_000_000))
    reads.clear()

    second = tree.index()
    assert (second.indexed, second.unchanged) == (0, 3)
    assert second.state_root == first.state_root
    assert reads == ["readme.md"]

    reads.clear()
    tree.index()
    assert reads == []


def test_an_interrupted_first_run_is_not_begun_anew(
    tree: Tree, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BATCH_FILES", 5)
    tree.fill({f"note{n:02}.md": f"# Note {n}\n\n{SENTENCE}" for n in range(20)})

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with tree.open() as opened, pytest.raises(KeyboardInterrupt):
        opened.index(embed=False, report=interrupt)
    kept = tree.paths()
    assert kept == [f"note{n:02}.md" for n in range(5)]
    reads.clear()

    result = tree.index()

    assert (result.indexed, result.unchanged) == (15, 5)
    assert set(reads).isdisjoint(kept)


def test_a_moved_checkout_goes_on_where_it_was(tree: Tree, reads: list[str]) -> None:
    tree.fill(THREE)
    first = tree.index()
    moved = tree.root.with_name("moved")
    shutil.move(tree.root, moved)
    tree.root = moved
    reads.clear()

    second = tree.index()

    assert (second.unchanged, second.removed) == (3, 0)
    assert reads == []
    assert second.state_root == first.state_root


def test_what_is_stale_is_counted_without_changing_anything(tree: Tree) -> None:
    tree.fill(THREE)
    result = tree.index()
    with tree.open() as opened:
        assert opened.documents.stale() == {"new": 0, "changed": 0, "gone": 0}
    tree.write("readme.md", "something else")
    tree.write("new.md", "new")
    tree.write("image.png", b"\x89PNG\r\n\x1a\n")
    tree.remove("src/crane.py")
    os.utime(tree.root / "docs/guide.md", (1_400_000_000, 1_400_000_000))

    with tree.open() as opened:
        assert opened.documents.stale() == {"new": 1, "changed": 1, "gone": 1}
        assert opened.status().roots.state == result.state_root
