"""Does the comparison of two checkouts see what differs?"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench import answers, same_bytes

HERE = Path(__file__).parent.parent
FEW = 3


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Copy the sources, as another checkout has them."""
    copy = tmp_path / "checkout"
    shutil.copytree(HERE / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(_: str, folder: Path) -> None:
        folder.mkdir()
        (folder / "a.md").write_text("# Receipts\n\nA budget decides what a receipt is of.\n")
        (folder / "b.py").write_text('def verify():\n    """Verify a receipt."""\n')

    monkeypatch.setattr(same_bytes, "write_corpus", write)


def compare(checkout: Path, tmp_path: Path) -> list[str]:
    for name, sources in (("old", checkout), ("new", HERE)):
        same_bytes.answer(sources, tmp_path / f"{name}-in", tmp_path / name, "HEAD", few=FEW)
    assert len(list((tmp_path / "old").iterdir())) == FEW
    return same_bytes.differences(tmp_path / "old", tmp_path / "new")


@pytest.mark.usefixtures("small")
def test_the_same_sources_answer_the_same(checkout: Path, tmp_path: Path) -> None:
    assert compare(checkout, tmp_path) == []


@pytest.mark.usefixtures("small")
def test_other_sources_are_seen(checkout: Path, tmp_path: Path) -> None:
    module = checkout / "src" / "quire" / "receipts" / "receipt.py"
    text = module.read_text()
    assert "PIPELINE = " in text
    module.write_text(text.replace("PIPELINE = ", "PIPELINE = 1 + "))
    assert len(compare(checkout, tmp_path)) == FEW


def test_a_missing_answer_differs(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "both").write_text("same")
    (tmp_path / "old" / "one").write_text("")
    assert same_bytes.differences(tmp_path / "old", tmp_path / "new") == ["one"]
    assert same_bytes.differences(tmp_path / "new", tmp_path / "old") == ["one"]


def test_each_request_has_a_name_of_its_own() -> None:
    names = [name for name, _ in answers.requests()]
    assert len(set(names)) == len(names) > 400


def test_the_command_says_what_it_takes() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "bench.same_bytes", "--help"],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--commit" in told.stdout
