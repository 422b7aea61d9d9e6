"""Is a write whole or absent, at whatever moment the process dies?"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from quire import Quire
from quire.core.types import OWNER, Roots, SearchResult

from .child import Cheap
from .conftest import kills

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree
    from tests.crash.conftest import Executioner

KILLS = kills(100, 0.35)
WORDS = ("tide", "rope", "mast", "sail", "keel", "buoy", "gull", "reef", "wave", "wind", "fog")


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randrange(5, 40))).capitalize() + ".\n"


def text(rng: random.Random) -> str:
    return "".join(f"# {word}\n\n{sentence(rng)}\n" for word in rng.sample(WORDS, 3))


class Garden:
    """A tree that keeps changing, and what a store of it must hold."""

    def __init__(self, tree: Tree, rng: random.Random) -> None:
        self.tree = tree
        self._rng = rng
        self.now: dict[str, str] = {}
        self._versions: dict[str, list[str]] = {}
        """All texts that a path has had; no path is ever used for another file."""
        self._kept: dict[str, int] = {}
        """The version of each file that was acknowledged last."""
        for _ in range(16):
            self._add(text(rng))

    def _add(self, content: str) -> None:
        number = len(self._versions)
        self._set(f"part{number % 3}/note{number}.md", content)

    def _set(self, path: str, content: str) -> None:
        self.now[path] = content
        self._versions.setdefault(path, []).append(content)
        self.tree.write(path, content)

    def change(self) -> None:
        """Edit, add, rename and delete some files."""
        for path in self._rng.sample(sorted(self.now), 5):
            self._set(path, text(self._rng))
        for _ in range(self._rng.randrange(3)):
            self._add(text(self._rng))
        for path in self._rng.sample(sorted(self.now), 2):
            content = self.now.pop(path)
            self.tree.remove(path)
            if self._rng.random() < 0.5:
                self._add(content)

    def acknowledge(self, paths: Iterable[str]) -> None:
        """Take it that these files, as they are now, were written for good."""
        self._kept |= {path: len(self._versions[path]) - 1 for path in paths}

    def check(self, held: dict[str, str]) -> None:
        """Compare with what a store holds: no file is older than acknowledged, none is in part."""
        for path, version in self._kept.items():
            if path in self.now:
                assert held.get(path) in self._versions[path][version:], path
        for path, content in held.items():
            assert content in self._versions[path], path


def roots(tree: Tree, *, embed: bool) -> Roots:
    """Index to the end, in this process, and give the roots."""
    with tree.open() as opened:
        opened._project._embedder = Cheap()
        opened.index(embed=embed)
        assert opened.store.check() == []
        return opened.status().roots


def undisturbed(garden: Garden, plant: Forest, number: int, *, embed: bool) -> Roots:
    """Give the roots of a run over the same files that nothing ever disturbed."""
    return roots(plant(f"undisturbed{number}", garden.now), embed=embed)


def held(tree: Tree) -> dict[str, str]:
    """Open a store after a kill, check it, and give what it holds."""
    with tree.open() as opened:
        assert opened.store.check() == []
        with opened.store.view(OWNER) as view:
            return {
                record.path: "".join(chunk.text for chunk in view.chunks_of(record.id))
                for record in view.listing()
            }


def after(number: int, *, only: str = "") -> Callable[[int, str], bool]:
    """Kill when so many events have been told, and this one is told."""
    return lambda count, event: count >= number and only in {"", event}


def test_a_hundred_kills_while_indexing(plant: Forest, executioner: Executioner) -> None:
    """Half of them and more inside a transaction; nothing acknowledged is ever lost."""
    rng = random.Random(20260101)
    killed = inside = resumed = 0
    garden = Garden(plant("life0"), rng)
    while killed < KILLS or inside < KILLS // 2:
        # Every other kill aims at the moment in which the file itself is written.
        only = rng.choice(("", "commit"))
        aim = after(rng.randrange(1, 30), only=only)
        delay = rng.uniform(0, 0.002) * (rng.random() < 0.5 or bool(only))
        job = {"do": "index", "root": str(garden.tree.root)}
        life = executioner.run(job, aim, delay)
        assert life.killed or life.code == 0
        garden.acknowledge(life.kept)
        if life.killed:
            killed += 1
            inside += life.inside
        garden.check(held(garden.tree))
        if killed % 10 == 9 or not life.killed:
            resumed += 1
            again = roots(garden.tree, embed=False)
            assert again == undisturbed(garden, plant, resumed, embed=False)
            assert held(garden.tree) == garden.now
            garden.acknowledge(garden.now)
        if killed % 25 == 24:
            garden = Garden(plant(f"life{killed}"), rng)
        else:
            garden.change()
    assert roots(garden.tree, embed=False) == undisturbed(garden, plant, 0, embed=False)
    assert killed < 2 * KILLS, "a kill is rarely outside of a transaction"
    assert resumed >= 5


def test_kills_while_embedding(plant: Forest, executioner: Executioner) -> None:
    rng = random.Random(20260102)
    garden = Garden(plant("life"), rng)
    base = roots(garden.tree, embed=False)
    killed = inside = ends = 0
    seen: set[int] = set()
    while killed < kills(15, 0.05):
        # Each transaction of the vectors is an enter, a commit and a leave; the text is there.
        number = rng.randrange(4, 50)
        delay = rng.choice((0.0, rng.uniform(0, 0.002)))
        job = {"do": "index", "root": str(garden.tree.root), "embed": True, "batch": 1}
        life = executioner.run(job, after(number), delay)
        assert life.killed or life.code == 0
        killed += life.killed
        inside += life.killed and life.inside
        with garden.tree.open() as opened:
            assert opened.store.check() == []
            status = opened.status()
            assert status.roots.content == base.content
            assert status.vectors + status.missing_vectors == status.chunks
            seen.add(status.missing_vectors)
        if not status.missing_vectors:
            ends += 1
            assert status.roots == undisturbed(garden, plant, ends, embed=True)
            with garden.tree.open() as opened, opened.store.write() as writer:
                writer.drop_vectors()
    assert len(seen) >= 5, "kills at many different places"
    assert inside >= 3
    assert roots(garden.tree, embed=True) == undisturbed(garden, plant, -1, embed=True)


def answers(opened: Quire) -> list[SearchResult]:
    return [opened.search(query, k=20) for query in ("tide rope", "mast", "fog keel gull wave")]


def prepare(plant: Forest, rng: random.Random) -> tuple[Tree, Path]:
    """Make a store of many small writes with vectors, and keep a copy of its file."""
    garden = Garden(plant("base"), rng)
    for _ in range(6):
        roots(garden.tree, embed=True)
        garden.change()
    roots(garden.tree, embed=True)
    copy = garden.tree.root / ".quire" / "copy.db"
    shutil.copy(garden.tree.store, copy)
    return garden.tree, copy


def restore(tree: Tree, copy: Path) -> None:
    for file in tree.store.parent.glob("store.db*"):
        file.unlink()
    shutil.copy(copy, tree.store)


def duration(executioner: Executioner, job: dict[str, object]) -> float:
    """Measure how long a job takes from its beginning to its end."""
    import time

    moments: list[float] = []

    def note(_: int, event: str) -> bool:
        moments.append(time.perf_counter())
        return False

    assert executioner.run(job, note).code == 0
    return moments[-1] - moments[0]


def test_kills_while_merging(plant: Forest, executioner: Executioner) -> None:
    rng = random.Random(20260103)
    tree, copy = prepare(plant, rng)
    with tree.open() as opened:
        opened._project._embedder = Cheap()
        expected = (opened.status().roots, answers(opened))
    job: dict[str, object] = {"do": "merge", "root": str(tree.root)}
    longest = duration(executioner, job)
    killed = 0
    while killed < kills(10, 0.04):
        restore(tree, copy)
        life = executioner.run(job, lambda _, event: event == "begin", rng.uniform(0, longest))
        killed += life.killed
        longest *= 1 if life.killed else 0.9
        with tree.open() as opened:
            opened._project._embedder = Cheap()
            assert opened.store.check() == []
            assert (opened.status().roots, answers(opened)) == expected
            opened.store.merge()
            assert (opened.status().roots, answers(opened)) == expected


def test_kills_while_purging(plant: Forest, executioner: Executioner) -> None:
    rng = random.Random(20260104)
    tree, copy = prepare(plant, rng)
    secret = "xyzzyplugh"
    tree.write("secret/one.md", f"# Keep\n\nThe word is {secret}, and nobody may know.\n")
    tree.write("secret/two.md", f"# Keep\n\nAgain {secret}.\n\n{'It is long. ' * 400}\n")
    without = roots_after_removal(tree, copy)
    roots(tree, embed=True)
    shutil.copy(tree.store, copy)
    with tree.open() as opened:
        whole = opened.status().roots
    job: dict[str, object] = {"do": "purge", "root": str(tree.root), "paths": ["secret"]}
    longest = duration(executioner, job)
    killed = 0
    while killed < kills(15, 0.05):
        restore(tree, copy)
        life = executioner.run(job, lambda _, event: event == "begin", rng.uniform(0, longest))
        killed += life.killed
        longest *= 1 if life.killed else 0.9
        with tree.open() as opened:
            assert opened.store.check() == []
            state = opened.status().roots
            assert state in {whole, without}, "wholly there, or wholly gone"
            opened.purge([tree.root / "secret"])
            assert opened.status().roots == without
            for file in tree.store.parent.glob("store.db*"):
                assert secret.encode() not in file.read_bytes(), file
            assert opened.store.check() == []


def roots_after_removal(tree: Tree, copy: Path) -> Roots:
    """Give the roots of the store without the files that are to be purged."""
    restore(tree, copy)
    with tree.open() as opened:
        return opened.status().roots
