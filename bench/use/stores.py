"""How a project becomes a store: its checkout is copied and indexed as a user would do it.

Checkouts stay in BENCH_CACHE, stores under a name that changes with the code that makes them.
Vectors are kept by their text (`bench.evidence.stores`).
"""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import quire
from bench import cache
from bench.evidence import stores as evidence
from bench.use.questions import HOME

HISTORY = 150
"""How many commits are indexed."""
MADE_BY = (*evidence.MADE_BY, "indexing/git_history.py")


def checkout(name: str, mirrors: Path | None) -> Path:
    """Return the checkout of a project; it is cloned when it is not there.

    `mirrors` is a folder of clones by their names, used in place of the network.
    """
    project = tomllib.loads((HOME / "projects.toml").read_text("utf-8"))[name]
    folder = cache.folder() / "use" / f"{name}-{project['commit'][:12]}"
    if not (folder / ".git").exists():
        source = project["url"] if mirrors is None else str((mirrors / name).resolve())
        _git("clone", "--quiet", "--no-checkout", source, str(folder))
        _git("-C", str(folder), "checkout", "--quiet", project["commit"])
    return folder


@contextmanager
def opened(name: str, coverage: int, mirrors: Path | None) -> Iterator[tuple[Any, Path]]:
    """Open the store of a project with vectors for so many percent of its texts."""
    source = checkout(name, mirrors)
    folder = source.parent / f"{source.name}-{evidence.code_name(MADE_BY)}-{coverage}"
    done = folder.with_suffix(".done")
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder, symlinks=True)
        (folder / ".quire").mkdir(exist_ok=True)  # the root, whatever is above
    with quire.open(folder) as store:
        if not done.exists():
            store.index(embed=False, history=HISTORY)
            if coverage:
                evidence.embed_missing(store, coverage)
            done.touch()
        yield store, folder


def _git(*arguments: str) -> None:
    command: Sequence[str] = ("git", *arguments)
    subprocess.run(command, check=True)
