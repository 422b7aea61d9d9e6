"""Compare the bytes that two checkouts answer: `python -m bench.same_bytes OLD [NEW]`.

Both index the same folder, a commit of this project without its tests, and answer the same several
hundred requests (`bench.answers`): all recipes and formats, several budgets, viewers and options.
Contexts, receipts with all their parts, decisions, searches and roots have to be the same. The
command exits with 1 if one is not, and names the files to compare.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent.parent
CORPUS = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "docs",
    "examples",
    "src/quire/packing",
    "src/quire/pipeline",
    "src/quire/ranking",
    "src/quire/receipts",
)
SHOWN = 20


def main() -> None:
    """Compare, and print what differs."""
    given = _arguments()
    folder = given.keep or Path(tempfile.mkdtemp(prefix="quire-same-bytes-"))
    answered = {}
    for name, checkout in (("old", given.old), ("new", given.new)):
        out = folder / name
        seconds = answer(checkout, folder / f"{name}-corpus", out, given.commit, few=given.few)
        answered[name] = out
        print(f"{name}: {len(list(out.iterdir()))} answers of {checkout} in {seconds:.0f} s of CPU")
    found = differences(answered["old"], answered["new"])
    if not found:
        print("all answers are the same, to the byte")
        return
    print(f"{len(found)} answers differ, or are missing on one side:")
    for name in found[:SHOWN]:
        print(f"  diff '{answered['old'] / name}' '{answered['new'] / name}'")
    sys.exit(1)


def answer(checkout: Path, corpus: Path, out: Path, commit: str, *, few: int | None) -> float:
    """Answer all requests with the sources of a checkout; return the CPU seconds."""
    write_corpus(commit, corpus)
    command = [sys.executable, "-P", str(HERE / "bench" / "answers.py"), str(corpus), str(out)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout.absolute() / "src"),
        "PYTHONHASHSEED": str(len(out.name)),  # no order may depend on it
    }
    before = _children()
    subprocess.run([*command, *([] if few is None else [str(few)])], env=environment, check=True)
    return _children() - before


def write_corpus(commit: str, folder: Path) -> None:
    """Write the files of a commit, with its time."""
    folder.mkdir(parents=True)
    packed = subprocess.run(
        ["git", "archive", commit, "--", *CORPUS], cwd=HERE, capture_output=True, check=True
    )
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)


def differences(old: Path, new: Path) -> list[str]:
    """Name the answers that are not the same in two folders."""
    names = {path.name for folder in (old, new) for path in folder.iterdir()}
    return sorted(name for name in names if _bytes(old / name) != _bytes(new / name))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _children() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.same_bytes", description=__doc__)
    parser.add_argument("old", type=Path, help="a checkout, as `git worktree add` makes one")
    parser.add_argument("new", type=Path, nargs="?", default=HERE, help="another; this one")
    parser.add_argument("--commit", default="HEAD", help="which commit is indexed (HEAD)")
    parser.add_argument("--few", type=int, help="only so many answers")
    parser.add_argument("--keep", type=Path, help="a new folder that keeps the answers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
