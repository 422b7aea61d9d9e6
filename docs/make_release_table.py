"""Print what a release consists of: each file with its size and SHA-256."""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path


def digest(path: Path) -> tuple[int, str]:
    """Return the size and the hash of a file, or of all files of a folder with their names."""
    if path.is_file():
        data = path.read_bytes()
        return len(data), hashlib.sha256(data).hexdigest()
    size, whole = 0, hashlib.sha256()
    for file in sorted(each for each in path.rglob("*") if each.is_file()):
        length, inner = digest(file)
        size += length
        whole.update(f"{inner}  {file.relative_to(path).as_posix()}\n".encode())
    return size, whole.hexdigest()


def table(dist: Path, site: Path) -> str:
    """Return the table in Markdown."""
    artefacts = [*sorted(file for file in dist.iterdir() if file.is_file()), site]
    rows = ["| artefact | bytes | SHA-256 |", "|---|---|---|"]
    for path in artefacts:
        size, value = digest(path)
        name = f"{path.name}/ (the list of its files)" if path.is_dir() else path.name
        rows.append(f"| {name} | {size:,} | `{value}` |")
    return "\n".join([*rows, ""])


def main() -> None:
    """Print the table of two folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path, help="folder of the packages and the bill of materials")
    parser.add_argument("site", type=Path, help="folder of the documentation site")
    given = parser.parse_args()
    sys.stdout.write(table(given.dist, given.site))


if __name__ == "__main__":
    main()
