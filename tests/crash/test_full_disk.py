"""Is a full disk told clearly, and is nothing lost by it?"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quire
from quire.core.types import OWNER

if TYPE_CHECKING:
    from tests.conftest import Tree

SMALL, LARGE = 3, 80
"""Megabytes."""

Resize = Callable[[int], None]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Resize]]:
    """A small disk of its own, and a way to enlarge it."""
    place = tmp_path / "disk"
    place.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}m", "quire-test", str(place)]
    try:
        mounted = subprocess.run(options, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if mounted.returncode:
        pytest.skip(f"a disk may not be mounted here: {mounted.stderr.strip()}")

    def resize(size: int) -> None:
        command = ["mount", "-o", f"remount,size={size}m", str(place)]
        subprocess.run(command, check=True, capture_output=True)

    yield place, resize
    subprocess.run(["umount", str(place)], check=True, capture_output=True)


def test_a_full_disk_is_told_and_loses_nothing(tree: Tree, disk: tuple[Path, Resize]) -> None:
    place, resize = disk
    rng = random.Random(20260105)
    words = [f"{rng.getrandbits(40):x}" for _ in range(20_000)]
    files = {
        f"note{n:03}.md": f"# Note {n}\n\n" + " ".join(rng.choices(words, k=3000)) + "\n"
        for n in range(60)
    }
    first = dict(list(files.items())[:10])
    tree.fill(first)
    store = ("--store", str(place / "store.db"))
    assert tree.run("index", "--no-embed", *store).returncode == 0

    tree.fill(files)
    for _ in range(2):
        full = tree.run("index", "--no-embed", *store)
        assert full.returncode == 1
        assert full.stdout == ""
        assert full.stderr.count("\n") == 1, full.stderr
        assert "the disk is full" in full.stderr
        assert "free some space and run the same command again" in full.stderr

        with quire.open(tree.root, store=place / "store.db") as opened:
            assert opened.store.check() == []
            with opened.store.view(OWNER) as view:
                held = {
                    record.path: "".join(chunk.text for chunk in view.chunks_of(record.id))
                    for record in view.listing()
                }
            assert first.keys() <= held.keys() < files.keys()
            assert held == {path: files[path] for path in held}
            assert opened.search(files["note003.md"][10:60]).results[0].chunk.path == "note003.md"

    resize(LARGE)
    done = tree.run("index", "--no-embed", *store)
    assert done.returncode == 0, done.stderr
    assert f"{len(files) - len(held)} indexed, {len(held)} unchanged" in done.stdout
    tree.index()
    assert tree.content_root() in tree.run("status", "--json", *store).stdout


def test_a_disk_without_any_room(tree: Tree, disk: tuple[Path, Resize]) -> None:
    """Not even an empty store fits: that is told in the same words."""
    place, _ = disk
    (place / "filler").write_bytes(bytes(SMALL * 1024 * 1024))
    tree.write("note.md", "one")
    full = tree.run("index", "--no-embed", "--store", str(place / "store.db"))
    assert full.returncode == 1
    assert full.stderr.count("\n") == 1, full.stderr
    assert "the disk is full" in full.stderr

    (place / "filler").unlink()
    done = tree.run("index", "--no-embed", "--store", str(place / "store.db"))
    assert done.returncode == 0, done.stderr
