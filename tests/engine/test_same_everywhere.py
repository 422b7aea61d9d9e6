"""The answers are the same in every process, whatever its hash seed, threads and CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Forest

SCRIPT = """
import sys
import quire
from quire.core.serialize import json_text

root, embed = sys.argv[1], sys.argv[2] == "embed"
with quire.open(root) as opened:
    print(opened.index(embed=embed))
    print(opened.status().roots)
    for query in ("the harbour at night", "rope", "tie_rope", "Boote im Hafen", "海の船", "a b c d"):
        for viewer in (None, "ann", "eve"):
            print(json_text(opened.search(query, viewer=viewer, k=20)))
    chunk = opened.search("rope").results[0].chunk
    print(chunk, opened.documents.prove(chunk.id), opened.documents.prove(chunk.id, viewer="ann"))
"""

FILES = {
    "readme.md": "# Harbour\n\nBoats sleep in the harbour at night.\n\n## Rope\n\nTie the rope.\n",
    "src/knots.py": "def tie_rope(boat, pier):\n    return boat.rope + pier.ring\n",
    "notes/hafen.md": "# Hafen\n\nDie Boote im Hafen schlafen. Das Tau hält.\n",
    "notes/umi.md": "# 海\n\n海の船は夜に眠る。\n",
    "hr/pay.md": "# Pay\n\nThe rope maker earns three coins.\n",
    "hr/crew.md": "# Crew\n\nThe crew ties the rope and sings at night.\n",
    **{
        f"log/day{n}.txt": f"Day {n}. The harbour was {'calm' if n % 2 else 'wild'}.\n"
        for n in range(6)
    },
}
RULES = """
[ingest]
ignore = ["quire.toml"]
[access]
"hr/**" = ["@hr", "ann", "zoe"]
"log/day3.txt" = ["eve"]
[groups]
hr = ["bob", "ann"]
crew = ["zoe", "ann", "bob"]
"""


def dump(folder: Path, *, embed: bool, **environment: str) -> str:
    arguments = [sys.executable, "-c", SCRIPT, str(folder), "embed" if embed else "words"]
    done = subprocess.run(
        arguments,
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("embed", [False, pytest.param(True, marks=pytest.mark.model)])
def test_two_stores_of_the_same_tree_answer_alike(plant: Forest, embed: bool) -> None:
    environments = [{"PYTHONHASHSEED": str(seed)} for seed in range(3 if embed else 5)]
    environments[1] |= {
        "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX",
        "QUIRE_EMBED_THREADS": "1",
        "PYTHONWARNINGS": "ignore",  # on a CPU that has none of these to begin with
    }
    environments[2] |= {"QUIRE_EMBED_THREADS": "2", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    dumps = []
    for number, environment in enumerate(environments):
        tree = plant(f"place{number}")
        files = list(FILES.items())
        for path, text in files[number:] + files[:number]:
            tree.write(path, text)
        tree.write("quire.toml", RULES)
        dumps.append(dump(tree.root, embed=embed, **environment))
    assert len(dumps[0]) > 5000
    for other in dumps[1:]:
        assert other == dumps[0]
