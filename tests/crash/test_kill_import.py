"""Is an import of pages there as a whole or not at all, at whatever moment the process dies?"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from quire.core.serialize import to_plain

from .conftest import kills
from .test_kill import after, text

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree
    from tests.crash.conftest import Executioner

KILLS = kills(24, 0.06)
SETTINGS = '[embed]\nprovider = "none"\n[ingest]\nignore = ["quire.toml"]\n'


def notes(rng: random.Random) -> dict[str, str]:
    return {
        f"notes/part{number % 3}/note{number}.md": f"[[note{rng.randrange(12)}]]\n\n{text(rng)}"
        for number in range(12)
    }


def held(tree: Tree) -> list[str]:
    """Open a store after a kill, check it, and give all blocks that it holds, without their times."""
    with tree.open() as opened:
        assert opened.store.check() == []
        return [
            str({**to_plain(one), "created": "", "edited": ""}) for one in opened.blocks.export()
        ]


def undisturbed(plant: Forest, name: str, files: dict[str, str]) -> list[str]:
    tree = plant(name, {"quire.toml": SETTINGS, **files})
    with tree.open() as opened:
        opened.blocks.import_pages(tree.root / "notes", "vault", at=1)
    return held(tree)


def test_an_import_is_whole_or_absent(plant: Forest, executioner: Executioner) -> None:
    rng = random.Random(20260102)
    tree = plant("life", {"quire.toml": SETTINGS})
    known: list[str] = []
    killed = inside = whole = number = 0
    while killed < KILLS:
        number += 1
        files = notes(rng)
        tree.fill(files)
        wanted = undisturbed(plant, f"undisturbed{number}", files)
        # Every other kill aims at the moment in which the file itself is written, or just after.
        only = ("commit", "")[number % 2]
        aim = after(rng.randrange(1, 90), only=only)
        delay = rng.uniform(0, 0.08) if only else 0
        job = {"do": "import", "root": str(tree.root), "at": number}
        life = executioner.run(job, aim, delay)
        assert life.killed or life.code == 0
        killed += life.killed
        inside += life.killed and life.inside
        found = held(tree)
        assert found in (known, wanted)
        assert found == wanted or life.killed
        whole += found == wanted
        known = found
    assert inside > KILLS // 3
    assert whole < number
    assert executioner.run(job).code == 0
    assert held(tree) == wanted
