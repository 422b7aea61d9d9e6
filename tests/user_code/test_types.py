"""User code is checked by mypy: what is right passes, and a wrong keyword is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WRONG = [
    ('q.assemble("x", budgte=4000)', 'keyword argument "budgte"'),
    ('q.assemble("x", budget="4000")', 'incompatible type "str"; expected "int"'),
    ('q.search("x", path=["docs/**"])', 'keyword argument "path"'),
    ('q.memories.add("x", categroy="fact")', '"categroy"'),
    ('q.memories.remember("x")', '"Memories" has no attribute "remember"'),
    ('q.agent.assemble_context("x", max_token=3)', 'keyword argument "max_token"'),
    ('quire.open(".", stroe="x")', 'keyword argument "stroe"'),
    ('q.search("x")[0].rank', '"Candidate" has no attribute "rank"'),
]


def check(*files: Path) -> subprocess.CompletedProcess[str]:
    """Check files as a user would, with the cache of the project's own run."""
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *map(str, files)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_common_uses_pass_a_strict_check() -> None:
    done = check(HERE / "common_uses.py")
    assert done.returncode == 0, done.stdout


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    lines = ["import quire", 'q = quire.open(".")', *(code for code, _ in WRONG)]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    done = check(file)
    assert done.returncode == 1
    for number, (code, message) in enumerate(WRONG, 3):
        found = [line for line in done.stdout.splitlines() if f"wrong.py:{number}:" in line]
        assert any("error" in line and message in line for line in found), (code, done.stdout)


@pytest.mark.parametrize("code", ["q.index(embd=False)", 'q.memories.add("x", k=1)'])
def test_python_refuses_a_wrong_keyword_too(code: str, tmp_path: Path) -> None:
    import quire

    with quire.open(tmp_path) as q, pytest.raises(TypeError, match="unexpected keyword argument"):
        eval(code, {"q": q})
