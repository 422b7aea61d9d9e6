"""Compare the licence of each source with the licence files of its repository.

    python -m train.licences --mirror /path/to/mirrors

Prints what does not agree, and exits with 1 if anything does not: a repository that is not there,
or no file in it with the words of a licence that `sources.toml` states.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from train.git import git_directory
from train.harvest import SOURCES

MARKS: Mapping[str, str] = {
    "Apache-2.0": "apache license",
    "BSD-2-Clause": "redistribution and use in source and binary forms",
    "BSD-3-Clause": "redistribution and use in source and binary forms",
    "CC-BY-4.0": "attribution 4.0",
    "CC0-1.0": "cc0 1.0",
    "ISC": "permission to use, copy, modify",
    "MIT": "permission is hereby granted, free of charge",
    "curl": "copyright and permission notice",
}
"""Words of each licence, in small letters."""
ELSEWHERE: Mapping[str, str] = {
    "acl-org/acl-anthology": "its site says that papers of 2016 and later are CC-BY-4.0",
    "cncf/glossary": "its README says that documentation is CC-BY-4.0",
    "elifesciences/elife-article-xml": "each article states CC-BY-4.0 or CC0, or is left out",
    "the-turing-way/the-turing-way": "its LICENSE.md links CC-BY-4.0 for everything but software",
}
"""Sources whose licence does not stand in a file."""
LICENCE_FILE = re.compile(r"(mit-|un)?licen[cs]e|copying|copyright", re.IGNORECASE)


def find_licences(text: str) -> set[str]:
    """Return the licences whose words a text holds."""
    flat = " ".join(text.lower().split())
    return {name for name, words in MARKS.items() if words in flat}


def compare(name: str, stated: str, mirror: Path) -> str:
    """Return what does not agree about one repository; empty: everything does."""
    directory = git_directory(mirror, name)
    if directory is None:
        return "is not there"
    listed = _git(directory, "ls-tree", "--name-only", "HEAD").splitlines()
    found: set[str] = set()
    for file in filter(LICENCE_FILE.match, listed):
        found |= find_licences(_git(directory, "show", f"HEAD:{file}"))
    missing = set(stated.split(" OR ")) - found
    return f"{' and '.join(sorted(missing))} is stated, found {sorted(found)}" if missing else ""


def _git(directory: Path, *arguments: str) -> str:
    command = ["git", "--git-dir", str(directory), *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m train.licences", description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True, help="a folder of bare clones")
    mirror = parser.parse_args().mirror
    wrong = 0
    for source in tomllib.loads(SOURCES.read_text("utf-8"))["repository"]:
        problem = compare(source["name"], source["licence"], mirror)
        known = ELSEWHERE.get(source["name"])
        wrong += bool(problem) and known is None
        if problem:
            print(f"{source['name']}: {known or problem}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
